"""HTML pages of plans and operations: one file each, readable without a network."""
