"""Finds the troubles of a cluster."""
