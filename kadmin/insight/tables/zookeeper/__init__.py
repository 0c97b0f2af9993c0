"""Znodes as tables."""
