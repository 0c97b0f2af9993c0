"""The cluster as ZooKeeper holds it: frozen values, znode codecs, and the two edges that talk to servers."""
