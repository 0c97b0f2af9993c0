"""How a plan reaches the cluster: decide (pure), the loop, records, lock and fence."""
