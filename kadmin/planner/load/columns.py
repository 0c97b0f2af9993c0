"""Files and columns that `kadmin load build` writes and a request's `spec.load.from` reads."""

from __future__ import annotations

PARTITION_LOAD = "partition_load.parquet"
BROKER_LOAD = "broker_load.parquet"
LOAD_JSON = "load.json"
HOURS = 168

CLUSTER = "cluster"
TOPIC = "topic"
PARTITION = "partition"
START = "start"
WEEKS = "weeks"
BYTES_IN = "bytes_in_per_s"
BYTES_OUT = "bytes_out_per_s"
REQUESTS = "requests_per_s"
COVERAGE = "coverage"
