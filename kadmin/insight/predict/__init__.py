"""Predicts the effects of a plan or of a loss of brokers."""
