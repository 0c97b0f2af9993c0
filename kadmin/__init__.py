"""kadmin: reassign, elect and delete on Apache Kafka clusters through ZooKeeper and Kafka's API."""

__version__ = "1.0.0"
