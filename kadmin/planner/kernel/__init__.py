"""The planner's kernel: numpy on one cluster, pure, no Spark."""
