"""Reads the throttles of a cluster, and finds the operation on record that set each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import DEFAULT_ENTITY
from kadmin.next_step import command
from kadmin.operations.events import Note
from kadmin.operations.record.holder import is_run_by
from kadmin.operations.record.throttle_steps import current_throttle, writes_unanswered
from kadmin.plan.throttle import THROTTLE_KEYS, holds_ours
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.cluster.config_entity import ConfigEntity
    from kadmin.next_step import NextStep
    from kadmin.operations.context import Context
    from kadmin.operations.record.record import Listing, ThrottleRecord
    from kadmin.plan.throttle import ConfigChange


@dataclass(frozen=True, slots=True)
class ThrottledEntity:
    """A topic or broker with a throttle; `present`: the topic exists, or the broker is alive."""

    entity: ConfigEntity
    values: Mapping[str, str]
    present: bool


class Origin(StrEnum):
    """The origin of a throttle: the operation that set it, if any."""

    IN_USE = "in use"
    """Set by an operation that is not finished."""
    LEFT_OVER = "left over"
    """Set by an operation that is finished."""
    CHANGED = "changed"
    """An operation that is not finished set another value."""
    NOT_ON_RECORD = "not on record"
    """No operation on record set it."""


@dataclass(frozen=True, slots=True)
class AuditedThrottle:
    """One throttle value (None: removed though an operation set it), and the operation that set it.

    `runner`: a runner of that operation is at work.
    """

    entity: ConfigEntity
    key: str
    value: str | None
    origin: Origin
    operation_id: str | None = None
    runner: bool = False

    @property
    def next_step(self) -> NextStep:
        """The command that removes it, or shows the runner that will."""
        if self.runner:
            return command("status")
        if self.origin in {Origin.IN_USE, Origin.CHANGED}:
            return command("resume", self.operation_id)
        if self.entity.is_topic:
            return command("throttle clear", "--topic", self.entity.name)
        return command(
            "throttle clear",
            "--broker",
            "default" if self.entity == DEFAULT_ENTITY else self.entity.name,
        )


def show(context: Context) -> tuple[ThrottledEntity, ...]:
    """Read every throttle of the cluster."""
    context.backend.check()
    return read_throttles(context)[0]


def audit(context: Context) -> tuple[AuditedThrottle, ...]:
    """Read every throttle and the operation that set it."""
    found, recorded = show(context), recorded_throttles(context)
    holder = context.operations.lock.holder()
    return tuple(
        replace(each, runner=is_run_by(each.operation_id, holder))
        for each in judge(found, recorded)
    )


def read_throttles(
    context: Context,
) -> tuple[tuple[ThrottledEntity, ...], tuple[ConfigEntity, ...]]:
    """Return every topic and broker with a throttle, and the brokers that did not answer.

    A note names them.
    """
    present = context.backend.configured_entities()
    values = context.backend.read_configs(present)
    if unread := tuple(sorted(present.keys() - values.keys())):
        context.tell(
            Note(
                "these brokers do not answer, so their throttles are not known: "
                f"{name_some(unread)}"
            )
        )
    found = []
    for entity, configs in values.items():
        if throttle := {key: value for key, value in configs.items() if key in THROTTLE_KEYS}:
            found.append(ThrottledEntity(entity, throttle, present[entity]))
    return tuple(found), unread


def recorded_throttles(context: Context) -> tuple[tuple[Listing, ThrottleRecord], ...]:
    """Return the operations on record that may have a throttle on the cluster, the newest first.

    A finished one whose throttle was removed has none: the same value again is another's, unless a
    request of it got no answer.
    """
    listings = [
        each for each in reversed(context.operations.listings()) if each.status.state.has_record
    ]
    throttles = context.read_each(listings, lambda each: _throttle(context, each))
    found = ((listing, throttles.get(listing.operation_id)) for listing in listings)
    return tuple((listing, throttle) for listing, throttle in found if throttle is not None)


def _throttle(context: Context, listing: Listing) -> ThrottleRecord | None:
    operations, status = context.operations, listing.status
    removed = status.state.finished and status.throttle_removed
    if removed and not context.backend.capabilities.late_configs:
        return None
    steps = operations.steps(listing.operation_id)
    if removed and not writes_unanswered(steps):
        return None
    return current_throttle(operations.record(listing.operation_id), steps)


def source_of(
    entity: ConfigEntity, key: str, value: str, recorded: Sequence[tuple[Listing, ThrottleRecord]]
) -> tuple[Listing, ConfigChange] | None:
    """Return the newest operation that set this value, or entries of this list, and its changes."""
    for listing, throttle in recorded:
        change = throttle.changes.get(entity, {}).get(key)
        if change is not None and holds_ours(key, change, value):
            return listing, change
    return None


def judge(
    found: Sequence[ThrottledEntity], recorded: Sequence[tuple[Listing, ThrottleRecord]]
) -> tuple[AuditedThrottle, ...]:
    """Find the operation of each throttle.

    `recorded` is ordered from the newest operation to the oldest.
    """
    unfinished = [
        (listing, throttle) for listing, throttle in recorded if not listing.status.state.finished
    ]
    findings = [
        _judge(each.entity, key, value, recorded)
        for each in found
        for key, value in each.values.items()
    ]
    return (*findings, *_taken_away(found, unfinished))


def _judge(
    entity: ConfigEntity, key: str, value: str, recorded: Sequence[tuple[Listing, ThrottleRecord]]
) -> AuditedThrottle:
    source = source_of(entity, key, value, recorded)
    if source is not None:
        origin = Origin.LEFT_OVER if source[0].status.state.finished else Origin.IN_USE
        return AuditedThrottle(entity, key, value, origin, source[0].operation_id)
    for listing, throttle in recorded:
        change = throttle.changes.get(entity, {}).get(key)
        if change is not None and not listing.status.state.finished and value != change.previous:
            return AuditedThrottle(entity, key, value, Origin.CHANGED, listing.operation_id)
    return AuditedThrottle(entity, key, value, Origin.NOT_ON_RECORD)


def _taken_away(
    found: Sequence[ThrottledEntity], unfinished: Sequence[tuple[Listing, ThrottleRecord]]
) -> Iterator[AuditedThrottle]:
    there = {(each.entity, key) for each in found for key in each.values}
    for listing, throttle in unfinished:
        for entity, keys in throttle.changes.items():
            for key, change in keys.items():
                if (entity, key) not in there and change.previous is not None:
                    yield AuditedThrottle(entity, key, None, Origin.CHANGED, listing.operation_id)
