"""Cordons and uncordons a broker outside any operation, under the lock.

The value before is on record before the request leaves, and until the broker is seen with it again.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.cluster.capabilities import MetadataMode
from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.from_brokers import why
from kadmin.errors import (
    NotAuthorizedError,
    NotCompletedError,
    StalePlanError,
    UnreachableError,
    UsageError,
)
from kadmin.next_step import command
from kadmin.operations.events import Note
from kadmin.operations.port import ConfigsOutcome
from kadmin.operations.record.cordon import CordonRecord
from kadmin.operations.session import held
from kadmin.plan.cordon import ALL_DIRS, CORDON
from kadmin.wording import name_some

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.next_step import NextStep
    from kadmin.operations.context import Context
    from kadmin.operations.record.holder import Lease
    from kadmin.plan.throttle import ConfigEdits, ConfigValues

HOLDER = "cordon"
"""The purpose for which the lock is held, in place of an operation's id."""


@dataclass(frozen=True, slots=True)
class BrokerCordon:
    """The cordon of a broker: its own config (None: it has none) and the value in force.

    Both are None, and it is not `alive`, where the broker cannot be asked. `recorded` is kadmin's
    record.
    """

    broker_id: int
    own: str | None
    in_force: str | None
    recorded: CordonRecord | None
    alive: bool = True

    @property
    def is_cordoned(self) -> bool:
        """Whether every directory is cordoned."""
        return self.in_force == ALL_DIRS

    @property
    def is_free(self) -> bool:
        """Whether no directory is known to be cordoned, and nothing is on record."""
        return self.alive and not self.own and not self.in_force and self.recorded is None


@dataclass(frozen=True, slots=True)
class CordonChange:
    """The cordon of a broker before and after a change; `after` is None where it was not seen.

    `in_flight` are moves onto the broker that a cordon does not stop.
    """

    before: BrokerCordon
    after: BrokerCordon | None
    in_flight: tuple[TopicPartition, ...] = ()


def find_to_cordon(context: Context, broker_id: int) -> BrokerCordon:
    """Return the cordon of a broker that can be cordoned; nothing is written.

    Raises UsageError in ZooKeeper mode, StalePlanError for an unknown broker, NotCompletedError for
    one that is not alive or of a version without cordons.
    """
    found = _find(context, broker_id, _read(context, broker_id))
    if not found.alive:
        raise NotCompletedError(
            f"Broker {broker_id} is not alive, so it cannot be cordoned.",
            cause=(
                "only the broker itself takes a cordon; while it is fenced, Kafka places no new "
                "replicas on it, and explicit lists with it are accepted"
            ),
            next_step=command("broker cordon", str(broker_id)) + ", when it is back",
        )
    return found


def find_to_uncordon(context: Context, broker_id: int) -> BrokerCordon:
    """Return the cordon of a broker, alive or not; raises as `find_to_cordon` otherwise."""
    return _find(context, broker_id, _read(context, broker_id))


def cordon(context: Context, broker_id: int, lock_timeout_s: float) -> CordonChange:
    """Cordon a broker; its own config before is on record from then on, until it is uncordoned.

    Raises NotCompletedError where the broker refuses, and UnreachableError where it was not seen
    with the cordon.
    """
    with held(context, context.new_holder(HOLDER), lock_timeout_s) as session:
        return cordon_under(context, find_to_cordon(context, broker_id), session.lease)


def cordon_under(context: Context, found: BrokerCordon, lease: Lease) -> CordonChange:
    """Cordon a broker as it was found, under a lease; raises as `cordon` does."""
    broker_id = found.broker_id
    if found.is_cordoned:
        return CordonChange(found, found)
    record = CordonRecord(str(context.author), context.clock.timestamp(), found.own)
    context.operations.set_cordon(broker_id, record, lease)
    try:
        _write(context, broker_id, ALL_DIRS, lease)
    except NotAuthorizedError:
        context.operations.set_cordon(broker_id, found.recorded, lease)
        raise
    except NotCompletedError as error:
        context.operations.set_cordon(broker_id, found.recorded, lease)
        raise NotCompletedError(
            f"Broker {broker_id} was not cordoned.",
            cause=error.cause or error.message,
            next_step=_instead(broker_id),
        ) from error
    state = _read(context, broker_id)
    after = _find(context, broker_id, state)
    if not after.is_cordoned:
        raise _not_seen(broker_id, "cordoned")
    return CordonChange(found, after, _moving_onto(broker_id, state))


def uncordon(context: Context, broker_id: int, lock_timeout_s: float) -> CordonChange:
    """Give a broker the config back that it had before its cordon; no config where none is known.

    That of a broker that is not alive is written at the controller, and cannot be read there.
    """
    with held(context, context.new_holder(HOLDER), lock_timeout_s) as session:
        return uncordon_under(context, broker_id, session.lease)


def uncordon_under(context: Context, broker_id: int, lease: Lease) -> CordonChange:
    """Uncordon a broker under a lease; raises as `uncordon` does."""
    found = find_to_uncordon(context, broker_id)
    if found.is_free:
        return CordonChange(found, found)
    before = None if found.recorded is None else found.recorded.before
    if found.alive:
        _write(context, broker_id, before, lease)
        after = _find(context, broker_id, _read(context, broker_id))
        _require_uncordoned(after, before)
        after = replace(after, recorded=None)
    else:
        _overwrite(context, broker_id, before, lease)
        after = None
    context.operations.set_cordon(broker_id, None, lease)
    return CordonChange(found, after)


def forget_cordon(context: Context, broker_id: int, lease: Lease) -> None:
    """Remove the cordon on record of a dead broker at the controller; without one do nothing."""
    if broker_id in context.operations.cordons():
        _overwrite(context, broker_id, None, lease)
        context.operations.set_cordon(broker_id, None, lease)


def _read(context: Context, broker_id: int) -> ClusterState:
    context.backend.check()
    if context.backend.capabilities.mode is MetadataMode.ZOOKEEPER:
        raise UsageError(
            "Brokers are cordoned in KRaft mode only, from Kafka 4.3 on.",
            next_step=_instead(broker_id),
        )
    state = context.backend.read()
    known = {*state.brokers, *(state.fenced_brokers or {})}
    if broker_id not in known and state.fenced_brokers is not None:
        raise StalePlanError(
            f"The cluster has no broker {broker_id}.",
            cause=f"registered are {name_some(sorted(known), most=10)}",
            next_step=command("inspect brokers"),
        )
    return state


def _find(context: Context, broker_id: int, state: ClusterState) -> BrokerCordon:
    recorded = context.operations.cordons().get(broker_id)
    if broker_id not in state.brokers:
        return BrokerCordon(broker_id, None, None, recorded, alive=False)
    entity = ConfigEntity.of_broker(broker_id)
    with closing(context.backend.brokers(state)) as brokers:
        answers = brokers.settings([broker_id], [CORDON])
    own = context.backend.read_configs([entity])
    if broker_id in answers.failed or entity not in own:
        error = answers.failed.get(broker_id)
        raise UnreachableError(
            f"Broker {broker_id} does not report its configs.",
            cause=None if error is None else why(error),
            next_step=command("inspect brokers"),
        )
    if CORDON not in answers.given[broker_id]:
        raise NotCompletedError(
            f"Broker {broker_id} has no cordons.",
            cause=f"it is of a version of Kafka before 4.3, which lacks {CORDON}",
            next_step=_instead(broker_id),
        )
    return BrokerCordon(
        broker_id, own[entity].get(CORDON), answers.given[broker_id][CORDON], recorded
    )


def _write(context: Context, broker_id: int, value: str | None, lease: Lease) -> None:
    entity, seen = ConfigEntity.of_broker(broker_id), False

    def edit(found: ConfigValues) -> ConfigEdits:
        nonlocal seen
        seen = entity in found and found[entity].get(CORDON) == value
        return {entity: {CORDON: value}} if entity in found and not seen else {}

    outcome = context.backend.change_configs([entity], edit, lease)
    if outcome is ConfigsOutcome.UNANSWERED:
        context.tell(Note("a request got no answer and may be applied late: look again later"))
    if not seen:
        raise _not_seen(broker_id, "as wanted")


def _overwrite(context: Context, broker_id: int, value: str | None, lease: Lease) -> None:
    entity = ConfigEntity.of_broker(broker_id)
    if failed := context.backend.overwrite_configs({entity: {CORDON: value}}, lease):
        raise NotCompletedError(
            f"The cordon of broker {broker_id}, which is not alive, was not taken off.",
            cause=failed[entity],
            next_step=command("broker uncordon", str(broker_id)) + ", when the broker is back",
        )


def _require_uncordoned(found: BrokerCordon, wanted: str | None) -> None:
    if wanted is None and found.in_force:
        raise NotCompletedError(
            f"Broker {found.broker_id} is still cordoned: {CORDON} is {found.in_force}.",
            cause="its properties file, or the default of all brokers, has that value",
            next_step=f"remove {CORDON} there, and restart the broker",
        )


def _not_seen(broker_id: int, how: str) -> UnreachableError:
    return UnreachableError(
        f"Broker {broker_id} was not seen {how}; what was asked for is on record.",
        next_step=command("broker cordon", str(broker_id))
        + ", or "
        + command("broker uncordon", str(broker_id)),
    )


def _moving_onto(broker_id: int, state: ClusterState) -> tuple[TopicPartition, ...]:
    return tuple(
        partition
        for topic in state.topics.values()
        for partition in topic.partitions()
        if broker_id in topic.adding_replicas.get(partition.partition, ())
    )


def _instead(broker_id: int) -> NextStep:
    decommission = command("propose decommission", "--broker", str(broker_id), "--out", "PLAN")
    return decommission + ", which moves what lands on it meanwhile"
