"""Reads a cluster and its operations; writes nothing."""
