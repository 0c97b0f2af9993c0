"""The tables of `inspect` through the brokers."""
