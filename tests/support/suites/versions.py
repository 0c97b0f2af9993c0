"""The versions of Kafka that a session runs its live tests on."""

from __future__ import annotations

import os

VERSIONS = os.environ.get("KADMIN_TEST_VERSIONS", "2.8.2").split(",")
"""In ZooKeeper mode."""
KRAFT_VERSIONS = os.environ.get("KADMIN_TEST_KRAFT", "4.4.0").split(",")
