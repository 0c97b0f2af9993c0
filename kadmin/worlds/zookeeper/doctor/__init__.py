"""Diagnoses a cluster in ZooKeeper mode: `diagnose` is the entry, the other modules hold its rules."""
