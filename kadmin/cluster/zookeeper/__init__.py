"""The cluster as ZooKeeper holds it: znode codecs, the session, and what is read through it."""
