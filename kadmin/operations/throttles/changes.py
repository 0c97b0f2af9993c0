"""Changes of configs by a throttle: recorded, cut into steps, reverted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from kadmin.errors import BusyError, NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide.copies import CopyingSpec
from kadmin.operations.decide.decommission import DecommissionWork
from kadmin.operations.record.record import ThrottleRecord
from kadmin.operations.record.steps import ThrottleChange, ThrottleStep
from kadmin.operations.record.throttle_steps import throttle_changes
from kadmin.plan.rules import check_hours, check_throttle, require
from kadmin.plan.throttle import (
    disk_rates,
    edits_to_restore,
    merge,
    only_readable,
    rates,
    rates_in,
    rates_of,
    throttled,
)
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from kadmin.cluster.config_entity import ConfigEntity
    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.next_step import NextStep
    from kadmin.operations.context import Context
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.port import Backend
    from kadmin.operations.record.steps import Step
    from kadmin.operations.record.throttle_request import ThrottleRequest
    from kadmin.plan.copying import Throttle
    from kadmin.plan.model import HoursSpec, PartitionTarget, ThrottleSpec
    from kadmin.plan.throttle import (
        ConfigChange,
        ConfigChanges,
        ConfigEdits,
        ConfigValues,
        ForeignValue,
    )

    BetweenDisks: TypeAlias = Callable[[ClusterState], Mapping[TopicPartition, tuple[int, ...]]]
    """Asks which partitions are moved between disks now, with their brokers."""

_STEP_CHARS = 400_000
"""Characters of config values in one step: compressed they stay far below the packet limit of any
ensemble."""


def record_throttle(backend: Backend, throttle: Throttle | None) -> ThrottleRecord | None:
    """Return the throttle to record: the current values and ours, and the hours of its copies.

    Brokers that do not answer are left out.
    """
    if throttle is None:
        return None
    found = backend.read_configs(throttle.values)
    changes = merge(only_readable(throttle.values, found, {}), found)
    return ThrottleRecord(throttle.rate, changes, throttle.asked, throttle.hours)


@dataclass(frozen=True, slots=True)
class InFlight:
    """The partitions that keep a throttle.

    They are copied between brokers, or moved between the disks of these brokers.
    """

    copied: tuple[TopicPartition, ...]
    between_disks: Mapping[TopicPartition, tuple[int, ...]]

    def __bool__(self) -> bool:
        return bool(self.copied or self.between_disks)

    def __str__(self) -> str:
        return name_some((*self.copied, *self.between_disks))


def no_disks(_state: ClusterState) -> Mapping[TopicPartition, tuple[int, ...]]:
    """Return no moves between disks, for operations that make none."""
    return {}


def in_flight(work: CopyingSpec, state: ClusterState, between_disks: BetweenDisks) -> InFlight:
    """Return the partitions whose copies would go on without a throttle, were it removed."""
    return InFlight(work.to_throttle(state), between_disks(state))


def throttled_by(moving: InFlight, work: CopyingSpec, rate: int) -> Collection[ConfigEntity]:
    """Return the topics and brokers whose throttle partitions in flight keep."""
    copied = (each for each in work.targets if each.partition in moving.copied)
    brokers = {broker for each in moving.between_disks.values() for broker in each}
    return {*throttled(copied, rate), *disk_rates(brokers, rate)}


class Removal:
    """The edits that revert changes, and the config values that were found."""

    def __init__(self, changes: ConfigChanges) -> None:
        self.changes = changes
        self.undone: set[ConfigEntity] = set()
        self.foreign: dict[tuple[ConfigEntity, str], ForeignValue] = {}
        self._seen: set[ConfigEntity] = set()

    @property
    def unseen(self) -> ConfigChanges:
        """The changes of entities whose configs were never read."""
        return {entity: keys for entity, keys in self.changes.items() if entity not in self._seen}

    def edit(self, found: ConfigValues) -> ConfigEdits:
        """Return the edits that undo the changes, among the values found."""
        edits = edits_to_restore({entity: self.changes[entity] for entity in found}, found)
        self.foreign |= {(each.entity, each.key): each for each in edits.kept}
        self.undone.update(edits.values)
        self._seen.update(found)
        return edits.values


def with_most(values: ConfigValues, most: int) -> ConfigValues:
    """Return values in which no broker has more than so many bytes per second."""
    return {**values, **rates({each: min(rate, most) for each, rate in rates_in(values).items()})}


def still_throttled(verb: str, failed: Mapping[ConfigEntity, str]) -> NotCompletedError:
    """Build the error for brokers whose throttle remains, or may remain.

    `failed` says why, for each.
    """
    brokers = [word for entity in sorted(failed) for word in ("--broker", entity.name)]
    return NotCompletedError(
        f"The throttle {verb} on {name_some(sorted(failed))}.",
        cause="; ".join(dict.fromkeys(failed.values())),
        next_step=command("throttle clear", *brokers) + ", when they answer",
    )


def changed_before(foreign: Iterable[ForeignValue], resume: NextStep) -> BusyError:
    """Build the error for values that others changed before anything was published."""
    text = "A throttle was changed by others since the operation was recorded"
    return BusyError(
        f"{text}: {name_some(foreign)}.",
        cause="it was left unchanged; nothing was published",
        next_step="restore it, then " + resume,
    )


def is_there(entity: ConfigEntity, state: ClusterState) -> bool:
    """Whether an entity can be throttled: a topic that exists, or any broker."""
    return not entity.is_topic or entity.name in state.topics


def parts_of(changes: ConfigChanges) -> list[ConfigChanges]:
    """Cut changes into parts that fit into one step each; there is at least one part."""
    parts: list[dict[ConfigEntity, Mapping[str, ConfigChange]]] = [{}]
    size = 0
    for entity, keys in changes.items():
        entity_chars = sum(
            len(change.previous or "") + len(change.ours or "") for change in keys.values()
        )
        if size and size + entity_chars > _STEP_CHARS:
            parts.append({})
            size = 0
        parts[-1][entity] = keys
        size += entity_chars
    return list(parts)


def throttle_steps(change: ThrottleChange, number: int, at: str) -> Iterator[ThrottleStep]:
    """Yield the steps of a change from a number on; the last one has its request."""
    parts = parts_of(change.changes)
    for index, part in enumerate(parts, start=1):
        request = change.request if index == len(parts) else None
        yield ThrottleStep(number + index - 1, at, replace(change, changes=part, request=request))


def in_flight_of(work: OperationSpec, state: ClusterState) -> tuple[TopicPartition, ...]:
    """Return an operation's partitions whose copies would go on without a throttle."""
    return work.to_throttle(state) if isinstance(work, CopyingSpec) else ()


def require_followed(context: Context, spec: ThrottleSpec, hours: HoursSpec | None) -> None:
    """Raise InvalidInputError for signals, and the zone of hours, that this machine cannot follow.

    It has the signals of its context, and its own time zone data.
    """
    require((*check_throttle(spec, context.signals), *check_hours(hours, spec)))


def wanted_by(
    request: ThrottleRequest, before: ThrottleRecord | None, targets: Iterable[PartitionTarget]
) -> ConfigValues:
    """Return the configs that a request asks for, with the throttle on record before it.

    Brokers keep their rates where the request leaves the rate, or the range of rates, as it is.
    """
    wanted = throttled(targets, request.rate)
    if before is None or before.spec is None or not request.keeps_rates_of(before.spec):
        return wanted
    kept = rates(rates_of(before.changes))
    return wanted | {entity: kept[entity] for entity in wanted if entity in kept}


def of_further_rounds(
    work: OperationSpec, throttle: ThrottleRecord | None
) -> tuple[ConfigValues, ThrottleChange] | None:
    """Return the values that further rounds of a decommission add, and their change.

    None without any. Partitions that a topic on record got meanwhile are copied without a limit.
    """
    if throttle is None or not isinstance(work, DecommissionWork) or not work.rounds:
        return None
    wanted = throttled(work.targets, throttle.rate)
    missing = {each: wanted[each] for each in wanted if each not in throttle.changes}
    return (
        (missing, ThrottleChange(throttle.rate, {}, None, "a further round")) if missing else None
    )


def is_on_record(request: ThrottleRequest, steps: Iterable[Step]) -> bool:
    """Whether the steps on record contain the whole requested change."""
    return any(change.request == request for change in throttle_changes(steps))
