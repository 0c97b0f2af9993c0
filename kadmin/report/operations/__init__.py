"""Steps and progress of operations, as text and JSON."""
