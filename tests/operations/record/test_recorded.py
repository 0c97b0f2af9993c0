"""Values on record that kadmin 1.0.0 wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.record_topic.recorded import recorded_log, recorded_values
from support.zookeeper.recorded_znodes import KADMIN_1_0_0, recorded

from kadmin.operations.record.codec import (
    decode_listing,
    decode_record,
    decode_request,
    decode_throttle_request,
    encode_request,
    encode_throttle_request,
)
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author
from kadmin.operations.record.step_codec import decode_step, encode_step

if TYPE_CHECKING:
    from collections.abc import Mapping


def in_znodes() -> dict[str, bytes]:
    """Return the values by key: an operation's own znode is its status, and each record has a
    single chunk.
    """
    found = {}
    for path, node in recorded(KADMIN_1_0_0).items():
        if path.startswith("/kadmin/operations/") and node.data:
            key = path.removeprefix("/kadmin/").removesuffix("/000000")
            found[key if key.count("/") > 1 else f"{key}/status"] = node.data
    return found


@pytest.mark.parametrize("values", [in_znodes(), recorded_values()], ids=["znodes", "topic"])
def test_every_value_of_1_0_0_is_decoded(values: Mapping[str, bytes]) -> None:
    """Steps and requests are still written as 1.0.0 wrote them."""
    found = []
    for key, data in sorted(values.items()):
        _, operation_id, leaf, *_ = key.split("/")
        found.append(leaf)
        match leaf:
            case "status":
                assert decode_listing(operation_id, data).changes
            case "record":
                record = decode_record(data, operation_id)
                assert (len(record.origin), len(record.waves)) == (2, 2)
                assert record.throttle is not None
            case "request":
                assert encode_request(decode_request(data)) == data
            case "throttle":
                assert encode_throttle_request(decode_throttle_request(data)) == data
            case "steps":
                assert encode_step(decode_step(data)) == data
    assert {*found} == {"status", "record", "request", "throttle", "steps"}
    assert (found.count("status"), found.count("record")) == (2, 2)


def test_the_lock_that_a_killed_runner_of_1_0_0_left_is_decoded() -> None:
    lock = recorded_log().lock
    assert lock is not None
    assert lock.holder == Holder(
        Author("ann", "host-a", 25165), "20261127T205140Z-cd4d3d", "2026-11-27T20:56:00Z", 20.0
    )
