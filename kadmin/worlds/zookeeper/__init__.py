"""Operations on clusters whose metadata is in ZooKeeper."""
