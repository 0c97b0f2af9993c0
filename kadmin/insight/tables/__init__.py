"""The rows of `inspect` as plain values."""
