"""Pure functions on the state of a cluster: troubles (`diagnosis`), predictions (`predict`), rows (`tables`)."""
