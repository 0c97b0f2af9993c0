"""Replication throttles."""
