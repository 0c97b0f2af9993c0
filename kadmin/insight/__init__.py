"""Pure functions on a cluster's state: troubles (`diagnosis`), predictions, rows (`tables`)."""
