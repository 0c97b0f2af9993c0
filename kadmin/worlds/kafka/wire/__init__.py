"""Kafka brokers over their own protocol."""

from __future__ import annotations

import logging

# Errors are raised; kafka-python would print warnings of its own between the lines of a command.
logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)
logging.getLogger("kafka").propagate = False
