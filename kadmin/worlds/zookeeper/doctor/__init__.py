"""Diagnoses a cluster in ZooKeeper mode: `diagnose` is the entry, other modules hold its rules."""
