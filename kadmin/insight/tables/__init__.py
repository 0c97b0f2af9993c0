"""What `inspect` shows, as tables."""
