"""Unregisters a broker that is gone for good, under the lock."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from kadmin.cluster.capabilities import MetadataMode
from kadmin.errors import NotCompletedError, StalePlanError, UsageError
from kadmin.insight.quorum import running_brokers
from kadmin.next_step import command
from kadmin.operations.cordons import forget_cordon
from kadmin.operations.reading.brokers import held_by
from kadmin.operations.session import held
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.record.holder import Lease

HOLDER = "unregister"
"""The purpose for which the lock is held, in place of an operation's id."""


def require_gone(context: Context, broker_id: int) -> None:
    """Raise an error unless a broker may be unregistered; nothing is written.

    The error is StalePlanError for a broker that is known not to be registered, NotCompletedError
    for one that is alive, or that a list of replicas names, and where that is unknown: Kafka checks
    none of it. UsageError in ZooKeeper mode.
    """
    context.backend.check()
    if context.backend.capabilities.mode is MetadataMode.ZOOKEEPER:
        raise UsageError(
            "Brokers are unregistered in KRaft mode only.",
            cause="in ZooKeeper mode a registration ends with its session",
            next_step=command("inspect brokers"),
        )
    state = context.backend.read()
    if broker_id in state.brokers or broker_id in running_brokers(state.controller):
        raise NotCompletedError(
            f"Broker {broker_id} is alive, so it is not unregistered.",
            cause="a live broker that is unregistered serves nothing until it is restarted",
            next_step="stop it, and repeat the command",
        )
    if state.fenced_brokers is not None and broker_id not in state.fenced_brokers:
        raise StalePlanError(
            f"No broker {broker_id} is registered.", next_step=command("inspect brokers")
        )
    if named := [each for each, replicas in state.assignment.items() if broker_id in replicas]:
        raise NotCompletedError(
            f"Broker {broker_id} is in the lists of {count(len(named), 'partition')}: "
            f"{name_some(sorted(named))}.",
            cause="they would keep its id, and Kafka would refuse every list with it",
            next_step="drain it: "
            + command("propose decommission", "--broker", broker_id, "--out", "PLAN"),
        )
    with closing(context.backend.brokers(state)) as brokers:
        held_bytes = held_by(state, brokers)
    if unknown := (*held_bytes.unavailable, *held_bytes.hidden_topics):
        raise NotCompletedError(
            f"It is unknown whether a list of replicas names broker {broker_id}.",
            cause="; ".join(unknown),
            next_step=command("doctor"),
        )


def unregister(context: Context, broker_id: int, lock_timeout_s: float) -> None:
    """Unregister a broker; returns once it is seen to be unregistered.

    A cordon on record is taken off before: its config would be that of the next broker with this
    id. Raises as `require_gone` and `Backend.unregister` do.
    """
    with held(context, context.new_holder(HOLDER), lock_timeout_s) as session:
        unregister_under(context, broker_id, session.lease)


def unregister_under(context: Context, broker_id: int, lease: Lease) -> None:
    """Unregister a broker under a lease; raises as `unregister` does."""
    require_gone(context, broker_id)
    forget_cordon(context, broker_id, lease)
    context.backend.unregister(broker_id, lease)
