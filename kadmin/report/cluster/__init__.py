"""What a cluster holds, as text, CSV and JSON: snapshots and the tables of `inspect`."""
