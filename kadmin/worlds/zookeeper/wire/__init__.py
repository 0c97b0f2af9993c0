"""Reads and writes a cluster in ZooKeeper: znode codecs, the session, the reader."""
