"""Rules on the states of both sides.

They say whether a cluster can go on to KRaft, or back, and what would be lost. Findings that stop
the migration have the severity error. Facts about Kafka 3.9 in docs/migration.md are proved live.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kadmin.cluster.model import MigrationPhase
from kadmin.cluster.names import MIGRATION_SETTING, escaped
from kadmin.insight.diagnosis.finding import Finding, MigrationTrouble, Trouble
from kadmin.next_step import command
from kadmin.wording import count, name_some
from kadmin.worlds.zookeeper.znodes.admin import (
    DELETE_TOPICS,
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
)
from kadmin.worlds.zookeeper.znodes.consumers import CONSUMERS
from kadmin.worlds.zookeeper.znodes.controller import CONTROLLER, MIGRATION
from kadmin.worlds.zookeeper.znodes.topics import TOPICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.worlds.zookeeper.doctor.evidence import AdminLook
    from kadmin.worlds.zookeeper.migration import MigrationNodes

PROTOCOL = "inter.broker.protocol.version"
SETTINGS = (PROTOCOL, MIGRATION_SETTING)
"""The settings of brokers that the rules read."""
EVERYBODY = "world:anyone"
_OLDEST = (3, 4)
_NUMBERS = re.compile(r"([0-9]+)\.([0-9]+)")
_SHOWN = 5
_STOPS = frozenset(
    {
        Trouble.MISSING_BROKERS,
        Trouble.OFFLINE_PARTITIONS,
        Trouble.UNDER_MIN_ISR,
        Trouble.STUCK_DELETION,
        Trouble.UNFINISHED_OPERATION,
    }
)
"""Troubles that stop the migration, though they do not stop an apply."""


@dataclass(frozen=True, slots=True)
class MigrationEvidence:
    """The states of both sides.

    `zookeeper_state` is the state in ZooKeeper, `kraft_state` that of the brokers. `settings` are
    SETTINGS by broker. `writers` has the identities that may write each znode that controllers
    write; EVERYBODY may be one. `old_groups` keep offsets in ZooKeeper. `late_operations` were
    recorded in ZooKeeper after a KRaft controller had taken over; `not_carried` are on record there
    alone. `differences` were seen in two readings, some seconds apart.
    """

    phase: MigrationPhase
    nodes: MigrationNodes
    admin: AdminLook
    zookeeper_state: ClusterState
    kraft_state: ClusterState
    settings: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    writers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    old_groups: tuple[str, ...] = ()
    late_operations: tuple[str, ...] = ()
    not_carried: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()

    @property
    def served(self) -> ClusterState:
        """The state of the side whose controller leads in this phase."""
        return self.zookeeper_state if self.phase.led_by_broker else self.kraft_state


def diagnose_migration(
    evidence: MigrationEvidence, found: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    """Return the findings of the migration, and those of `doctor`, `found`, that repeat none."""
    own = (
        *_pending(evidence),
        *_moves(evidence),
        *_brokers(evidence),
        *_partitions(evidence),
        *_left_over(evidence),
        *_clients(evidence),
        *_sides(evidence),
    )
    said = {
        (Trouble.FOREIGN_NODE, each.znode)
        for each in own
        if each.code is MigrationTrouble.PENDING_REQUEST
    }
    if any(each.code is MigrationTrouble.HISTORY_BEHIND for each in own):
        # The brokers' record does not have the operations of moves yet.
        said |= {(Trouble.FOREIGN_MOVE, each.znode) for each in found}
    others = (each for each in found if (each.code, each.znode) not in said)
    return (
        *own,
        *(replace(each, severity="error") if each.code in _STOPS else each for each in others),
    )


def stays_behind(evidence: MigrationEvidence) -> tuple[str, ...]:
    """Return the data that stays in ZooKeeper after the migration."""
    if evidence.phase is not MigrationPhase.FINALIZED:
        return ()
    topics = count(len(evidence.zookeeper_state.topics), "topic")
    kept = (
        f"{TOPICS} and {CONTROLLER}, as they were written last: {topics}, and nobody follows them"
    )
    return (kept, *(f"no longer true: {each}" for each in evidence.differences))


def _pending(evidence: MigrationEvidence) -> Iterator[Finding]:
    admin, before = evidence.admin, evidence.phase.led_by_broker
    if evidence.phase is MigrationPhase.FINALIZED:  # there is no way back
        return
    pending = {
        REASSIGN_PARTITIONS: admin.reassignment is not None
        and not (before and _has_begun(evidence.zookeeper_state)),
        PREFERRED_REPLICA_ELECTION: admin.election is not None,
        DELETE_TOPICS: bool(admin.deletions),
    }
    for path in (path for path, requested in pending.items() if requested):
        asked = name_some(map(escaped, admin.deletions)) if path == DELETE_TOPICS else path
        if before:
            what = (
                f"is pending in {path}. KRaft controllers never read it: requests that have not "
                "begun by then are lost."
            )
            next_step = "wait until it is gone: " + command("inspect admin")
        else:
            what = (
                f"stays in {path}: nothing reads it in this phase, and a rollback of the "
                "migration would execute it."
            )
            next_step = (
                "delete it with zookeeper-shell, and apply a plan through the brokers: "
                + command("apply", "FILE", "-b", "BROKERS")
            )
        yield Finding(
            MigrationTrouble.PENDING_REQUEST,
            f"A request {what}",
            next_step,
            severity="error" if before else "warning",
            znode=path,
            evidence=(f"pending: {asked}",),
        )


def _has_begun(state: ClusterState) -> bool:
    """Whether every entry of the pending reassignment is in flight, and so in the topics' state."""
    request = state.requests.reassignment
    return request is not None and request.entries is not None and not request.not_begun


def _moves(evidence: MigrationEvidence) -> Iterator[Finding]:
    state = evidence.served
    moving = sorted(
        f"{topic.name}-{number}"
        for topic in state.topics.values()
        for number in topic.adding_replicas.keys() | topic.removing_replicas.keys()
    )
    if moving:
        yield Finding(
            MigrationTrouble.MOVES_IN_FLIGHT,
            f"{count(len(moving), 'partition')} are being moved. Moves continue in every phase, "
            "at their throttle.",
            "wait until they are done, or pause the operation that asked for them: "
            + command("pause"),
            severity="warning",
            znode=TOPICS,
            evidence=(name_some(moving),),
        )


def _brokers(evidence: MigrationEvidence) -> Iterator[Finding]:
    protocols = {
        broker: found[PROTOCOL] for broker, found in evidence.settings.items() if PROTOCOL in found
    }
    old = sorted(broker for broker, each in protocols.items() if _version(each) < _OLDEST)
    if evidence.phase.led_by_broker and (old or len(set(protocols.values())) > 1):
        yield Finding(
            MigrationTrouble.WRONG_PROTOCOL,
            f"Brokers need one {PROTOCOL}, that of Kafka 3.4 or later"
            + (f"; older: brokers {name_some(old)}." if old else "."),
            f"set {PROTOCOL} in every broker's properties file to its own version, and restart "
            "brokers one by one",
            evidence=tuple(
                f"broker {broker}: {each}" for broker, each in sorted(protocols.items())[:_SHOWN]
            ),
        )
    enabled = {
        broker
        for broker, found in evidence.settings.items()
        if found.get(MIGRATION_SETTING) == "true"
    }
    waiting = (
        sorted(evidence.settings.keys() - enabled)
        if evidence.phase is MigrationPhase.CONTROLLERS
        else []
    )
    if enabled and waiting:
        yield Finding(
            MigrationTrouble.HALF_RESTARTED,
            "Some brokers have the settings of the migration, and others do not: "
            f"{name_some(waiting)}.",
            f"restart them with {MIGRATION_SETTING}=true and the controllers' settings, or the "
            "others without",
            severity="warning",
            evidence=(f"brokers with {MIGRATION_SETTING}=true: {name_some(sorted(enabled))}",),
        )
    left = sorted(evidence.nodes.brokers)
    if evidence.phase is MigrationPhase.DUAL_WRITE and (
        ahead := sorted(set(evidence.kraft_state.brokers) - set(left))
    ):
        yield Finding(
            MigrationTrouble.HALF_RESTARTED,
            "Some brokers are in KRaft mode, and others still in ZooKeeper mode: "
            f"{name_some(left)}.",
            "restart them in KRaft mode, or the others in ZooKeeper mode",
            severity="warning",
            evidence=(f"brokers in KRaft mode: {name_some(ahead)}",),
        )


def _partitions(evidence: MigrationEvidence) -> Iterator[Finding]:
    state = evidence.served
    behind = sorted(
        p for p, found in state.states.items() if len(found.isr) < len(_settled(p, state))
    )
    if behind:
        yield Finding(
            MigrationTrouble.UNDER_REPLICATED,
            f"Replicas are not in sync: {name_some(behind)}. Each phase restarts every server.",
            "wait until they are, or start the brokers that are away: "
            + command("inspect partitions"),
            znode=TOPICS,
            evidence=tuple(
                f"{p}: ISR {list(state.states[p].isr)}, of {list(state.replicas(p) or ())}"
                for p in behind
            )[:_SHOWN],
        )
    without = (
        sorted(set(state.assignment) - state.states.keys()) if evidence.phase.led_by_broker else []
    )
    if without:
        yield Finding(
            MigrationTrouble.NO_STATE,
            f"Partitions have no leader and no state yet: {name_some(without)}.",
            "find out why the controller does not take them up: " + command("doctor"),
            znode=TOPICS,
            evidence=(f"{count(len(without), 'partition')} without a state znode",),
        )


def _settled(partition: TopicPartition, state: ClusterState) -> frozenset[int]:
    """Return the replicas of a partition but for those that a move is about to add."""
    topic = state.topics.get(partition.topic)
    if topic is None:
        return frozenset()
    adding = topic.adding_replicas.get(partition.partition, ())
    return frozenset(topic.replicas.get(partition.partition, ())) - set(adding)


def _left_over(evidence: MigrationEvidence) -> Iterator[Finding]:
    nodes = evidence.nodes
    migration, controller = nodes.migration, nodes.controller
    if not evidence.phase.led_by_broker:
        return
    if migration is not None and (
        migration.kraft_controller_id >= 0 or migration.metadata_offset >= 0
    ):
        yield Finding(
            MigrationTrouble.LEFTOVER_MIGRATION,
            f"{MIGRATION} is left from an earlier attempt: a broker is the controller again, and "
            "new KRaft controllers would continue from this state.",
            f"stop the KRaft controllers, and delete {MIGRATION} with zookeeper-shell before they "
            "start anew",
            znode=MIGRATION,
            evidence=(
                (
                    f"controller {migration.kraft_controller_id}, metadata offset "
                    f"{migration.metadata_offset}"
                ),
            ),
        )
    if controller is not None and controller.session_id == 0:
        yield Finding(
            MigrationTrouble.PERSISTENT_CONTROLLER,
            f"{CONTROLLER} is persistent, and names no KRaft controller: no broker can become the "
            "controller.",
            f"delete {CONTROLLER} with zookeeper-shell; the brokers then elect one",
            znode=CONTROLLER,
            evidence=(f"it names broker {controller.broker_id}, and no session holds it",),
        )
    yield from _acls(evidence)


def _acls(evidence: MigrationEvidence) -> Iterator[Finding]:
    closed = {path: who for path, who in evidence.writers.items() if EVERYBODY not in who}
    if closed and not frozenset.intersection(*closed.values()):
        yield Finding(
            MigrationTrouble.UNEVEN_ACLS,
            "No single user may write every znode that a KRaft controller writes: the migration "
            "would stop half-way.",
            "give the controllers' user all rights on these znodes, with setAcl -R of "
            "zookeeper-shell",
            znode=min(closed),
            evidence=tuple(
                f"{path}: {name_some(map(escaped, sorted(who)))}"
                for path, who in sorted(closed.items())
            ),
        )


def _clients(evidence: MigrationEvidence) -> Iterator[Finding]:
    if evidence.old_groups:
        yield Finding(
            MigrationTrouble.OLD_CONSUMERS,
            "Consumer groups will lose their offsets, which are in ZooKeeper: "
            f"{name_some(evidence.old_groups)}.",
            f"move them to clients of 0.9 or later; or delete {CONSUMERS}/GROUP with "
            "zookeeper-shell",
            severity="warning",
            znode=CONSUMERS,
            evidence=(count(len(evidence.old_groups), "group"),),
        )
    if evidence.late_operations:
        yield Finding(
            MigrationTrouble.ZNODE_WRITER,
            "kadmin was still run through ZooKeeper after a KRaft controller took over.",
            "find the job that ran it, and replace ZooKeeper's address by the brokers': -b BROKERS",
            severity="warning",
            evidence=(f"operations on record: {name_some(evidence.late_operations)}",),
        )
    if evidence.not_carried and evidence.phase in {
        MigrationPhase.KRAFT_BROKERS,
        MigrationPhase.FINALIZED,
    }:
        yield Finding(
            MigrationTrouble.HISTORY_BEHIND,
            f"{count(len(evidence.not_carried), 'operation')} are on record in ZooKeeper alone.",
            command("history import"),
            severity="warning",
            evidence=(name_some(evidence.not_carried),),
        )


def _sides(evidence: MigrationEvidence) -> Iterator[Finding]:
    if evidence.differences and evidence.phase is not MigrationPhase.FINALIZED:
        yield Finding(
            MigrationTrouble.SIDES_DIFFER,
            "ZooKeeper and the brokers do not have the same metadata.",
            command("doctor migration")
            + ", again in a minute; if it stays, read the controllers' logs",
            znode=TOPICS,
            evidence=evidence.differences[:_SHOWN],
        )


def _version(text: str) -> tuple[int, int]:
    found = _NUMBERS.match(text)
    return (0, 0) if found is None else (int(found[1]), int(found[2]))
