"""What doctor and `inspect admin` found in znodes, as text and JSON."""
