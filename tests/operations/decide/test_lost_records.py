"""Records that are gone at the end of an operation, by where the epoch of its beginning ends in
logs.
"""

from __future__ import annotations

from dataclasses import replace

from support.cluster.states import cluster, tp

from kadmin.operations.decide.lost_records import lost_error, lost_in_words, lost_records
from kadmin.operations.events import LostRecords
from kadmin.operations.record.record import HighWatermark

A, B = tp("a-0"), tp("b-0")
STATE = cluster({"a-0": (3, 1), "b-0": (1, 2)})
STATE = replace(
    STATE, states={each: replace(found, leader_epoch=5) for each, found in STATE.states.items()}
)
BEFORE = {A: HighWatermark(7_000, 4), B: HighWatermark(20, 4)}


def test_what_is_gone_is_named_with_its_leader() -> None:
    lost = lost_records(BEFORE, {A: 0, B: 20}, STATE)
    assert lost == (LostRecords(A, 7_000, 0, 4, 5, 3),)
    assert lost_in_words(lost) == (
        "records that were there when the operation began are gone: "
        "a-0 up to 7,000 records from offset 0 on, led by broker 3 (leader epoch 4 -> 5)"
    )
    error = lost_error(lost, "op")
    assert (error.exit_code, error.next_command) == (8, "kadmin history op")
    assert error.message.startswith("Records that were there")


def test_what_is_not_known_is_not_gone() -> None:
    """No answer, or no such partition any more."""
    assert lost_records(BEFORE, {B: 21}, STATE) == ()
    assert lost_records(BEFORE, {A: 0, B: 20}, replace(STATE, states={})) == ()
    assert lost_in_words(()) == ""
