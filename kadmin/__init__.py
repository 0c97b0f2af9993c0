"""kadmin: reassign, elect and delete on Apache Kafka clusters whose metadata lives in ZooKeeper."""
