"""Sets and clears throttles outside any operation.

It plans the changes, then writes them under the lock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.errors import BusyError, NotCompletedError, StalePlanError, UnreachableError
from kadmin.next_step import command
from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.events import Note
from kadmin.operations.port import ConfigsOutcome
from kadmin.operations.record.record import OperationState
from kadmin.operations.session import held
from kadmin.operations.throttles.audit import read_throttles, recorded_throttles, source_of
from kadmin.operations.throttles.changes import in_flight_of, still_throttled
from kadmin.plan.model import PartitionTarget
from kadmin.plan.progress import in_flight
from kadmin.plan.throttle import (
    LISTS,
    RATES,
    WILDCARD,
    ConfigChange,
    edits_to_restore,
    edits_to_set,
    merge,
    rates,
    throttled,
)
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.throttle_request import ThrottleRequest
    from kadmin.plan.throttle import ConfigChanges, ConfigEdits, ConfigValues, ForeignValue

HOLDER = "throttle"
"""The purpose for which the lock is held, in place of an operation's id."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The topics and brokers that a command names, and the common `default` of all brokers.

    None: all.
    """

    brokers: tuple[int, ...] = ()
    topics: tuple[str, ...] = ()
    default: bool = False

    def covers(self, entity: ConfigEntity) -> bool:
        """Whether an entity is named, or nothing is."""
        if self == Scope():
            return True
        if entity == DEFAULT_ENTITY:
            return self.default
        return entity.name in self.topics if entity.is_topic else entity.broker_id in self.brokers


@dataclass(frozen=True, slots=True)
class Planned:
    """The changes to make.

    Those of entities in `unseen`, whose values cannot be read, have no value before. `restored` is
    the operation whose replaced value comes back, by entity and key.
    """

    changes: ConfigChanges
    unseen: frozenset[ConfigEntity] = frozenset()
    restored: Mapping[tuple[ConfigEntity, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Written:
    """The changes that were made, and what is not done.

    Values that another client changed at the same time are beside them, and the request to change
    the throttle of an operation.
    """

    planned: Planned
    kept: tuple[ForeignValue, ...] = ()
    left: NotCompletedError | None = None
    request: ThrottleRequest | None = None


def plan_set(context: Context, scope: Scope, rate: int) -> Planned:
    """Return the changes that set a throttle; nothing is written.

    Named topics are throttled whole, at the named brokers or all that hold them. Brokers alone get
    the rate and no list. Without names: the partitions in flight now, and their brokers. Raises
    StalePlanError for unknown names.
    """
    state = _read(context)
    require_known(scope, state)
    if scope.topics:
        held = {broker for name in scope.topics for broker in state.topics[name].brokers}
        lists = {
            ConfigEntity.of_topic(name): dict.fromkeys(LISTS, WILDCARD) for name in scope.topics
        }
        wanted: ConfigValues = {**lists, **rates(dict.fromkeys(scope.brokers or held, rate))}
    elif scope.brokers:
        wanted = rates(dict.fromkeys(scope.brokers, rate))
    else:
        wanted = throttled((_copy(partition, state) for partition in in_flight(state)), rate)
    found = context.backend.read_configs(wanted)
    if silent := sorted(wanted.keys() - found.keys()):
        raise UnreachableError(
            f"The configs of {name_some(silent)} cannot be read; nothing was changed.",
            cause="only a broker itself reports its own configs, and it does not answer",
            next_step=command("throttle show") + "; then name each of the others with --broker",
        )
    return Planned(merge(wanted, found))


def plan_clear(context: Context, scope: Scope, *, now: bool) -> Planned:
    """Return the changes that clear throttles; nothing is written.

    A value that an operation on record set returns to the previous one, others are deleted. The
    rates of brokers that do not answer are removed unread, or get the values that the last
    operation on record replaced. Raises BusyError while anything is in flight, unless `now`.
    """
    state = _read(context)
    recorded = recorded_throttles(context)
    if not now and (moving := _moving(context, state)):
        raise BusyError(
            f"Partitions are in flight: {name_some(moving)}.",
            cause="without a throttle their copies may use the whole network",
            next_step="when they are done, "
            + command("throttle clear")
            + "; at once: "
            + command("throttle clear", "--now"),
        )
    found, unread = read_throttles(context)
    changes: dict[ConfigEntity, dict[str, ConfigChange]] = {}
    restored: dict[tuple[ConfigEntity, str], str] = {}
    for each in found:
        for key, value in each.values.items() if scope.covers(each.entity) else ():
            source = source_of(each.entity, key, value, recorded)
            before = None if source is None else _before(each.entity, key, value, source[1])
            changes.setdefault(each.entity, {})[key] = ConfigChange(value, before)
            if source is not None and before is not None:
                restored[each.entity, key] = source[0].operation_id
    unseen = frozenset(entity for entity in unread if scope.covers(entity))
    for entity in unseen:
        last = next(
            (throttle.changes[entity] for _, throttle in recorded if entity in throttle.changes), {}
        )
        changes[entity] = {
            key: ConfigChange(None, last[key].previous if key in last else None) for key in RATES
        }
    return Planned(changes, unseen, restored)


def write_planned(context: Context, plan: Callable[[], Planned], lock_timeout_s: float) -> Written:
    """Take the lock, plan again, write, and give the lock back.

    Configs of brokers that do not answer are written at the controller; where that fails, `left`
    names them. Raises NotCompletedError where the deadline passes before the last change, BusyError
    without the lock.
    """
    with held(context, context.new_holder(HOLDER), lock_timeout_s) as session:
        return _write(context, plan(), session.lease)


def _write(context: Context, planned: Planned, lease: Lease) -> Written:
    changes = {
        entity: keys for entity, keys in planned.changes.items() if entity not in planned.unseen
    }
    kept: dict[tuple[ConfigEntity, str], ForeignValue] = {}

    def edit(found: ConfigValues) -> ConfigEdits:
        edits = edits_to_set({entity: changes[entity] for entity in found}, found)
        kept.update({(each.entity, each.key): each for each in edits.kept})
        return edits.values

    outcome = context.backend.change_configs(changes, edit, lease)
    if outcome is ConfigsOutcome.CUT_SHORT:
        raise NotCompletedError(
            "The deadline passed before every throttle was written.",
            next_step=command("throttle show"),
        )
    if outcome is ConfigsOutcome.UNANSWERED:
        context.tell(
            Note(
                "a request got no answer and may be applied late: look again with "
                f"{command('throttle show')}"
            )
        )
    unread = {
        entity: {key: each.ours for key, each in planned.changes[entity].items()}
        for entity in planned.unseen
    }
    failed = context.backend.overwrite_configs(unread, lease) if unread else {}
    return Written(
        planned, tuple(kept.values()), still_throttled("may remain", failed) if failed else None
    )


def _read(context: Context) -> ClusterState:
    context.backend.check()
    return context.backend.read()


def require_known(scope: Scope, state: ClusterState) -> None:
    """Raise StalePlanError for topics and brokers that the cluster does not have."""
    assigned = {broker for topic in state.topics.values() for broker in topic.brokers}
    unknown = [
        *(f"topic {name}" for name in scope.topics if name not in state.topics),
        *(
            f"broker {broker}"
            for broker in scope.brokers
            if broker not in {*state.brokers, *assigned}
        ),
    ]
    if unknown:
        raise StalePlanError(
            f"The cluster does not have {name_some(unknown)}.", next_step=command("throttle show")
        )


def _copy(partition: TopicPartition, state: ClusterState) -> PartitionTarget:
    """Return a reassignment in flight as a target.

    Its new replicas are those requested or being added, and not in sync.
    """
    topic, replicas = state.topics.get(partition.topic), state.replicas(partition)
    node, found = state.requests.reassignment, state.states.get(partition)
    if topic is None or replicas is None:
        return PartitionTarget(partition, (), ())
    named = (node.entries or {}).get(partition, ()) if node is not None else ()
    wanted = dict.fromkeys((*named, *topic.adding_replicas.get(partition.partition, ())))
    new = tuple(broker for broker in wanted if found is None or broker not in found.isr)
    old = tuple(broker for broker in replicas if broker not in new)
    return PartitionTarget(partition, (*old, *new), old)


def _moving(context: Context, state: ClusterState) -> list[TopicPartition]:
    moving = set(in_flight(state))
    for listing in context.operations.unfinished():
        if listing.kind.copies and listing.status.state is not OperationState.PREPARING:
            record = context.operations.record(listing.operation_id)
            steps = context.operations.steps(listing.operation_id)
            moving.update(in_flight_of(spec_of(record, steps), state))
    return sorted(moving)


def _before(entity: ConfigEntity, key: str, value: str, change: ConfigChange) -> str | None:
    return edits_to_restore({entity: {key: change}}, {entity: {key: value}}).values[entity][key]
