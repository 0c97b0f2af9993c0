"""kadmin: reassign, elect and delete on Apache Kafka clusters whose metadata lives in ZooKeeper."""

__version__ = "0.1.0"
