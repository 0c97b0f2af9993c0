"""Kafka brokers over their own protocol."""
