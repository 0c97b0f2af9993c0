"""A load history, and the load of brokers that follows from it."""
