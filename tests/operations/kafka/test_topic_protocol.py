"""The protocol of the lock in the topic, in every order of two takers, a holder, plain writers and
the coordinator.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from support.record_topic.brokers import Brokers
from support.record_topic.explore import Limits, explore, judged, walk

from kadmin.cluster.model import TopicPartition
from kadmin.errors import NotCompletedError
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author
from kadmin.worlds.kafka.values.topic_log import CLAIM, LOCK, Ignored, TopicLog, encode_lock
from kadmin.worlds.kafka.values.topic_protocol import Add, Begin, CatchUp, Commit, take, write
from kadmin.worlds.kafka.values.topic_reader import ignored_notes
from kadmin.worlds.kafka.wire.partition_log import LogEntry
from kadmin.worlds.kafka.wire.transactions import Producer

if TYPE_CHECKING:
    from support.record_topic.explore import Explored, Program

    from kadmin.worlds.kafka.values.topic_log import TopicLock
    from kadmin.worlds.kafka.values.topic_protocol import Steps

OPERATION = "operations/20260101T000000Z-0000aa"
STEPS = f"{OPERATION}/steps"
WALKS = 1_000
PLAIN = ((f"{STEPS}/000009", b"{}"), (LOCK, b"{}"), (f"{OPERATION}/request", b"{}"))
WRITERS = ("holder", *"abcd")


def who(name: str, judged_free: TopicLock | None = None) -> Holder:
    """A holder that says which lock record it judged to be free."""
    return Holder(Author(name, "host", 1), "op", str(judged_free and judged_free.offset), 2.0)


def step(name: str, token: int) -> dict[str, bytes | None]:
    return {f"{STEPS}/{WRITERS.index(name):06d}": json.dumps([name, token]).encode()}


def holder(token: int) -> Program:
    """The holder: renews its lease and writes a step."""

    def run() -> Steps[object]:
        if not (yield from write({LOCK: encode_lock(who("holder"), token)}, token, begun=True)):
            return "lost"
        return "wrote" if (yield from write(step("holder", token), token, begun=True)) else "lost"

    return run


def taker(name: str) -> Program:
    """A taker that sees the lease it read as run out, though the holder may live: takes the lock
    and writes a step.
    """

    def run() -> Steps[object]:
        log: TopicLog = yield CatchUp()
        token = yield from take(who(name, log.lock), log.lock)
        if token is None:
            return "stood back"
        return "wrote" if (yield from write(step(name, token), token, begun=True)) else "lost"

    return run


def held() -> tuple[Brokers, Producer, int]:
    """Brokers with a lock that is held."""
    brokers, producer = Brokers().begin()
    brokers, token = brokers.add(producer, ((CLAIM, b"{}"),))
    brokers = brokers.commit(producer).write_marker()
    brokers, _ = brokers.add(producer, ((LOCK, encode_lock(who("holder"), token)),))
    return brokers.commit(producer).write_marker(), producer, token


def check(entries: tuple[LogEntry, ...]) -> None:
    """Only the holder of the lock writes what counts, and no older holder after a newer one.

    A lock is taken only where the record that was judged to be free is still the last one.
    Compaction changes nothing.
    """
    log, before = TopicLog(), None
    for entry in entries:
        counts = log.add(entry) is None
        assert log.lock is None or before is None or log.lock.token >= before.token
        if (
            counts
            and entry.key == LOCK
            and before is not None
            and log.lock is not None
            and log.lock.holder is not None
        ):
            assert log.lock.token == before.token or log.lock.holder.started_at == str(
                before.offset
            )
        # What others wrote over goes.
        if counts and entry.key.startswith(STEPS) and entry.value is not None:
            assert log.lock is not None
            assert log.lock.holder is not None
            assert json.loads(entry.value or b"") == [log.lock.holder.author.user, log.lock.token]
        before = log.lock
    if all(entry.producer is not None for entry in entries):
        for end in range(len(entries) + 1):
            compacted = judged((*_compacted(entries[:end]), *entries[end:]))
            assert (compacted.values, compacted.lock, compacted.writer) == (
                log.values,
                log.lock,
                log.writer,
            )


def _compacted(entries: tuple[LogEntry, ...]) -> tuple[LogEntry, ...]:
    last = {entry.key: entry.offset for entry in entries}
    return tuple(entry for entry in entries if last[entry.key] == entry.offset)


def explored(
    takers: str, *, begins: int, time_outs: int = 0, plain: tuple[tuple[str, bytes], ...] = ()
) -> Explored:
    """Try every order of a holder and of takers, and require that somebody could write where nobody
    died.
    """
    brokers, producer, token = held()
    programs = {holder(token): producer, **{taker(name): None for name in takers}}
    found = explore(brokers, programs, check, Limits(plain, time_outs, begins))
    assert all("wrote" in results for results in found.ends if None not in results)
    return found


def test_who_took_the_lock_over_is_known_from_the_log() -> None:
    """A holder is not its own successor, and a lock that was given back has none."""
    log, producer = TopicLog(), Producer(1, 0)
    assert log.successor(3) is None
    log.add(LogEntry(8, LOCK, encode_lock(who("ben"), 7), producer, 0))
    assert (log.successor(7), log.successor(3)) == (None, who("ben"))
    log.add(LogEntry(9, LOCK, encode_lock(None, 7), producer, 0))
    assert log.successor(3) is None


@pytest.mark.parametrize(
    "key",
    [
        f"{OPERATION}/../../../../../evil/request",
        f"{OPERATION}/steps/request",
        f"{OPERATION}/steps/throttle",
        "operations/../request",
        "/operations/20260101T000000Z-0000aa/request",
        f"{OPERATION}/request\n",
        f"{OPERATION}/steps/0000\u0661\u0661",
        f"{OPERATION}/steps/000001/request",
        "operations/op/request",
        "request",
        "",
    ],
)
def test_a_record_counts_only_where_its_whole_key_is_one_of_the_record(key: str) -> None:
    """Whoever asks for it, and whoever holds the lock."""
    log, producer = TopicLog(), Producer(1, 0)
    assert log.add(LogEntry(0, CLAIM, b"{}", producer, 0)) is None
    for number, by in enumerate((None, producer), start=1):
        assert log.add(LogEntry(number, key, b"{}", by, 0)) is Ignored.NO_KEY
    assert log.values == {}


def test_a_claim_by_another_transactional_id_ends_no_holder() -> None:
    """Its producer id is another one. Where kadmin's own is not known, every claim counts."""
    ours, theirs = Producer(1, 0), Producer(9, 0)
    for owner, counts in ((1, theirs), (None, ours)):
        log = TopicLog(owner)
        assert log.add(LogEntry(0, CLAIM, b"{}", ours, 0)) is None
        claimed = log.add(LogEntry(1, CLAIM, b"{}", theirs, 0))
        assert claimed is (None if owner is None else Ignored.NOT_HELD)
        assert log.add(LogEntry(2, f"{OPERATION}/status", b"{}", counts, 0)) is Ignored.NOT_HELD
        assert log.writers == {1, 9}


@pytest.mark.parametrize(
    "value", [b"garbage", b"[]", b'{"min_reader": 99}', b'{"min_reader":1,"token":"1","holder":{}}']
)
def test_a_lock_that_cannot_be_read_is_an_error_only_where_it_counts(value: bytes) -> None:
    """Whose the producer ids are is asked after all was read."""
    log = TopicLog()
    for offset, key in enumerate((CLAIM, LOCK)):
        assert log.add(LogEntry(offset, key, value, Producer(9, 0), 0)) is None
    with pytest.raises(NotCompletedError, match="lock record at offset 1 cannot be read"):
        _ = log.lock
    log = TopicLog(owner=1)
    for offset, (key, by) in enumerate([(CLAIM, 1), (CLAIM, 9), (LOCK, 9)]):
        log.add(LogEntry(offset, key, value, Producer(by, 0), 0))
    assert log.lock is None


def test_what_never_counted_does_not_count_after_compaction() -> None:
    """A record of another id under a key of its own is the last one of its key, and stays when the
    claims are gone.
    """
    ours, theirs = Producer(1, 0), Producer(9, 0)
    held, forged = LogEntry(3, LOCK, encode_lock(who("ann"), 0), ours, 0), f"{OPERATION}/status"
    kept = (held, LogEntry(5, forged, b"{}", theirs, 0), LogEntry(6, CLAIM, b"{}", theirs, 0))
    log = TopicLog(owner=1)
    assert [log.add(entry) for entry in kept] == [None, Ignored.NOT_HELD, Ignored.NOT_HELD]
    assert (log.values, log.writers) == ({}, {1, 9})


def test_many_records_that_do_not_count_are_told_by_their_number() -> None:
    """A stranger's thousands hid the answer of every command."""
    notes = ignored_notes([f"record {number}" for number in range(3_000)], TopicPartition("t", 0))
    assert (notes[0], notes[-1], len(notes)) == (
        "ignored in t-0: record 0",
        "ignored in t-0: 2,990 more records",
        11,
    )
    assert ignored_notes(["x"], TopicPartition("t", 0)) == ["ignored in t-0: x"]


def test_records_of_an_id_that_expired_count() -> None:
    """Its operations are older than all that kadmin's new producer id wrote."""
    expired, ours = Producer(1, 7), Producer(2, 0)
    log = TopicLog(owner=2)
    for offset, (key, by) in enumerate(
        [(f"{OPERATION}/status", expired), (CLAIM, ours), (LOCK, ours)]
    ):
        assert log.add(LogEntry(offset, key, encode_lock(None, 1), by, 0)) is None
    assert [*log.values] == [f"{OPERATION}/status"]


@pytest.mark.parametrize("by", [None, Producer(9, 0)])
def test_a_taker_writes_again_what_others_wrote_over(by: Producer | None) -> None:
    """Compaction keeps the last record of each key, whoever wrote it, and no claim before the
    last.
    """
    log, before, ours, step_key = (
        TopicLog(owner=1),
        Producer(1, 0),
        Producer(1, 1),
        f"{STEPS}/000000",
    )
    for offset, key in enumerate((CLAIM, step_key)):
        assert log.add(LogEntry(offset, key, b"[1]", before, 0)) is None
    for offset, key in enumerate(
        (step_key, f"{OPERATION}/status", CLAIM, LOCK, f"{OPERATION}/request", "x"), start=2
    ):
        log.add(LogEntry(offset, key, b"{}", by, 0))
    asks = take(who("ben"), log.lock)
    assert next(asks) == Begin()
    assert asks.send(ours) == Add({CLAIM: b"{}"})
    assert asks.send(9) == Commit()
    assert asks.send(None) == CatchUp()
    assert log.add(LogEntry(9, CLAIM, b"{}", ours, 0)) is None
    again = asks.send(log)
    assert again == Add({step_key: b"[1]", f"{OPERATION}/status": None}, again=True)
    for key, value in again.values.items():
        assert log.add(LogEntry(10, key, value, ours, 0)) is None
    assert (log.overwritten(), log.values) == (
        {},
        {step_key: b"[1]", f"{OPERATION}/request": b"{}"},
    )


def test_anybody_asks_and_the_holder_alone_writes() -> None:
    log, producer = TopicLog(), Producer(1, 0)
    assert log.add(LogEntry(0, CLAIM, b"{}", producer, 0)) is None
    for number, name in enumerate(
        ("request", "throttle", "status", "record", "steps/000001"), start=1
    ):
        asked = log.add(LogEntry(number, f"{OPERATION}/{name}", b"{}", None, 0))
        assert asked is (None if name in {"request", "throttle"} else Ignored.NOT_HELD)
        assert log.add(LogEntry(number, f"{OPERATION}/{name}", b"{}", producer, 0)) is None


def test_a_taker_and_a_holder_in_every_order() -> None:
    assert explored("a", begins=4).worlds > 5_000


def test_a_plain_writer_changes_nothing() -> None:
    assert explored("a", begins=3, plain=PLAIN[:1]).worlds > 20_000


@pytest.mark.executor
def test_a_transaction_that_times_out_changes_nothing() -> None:
    assert explored("a", begins=4, time_outs=1).worlds > 50_000


@pytest.mark.executor
def test_two_takers_and_a_holder_in_every_order() -> None:
    assert explored("ab", begins=3).worlds > 400_000


@pytest.mark.executor
def test_strangers_of_every_kind_change_nothing() -> None:
    assert explored("a", begins=3, plain=PLAIN[1:]).worlds > 200_000


@pytest.mark.parametrize("walks", [200, pytest.param(WALKS, marks=pytest.mark.matrix)])
def test_random_races_of_four_takers_and_a_holder(walks: int) -> None:
    """More processes, deaths of transactions and strangers than every order can be tried of; seeds
    from 0 on.
    """
    brokers, producer, token = held()
    ends = Counter[object]()
    for seed in range(walks):
        programs = {holder(token): producer, **{taker(name): None for name in "abcd"}}
        chosen = random.Random(seed)  # noqa: S311 - a walk, the same in every run
        entries, results = walk(brokers, programs, Limits(PLAIN, time_outs=2, begins=16), chosen)
        check(entries)
        ends.update(results)
    assert all(ends[result] for result in ("wrote", "stood back", "lost", "fenced")), ends


def test_a_taker_that_does_not_judge_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TopicLog, "may_take", lambda log, claimant, _: log.writer == claimant)
    with pytest.raises(AssertionError):
        explored("a", begins=3)
