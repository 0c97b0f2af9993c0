"""Operations on clusters whose metadata lives in ZooKeeper."""
