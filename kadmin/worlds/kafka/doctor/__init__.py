"""Diagnoses a cluster in KRaft mode: `diagnose` is the entry, the other modules hold its rules."""
