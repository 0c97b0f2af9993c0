"""Finds what is wrong in ZooKeeper: `diagnose` is the entry, the other modules hold its rules."""
