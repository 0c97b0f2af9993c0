"""Reads and changes clusters: frozen values, and one folder each for ZooKeeper and for brokers."""
