"""Executes recorded operations: apply, the loop, take-over."""
