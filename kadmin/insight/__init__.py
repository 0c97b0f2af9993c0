"""Pure questions on a snapshot of a cluster."""
