"""kadmin: reassign, elect and delete on Apache Kafka clusters, through ZooKeeper and through Kafka's own API."""

__version__ = "1.0.0"
