"""Finds what is wrong with a cluster."""
