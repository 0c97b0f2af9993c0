"""Repairs of znodes that stop a cluster."""
