"""Contents of a cluster as text, CSV and JSON: snapshots and the tables of `inspect`."""
