"""What operations did and how far they are, as text and JSON."""
