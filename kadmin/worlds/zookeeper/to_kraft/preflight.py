"""Reads both sides of a cluster for `doctor migration`; nothing is written."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING

from kadmin.errors import KadminError, StalePlanError, UnreachableError
from kadmin.insight.diagnosis.doctor_report import Preflight
from kadmin.next_step import command
from kadmin.worlds.kafka.doctor import diagnose as by_api
from kadmin.worlds.kafka.doctor import gather as kafka_doctor
from kadmin.worlds.kafka.reader import read_quorum, read_without_controllers
from kadmin.worlds.kafka.wire.configs import read_settings
from kadmin.worlds.zookeeper.doctor import diagnose as through_zookeeper
from kadmin.worlds.zookeeper.doctor import gather as zookeeper_doctor
from kadmin.worlds.zookeeper.doctor.evidence import STAYS_S
from kadmin.worlds.zookeeper.reader import consumer_groups, read_migration, read_tolerantly
from kadmin.worlds.zookeeper.to_kraft.diagnose import (
    SETTINGS,
    MigrationEvidence,
    diagnose_migration,
    stays_behind,
)
from kadmin.worlds.zookeeper.to_kraft.differences import differences
from kadmin.worlds.zookeeper.wire.znode_reader import ZnodeReader
from kadmin.worlds.zookeeper.znodes.admin import ADMIN
from kadmin.worlds.zookeeper.znodes.brokers import BROKER_IDS
from kadmin.worlds.zookeeper.znodes.configs import CONFIG
from kadmin.worlds.zookeeper.znodes.controller import CONTROLLER, CONTROLLER_EPOCH, MIGRATION
from kadmin.worlds.zookeeper.znodes.topics import TOPICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import ClusterState, MigrationPhase
    from kadmin.insight.diagnosis.finding import Finding
    from kadmin.worlds.kafka.context import KafkaContext
    from kadmin.worlds.zookeeper.context import ZooKeeperContext
    from kadmin.worlds.zookeeper.model import Acl

_WRITTEN = (
    CONTROLLER,
    CONTROLLER_EPOCH,
    MIGRATION,
    ADMIN,
    BROKER_IDS,
    TOPICS,
    CONFIG,
    f"{CONFIG}/topics",
)
"""Znodes that a KRaft controller writes, or writes below; topics are checked one by one."""
_MAY_WRITE = 0b110
"""ZooKeeper's permissions to write a znode and to create one below it."""


def examine_migration(zookeeper: ZooKeeperContext, kafka: KafkaContext) -> Preflight:
    """Examine both sides.

    Raises StalePlanError where they are of two clusters, and UnreachableError where one does not
    answer.
    """
    store = zookeeper.store
    store.sync("/")
    source = ZnodeReader(store, tolerant=True)
    quorum, nodes = read_quorum(kafka.connection), read_migration(source)
    phase = nodes.phase(None if quorum is None else quorum.leader_epoch)
    zookeeper_state, kraft_state = read_tolerantly(source), _of_brokers(kafka, phase)
    require_one_cluster(zookeeper_state, kraft_state)
    settings, unanswered = _settings(kafka, kraft_state)
    writers, masked = _writers(zookeeper, zookeeper_state) if phase.led_by_broker else ({}, ())
    taken_over_ms = (
        math.inf
        if nodes.controller is None or not nodes.led_by_kraft
        else nodes.controller.since_ms
    )
    recorded = zookeeper.operations.listings()
    carried = {each.operation_id for each in kafka.operations.listings()}
    evidence = MigrationEvidence(
        phase,
        nodes,
        zookeeper_doctor.look_at_admin(source),
        zookeeper_state,
        kraft_state,
        settings,
        writers,
        _old_groups(zookeeper, zookeeper_state),
        tuple(each.operation_id for each in recorded if _ms(each.created_at) > taken_over_ms),
        tuple(each.operation_id for each in recorded if each.operation_id not in carried),
        _lasting_differences(zookeeper, kafka, phase, differences(zookeeper_state, kraft_state)),
    )
    found, unchecked = _of_doctor(zookeeper, kafka, phase)
    return Preflight(
        phase,
        diagnose_migration(evidence, found),
        stays_behind(evidence),
        (*unanswered, *masked, *unchecked),
    )


def require_one_cluster(zookeeper_state: ClusterState, kraft_state: ClusterState) -> None:
    """Raise StalePlanError where ZooKeeper and the brokers are of two clusters."""
    if zookeeper_state.cluster_id != kraft_state.cluster_id:
        raise StalePlanError(
            f"ZooKeeper belongs to cluster {zookeeper_state.cluster_id}, "
            f"and the brokers to cluster {kraft_state.cluster_id}.",
            next_step="name both sides of one cluster",
        )


def _of_doctor(
    zookeeper: ZooKeeperContext, kafka: KafkaContext, phase: MigrationPhase
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Return `doctor`'s findings through the side that is served in a phase, and missing checks."""
    if phase.led_by_broker:
        evidence = zookeeper_doctor.look_at_disks(zookeeper, zookeeper_doctor.gather(zookeeper))
        return through_zookeeper.diagnose(evidence), through_zookeeper.unchecked(evidence)
    seen = kafka_doctor.gather(kafka)
    return by_api.diagnose(seen), by_api.unchecked(seen)


def _of_brokers(kafka: KafkaContext, phase: MigrationPhase) -> ClusterState:
    """Read the state of the brokers.

    In phases led by a broker the controller is not asked: there may be none.
    """
    if phase.led_by_broker:
        return read_without_controllers(kafka.connection)
    return kafka.backend.read(with_configs=True)


def _lasting_differences(
    zookeeper: ZooKeeperContext, kafka: KafkaContext, phase: MigrationPhase, found: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the differences that a second look shows, too: either side may be a moment behind."""
    if not found:
        return ()
    zookeeper.clock.wait(STAYS_S)
    zookeeper.clock.stop_if_asked("nothing was changed", command("doctor migration"))
    zookeeper.store.sync("/")
    later = differences(
        read_tolerantly(ZnodeReader(zookeeper.store, tolerant=True)), _of_brokers(kafka, phase)
    )
    return tuple(each for each in found if each in later)


def _settings(
    kafka: KafkaContext, state: ClusterState
) -> tuple[Mapping[int, Mapping[str, str]], tuple[str, ...]]:
    found: dict[int, Mapping[str, str]] = {}
    unanswered = []
    for broker in sorted(state.brokers):
        try:
            found[broker] = read_settings(kafka.connection, broker, SETTINGS)
        except UnreachableError as error:
            unanswered.append(f"settings of broker {broker}: {error.message}")
    return found, tuple(unanswered)


def _writers(
    zookeeper: ZooKeeperContext, state: ClusterState
) -> tuple[dict[str, frozenset[str]], tuple[str, ...]]:
    """Return the writers of each znode that controllers write.

    Also return the znodes whose ACLs this client may not read.
    """
    source = ZnodeReader(zookeeper.store, tolerant=True)
    paths = [*_WRITTEN, *(f"{TOPICS}/{name}" for name in sorted(state.topics))]
    found = zip(paths, source.acl_many(paths), strict=True)
    masked = tuple(f"the ACL of {each.path}: {each.reason}" for each in source.unreadable)
    return {path: frozenset(_who(acl)) for path, acl in found if acl}, masked


def _who(acl: Iterable[Acl]) -> Iterable[str]:
    for each in acl:
        if each.permissions & _MAY_WRITE == _MAY_WRITE:
            user = each.credential.partition(":")[0] if each.scheme == "digest" else each.credential
            yield f"{each.scheme}:{user}"


def _old_groups(zookeeper: ZooKeeperContext, state: ClusterState) -> tuple[str, ...]:
    try:
        found = consumer_groups(zookeeper.store, state.topics)
    except KadminError:
        return ()
    return tuple(sorted({group for groups in found.values() for group in groups}))


def _ms(at: str) -> float:
    return datetime.fromisoformat(at).timestamp() * 1000
