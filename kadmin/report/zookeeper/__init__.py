"""Findings of doctor and `inspect admin` in znodes, as text and JSON."""
