"""Samples to a load history, on Spark."""
