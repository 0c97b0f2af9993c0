"""Deletion guards: each is waived by its own name under `spec.allow`, never by a general force.

A reassignment that names a topic cannot be waived: deleting that topic leaves a zombie node that blocks everybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import BusyError, InvalidInputError, StalePlanError, name_some
from kadmin.plan.checks import INTERNAL_TOPICS
from kadmin.plan.progress import in_flight

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.errors import KadminError
    from kadmin.plan.model import DeletionPlan

PROTECTED_PREFIX = "_"
"""Names that begin so belong to platforms (schema registries, connectors, audits) more often than to people."""


def deletion_refusals(
    plan: DeletionPlan, state: ClusterState, consumers: Mapping[str, Sequence[str]]
) -> tuple[KadminError, ...]:
    """Return what stops a deletion, in the order in which an operator would want to hear it."""
    present = [topic for topic in plan.topics if topic in state.topics]
    return (
        *_absent(plan, state),
        *_named(plan),
        *_moving(plan, state),
        *_in_use(plan, present, consumers),
        *_offline(plan, present, state),
    )


def _absent(plan: DeletionPlan, state: ClusterState) -> tuple[KadminError, ...]:
    absent = [topic for topic in plan.topics if topic not in state.topics]
    if not absent:
        return ()
    error = StalePlanError(
        f"The cluster does not have {name_some(absent)}.", next_command="take them out of spec.topics"
    )
    return (error,)


def _named(plan: DeletionPlan) -> tuple[KadminError, ...]:
    refusals: list[KadminError] = []
    internal = [topic for topic in plan.topics if topic in INTERNAL_TOPICS]
    if internal and not plan.allow_internal:
        refusals.append(_waive(InvalidInputError, f"Kafka's own topics: {name_some(internal)}.", "internal: true"))
    protected = [t for t in plan.topics if t.startswith(PROTECTED_PREFIX) and t not in INTERNAL_TOPICS]
    if protected and not plan.allow_protected:
        refusals.append(_waive(InvalidInputError, f"Protected names: {name_some(protected)}.", "protected: true"))
    if len(plan.topics) > plan.allow_more_than:
        refusals.append(
            _waive(InvalidInputError, f"{len(plan.topics)} topics at once.", f"more_than: {len(plan.topics)}")
        )
    return tuple(refusals)


def _moving(plan: DeletionPlan, state: ClusterState) -> tuple[KadminError, ...]:
    named = sorted({partition.topic for partition in in_flight(state)} & set(plan.topics))
    if not named:
        return ()
    error = BusyError(
        f"Partitions of {name_some(named)} are being reassigned.",
        cause="deleting a topic in mid-move leaves a zombie reassignment behind; this guard cannot be waived",
        next_command="apply again when the reassignment is done",
    )
    return (error,)


def _in_use(
    plan: DeletionPlan, present: Sequence[str], consumers: Mapping[str, Sequence[str]]
) -> tuple[KadminError, ...]:
    used = [f"{topic} ({name_some(consumers[topic])})" for topic in present if consumers.get(topic)]
    if not used or plan.allow_active_consumers:
        return ()
    return (_waive(BusyError, f"Consumer groups use {name_some(used)}.", "active_consumers: true"),)


def _offline(plan: DeletionPlan, present: Sequence[str], state: ClusterState) -> tuple[KadminError, ...]:
    held = {
        topic: sorted({b for replicas in state.topics[topic].replicas.values() for b in replicas} - set(state.brokers))
        for topic in present
    }
    offline = [f"{topic} (broker {name_some(brokers)})" for topic, brokers in held.items() if brokers]
    if not offline or plan.allow_offline_replicas:
        return ()
    what = f"Replicas on brokers that are not alive: {name_some(offline)}; live copies would be destroyed at once."
    return (_waive(StalePlanError, what, "offline_replicas: true"),)


def _waive(kind: type[KadminError], what: str, waiver: str) -> KadminError:
    return kind(what, cause="a deletion guard", next_command=f"to delete all the same, set spec.allow.{waiver}")
