"""The operation record: what is written, and how it is read again."""
