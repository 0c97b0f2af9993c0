"""Predicts what a plan or a loss of brokers would do."""
