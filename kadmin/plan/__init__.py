"""Plans as values, and every pure question about them: what changes, in which waves, and whether it is allowed."""
