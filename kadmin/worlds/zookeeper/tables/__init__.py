"""Rows of `inspect` that are read from znodes."""
