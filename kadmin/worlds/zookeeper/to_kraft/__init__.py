"""Checks of a cluster's migration to KRaft, read from both sides, and the import of its history."""
