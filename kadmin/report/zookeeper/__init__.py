"""Answers about znodes."""
