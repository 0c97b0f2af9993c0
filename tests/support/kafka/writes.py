"""Names the writes of a run among the frames that a proxy saw, and tells what left before it was on
record.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import AlterPartitionReassignmentsRequest
from support.kafka.broker_proxy import (
    ALTER_CONFIGS,
    ALTER_LOG_DIRS,
    ALTER_REASSIGNMENTS,
    ELECT_LEADERS,
    END_TXN,
    LIST_REASSIGNMENTS,
    PRODUCE,
)
from support.network.frame_proxy import Fault, Side

from kadmin.cluster.model import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from support.network.frame_proxy import Action, Frame

    from kadmin.cluster.model import Replicas

    Targets = Mapping[TopicPartition, Replicas | None]

_KEY = re.compile(rb"operations/[^/]+/(steps/\d+|[a-z]+)")
FIRST_WAVE = "steps/000002"
"""The step of the first wave: the one before it sets the throttle."""
_LOOKS = 2
"""The reassignments in flight are read before the metadata and after them."""
_REQUESTS = {
    ALTER_REASSIGNMENTS: "reassignments",
    ALTER_CONFIGS: "configs",
    ELECT_LEADERS: "election",
    ALTER_LOG_DIRS: "log directories",
}


class Writes:
    """Names the writes among the frames of one process, in order; runs differ in renewals of the
    lease.
    """

    def __init__(self) -> None:
        self._produced = ""
        self._times: Counter[str] = Counter()

    def name(self, frame: Frame) -> str | None:
        """Return the name of a request that writes, as `commit of steps/000001, time 2`; None for
        any other frame.
        """
        if frame.side is not Side.REQUEST:
            return None
        what = _REQUESTS.get(frame.op)
        if frame.op == PRODUCE:
            what = self._produced = _produced(frame.body)
        elif frame.op == END_TXN:
            what = f"commit of {self._produced}"
        if what is None:
            return None
        self._times[what] += 1
        return f"{what}, time {self._times[what]}"


def _produced(body: bytes) -> str:
    if (found := _KEY.search(body)) is not None:
        return found[1].decode()
    if b"confirmed" in body:
        return "confirmation"
    if b'"holder": null' in body:
        return "free lock"
    return "lock" if b'"holder"' in body else "claim"


@dataclass(frozen=True, slots=True)
class WritePoint:
    """A write of a run: the moment before it is forwarded, or the one before its answer comes."""

    write: str
    forwarded: bool

    def __str__(self) -> str:
        return f"{'after' if self.forwarded else 'before'} {self.write}"

    def fault(self, action: Action, then: Callable[[], object]) -> Fault:
        """Break the connection, or do something else, at this moment of a process that is to
        begin.
        """
        writes, numbers = Writes(), set[int]()

        def matches(frame: Frame) -> bool:
            if writes.name(frame) == self.write:
                numbers.add(frame.number)
            return frame.number in numbers and (frame.side is Side.REPLY) == self.forwarded

        return Fault(action, matches, then=then)


class LastLook:
    """The moment in which a run gets the last answer that it reads before its first request to
    reassign leaves.
    """

    def __str__(self) -> str:
        return "between look and send"

    def fault(self, action: Action, then: Callable[[], object]) -> Fault:
        """Break the connection, or do something else, at this moment of a process that is to
        begin.
        """
        writes, looks, is_on_record = Writes(), list[int](), False

        def matches(frame: Frame) -> bool:
            nonlocal is_on_record
            is_on_record = is_on_record or writes.name(frame) == f"commit of {FIRST_WAVE}, time 1"
            if is_on_record and frame.side is Side.REPLY and frame.op == LIST_REASSIGNMENTS:
                looks.append(frame.number)
            return len(looks) == _LOOKS and frame.number == looks[-1]

        return Fault(action, matches, then=then)


def points_of(frames: Iterable[Frame]) -> list[WritePoint]:
    """Every write of a run, before and after it is forwarded; renewals of the lease are left
    out.
    """
    writes = Writes()
    names = [name for frame in frames if (name := writes.name(frame)) is not None]
    first_lock = {"lock, time 1", "commit of lock, time 1"}
    names = [
        name for name in names if not re.match(r"(commit of )?lock,", name) or name in first_lock
    ]
    return [WritePoint(name, forwarded) for name in names for forwarded in (False, True)]


def sent_off_record(frames: Iterable[Frame], intents: Sequence[Targets]) -> Iterator[str]:
    """Say which requests of a process to reassign left before the step that names their targets was
    committed.
    """
    writes, committing, committed = Writes(), -1, False
    for frame in frames:
        name = writes.name(frame) or ""
        if name.startswith("commit of steps/"):
            committing, committed = frame.number, False
        elif frame.side is Side.REPLY and frame.number == committing:
            committed = True
        elif name.startswith("reassignments"):
            if not committed:
                yield "a request left before its step was on record"
            if targets_of(frame) not in intents:
                yield f"a request left that is not on record: {targets_of(frame)}"


def targets_of(frame: Frame) -> dict[TopicPartition, Replicas | None]:
    """Return what a request to reassign asks for; of any other frame nothing."""
    if frame.side is not Side.REQUEST or frame.op != ALTER_REASSIGNMENTS:
        return {}
    version: int = struct.unpack_from("!h", frame.body, 2)[0]
    request: Any = AlterPartitionReassignmentsRequest.decode(
        frame.body, version=version, header=True
    )
    return {
        TopicPartition(topic.name, each.partition_index): None
        if each.replicas is None
        else tuple(each.replicas)
        for topic in request.topics
        for each in topic.partitions
    }
