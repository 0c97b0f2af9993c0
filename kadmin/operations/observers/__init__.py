"""Observers of a run: each looks at the cluster beside the loop, and returns notes."""
