"""Proposals: one kernel, thin engines around it."""
