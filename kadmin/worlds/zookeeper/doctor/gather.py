"""Reads the evidence for `doctor`, several times seconds apart; nothing is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import BROKER_KIND, ConfigEntity
from kadmin.cluster.model import Listening
from kadmin.cluster.versions import NEWEST, OLDEST, KafkaVersions
from kadmin.errors import KadminError, NotAuthorizedError, NotCompletedError
from kadmin.insight.tables.admin_nodes import AdminSurvey, Effect, NodeSurvey
from kadmin.next_step import command
from kadmin.operations.reading.brokers import not_described, unused_copies
from kadmin.operations.reading.open_operations import lock_held, open_operation
from kadmin.worlds.zookeeper.doctor.admin_nodes import deletion_findings, read_node
from kadmin.worlds.zookeeper.doctor.admin_troubles import worst_effect
from kadmin.worlds.zookeeper.doctor.evidence import STAYS_S, AdminLook, ControllerSample, Evidence
from kadmin.worlds.zookeeper.listening import confirmed_listening
from kadmin.worlds.zookeeper.model import details_of
from kadmin.worlds.zookeeper.reader import configs_of, read_tolerantly, require_kafka_cluster
from kadmin.worlds.zookeeper.wire.znode_reader import ZnodeReader
from kadmin.worlds.zookeeper.znodes.admin import (
    ADMIN,
    DELETE_TOPICS,
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
)
from kadmin.worlds.zookeeper.znodes.configs import CONFIG, CONFIG_CHANGES
from kadmin.worlds.zookeeper.znodes.controller import (
    CONTROLLER,
    CONTROLLER_EPOCH,
    FEATURE,
    decode_controller,
    decode_controller_epoch,
)
from kadmin.worlds.zookeeper.znodes.notifications import (
    ISR_CHANGES,
    LOG_DIR_EVENTS,
    PRODUCER_ID_BLOCK,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kadmin.cluster.model import ClusterState
    from kadmin.cluster.versions import Version
    from kadmin.insight.diagnosis.operations import LockHeld, OpenOperation
    from kadmin.worlds.zookeeper.context import ZooKeeperContext
    from kadmin.worlds.zookeeper.model import ControllerNode

BETWEEN_SAMPLES_S = 1.0
_MORE_SAMPLES = 2
_BROKERS_S = 1.0
"""Seconds to look for a broker that answers: most findings need none."""
_WATCHED = (REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION)
IP_CONFIGS = "/config/ips"
# Each folder, the first version that makes it, and the last that does not. Brokers create their
# znodes at every start, so an absent one means that all brokers are older than it. Versions 1.0 to
# 2.6 cannot be distinguished until a controller of 2.4 or later has rewritten a topic znode.
_FOLDERS: tuple[tuple[str, Version, Version], ...] = (
    (PRODUCER_ID_BLOCK, (0, 11), (0, 10)),
    (LOG_DIR_EVENTS, (1, 0), (0, 11)),
    (FEATURE, (2, 7), (2, 6)),
    (IP_CONFIGS, (2, 8), (2, 7)),
)
TELLING_PATHS = tuple(path for path, _, _ in _FOLDERS)
_BY_TOPIC_FORMAT: dict[int, Version] = {2: (2, 4), 3: (2, 8)}


def gather(context: ZooKeeperContext) -> Evidence:
    """Read the evidence, whatever state the cluster is in; nothing is written.

    Takes two seconds on a healthy cluster, STAYS_S seconds where an admin node exists.
    """
    require_kafka_cluster(context.store)
    context.store.sync("/")
    source = ZnodeReader(context.store, tolerant=True)
    first, started = look_at_admin(source), context.clock.now()
    samples = [_sample(source)]
    while len(samples) <= (_MORE_SAMPLES + 1 if _unsteady(samples) else 1):
        _pause(context, BETWEEN_SAMPLES_S)
        samples.append(_sample(source))
    # The last controller is checked: one that was elected meanwhile may not watch either.
    asked = samples[-1].controller
    listening = _listening(context, asked)
    if first.reassignment or first.election or first.deletions:
        while (left := STAYS_S - (context.clock.now() - started)) > 0:
            _pause(context, left)
    context.store.sync("/")
    stayed_s = context.clock.now() - started
    last, state = look_at_admin(source), read_tolerantly(source)
    details = details_of(state)
    now = details.controller
    if asked is None or now is None or asked.session_id != now.session_id:
        listening = {}
    lock = _lock(context, source)
    evidence = Evidence(
        versions=versions_of(source, state),
        state=state,
        samples=tuple(samples),
        first=first,
        last=last,
        stayed_s=stayed_s,
        not_watching=_answering(listening, Listening.DEAF),
        listening=_answering(listening, Listening.LISTENING),
        root=context.paths.root,
        lock=lock,
        operations=_operations(context, source, state, lock),
        broker_configs=_broker_configs(source),
        notifications={
            path: len(source.children(path))
            for path in (CONFIG_CHANGES, ISR_CHANGES, LOG_DIR_EVENTS)
        },
    )
    return replace(
        evidence, state=replace(state, details=replace(details, unreadable=source.unreadable))
    )


def _broker_configs(source: ZnodeReader) -> Mapping[ConfigEntity, Mapping[str, str]]:
    names = source.children(f"{CONFIG}/{BROKER_KIND}")
    return configs_of(source, (ConfigEntity(BROKER_KIND, name) for name in names))


def _answering(listening: Mapping[str, Listening], wanted: Listening) -> frozenset[str]:
    return frozenset(path for path, answer in listening.items() if answer is wanted)


def look_at_disks(context: ZooKeeperContext, evidence: Evidence) -> Evidence:
    """Ask the brokers for the copies on their disks; nothing is written."""
    state = evidence.state
    if not state.brokers:
        return evidence
    try:
        disks = context.backend.brokers(state).log_dirs(state.brokers, bootstrap_s=_BROKERS_S)
        unused = unused_copies(state, disks.sizes)
        # A reassignment may have begun in the meantime: what is assigned now is used.
        if topics := {partition.topic for sizes in unused.values() for partition in sizes}:
            unused = unused_copies(context.backend.read(topics), disks.sizes)
    except KadminError as error:
        return replace(evidence, disks_unavailable=error.message)
    return replace(
        evidence,
        unused_copies=unused,
        held=disks.complete,
        disks=disks,
        disks_unavailable="; ".join(not_described(disks)),
    )


def versions_of(source: ZnodeReader, state: ClusterState) -> KafkaVersions:
    """Infer the versions of Kafka from the znodes of the brokers."""
    found = source.get_many(TELLING_PATHS)
    return infer_versions({node.path for node in found if node is not None}, state)


def survey_admin(context: ZooKeeperContext) -> AdminSurvey:
    """Read the admin nodes and their watches, and compare them with the cluster.

    Nothing is written.
    """
    require_kafka_cluster(context.store)
    context.store.sync("/")
    source = ZnodeReader(context.store, tolerant=True)
    seen, state = look_at_admin(source), read_tolerantly(source)
    versions, details = versions_of(source, state), details_of(state)
    listening = _listening(context, details.controller)
    denied = tuple(each.path for each in details.unreadable if each.denied)

    def node(path: str) -> NodeSurvey:
        znode = seen.node(path)
        reading = None if znode is None else read_node(znode, state)
        effect = Effect.OBEYED if reading is None else worst_effect(reading, versions)
        return NodeSurvey(
            path, reading, effect, listening.get(path, Listening.UNKNOWN), path in denied
        )

    return AdminSurvey(
        versions,
        node(REASSIGN_PARTITIONS),
        node(PREFERRED_REPLICA_ELECTION),
        DELETE_TOPICS,
        tuple((topic, deletion_findings(topic, state)) for topic in seen.deletions),
        None if seen.deletion_parent is None else seen.deletion_parent.data,
        denied,
    )


def look_at_admin(source: ZnodeReader) -> AdminLook:
    """Read the admin nodes and their ACLs."""
    reassignment, election, parent = source.get_many([*_WATCHED, DELETE_TOPICS])
    present = [ADMIN, *(node.path for node in (reassignment, election) if node is not None)]
    return AdminLook(
        reassignment,
        election,
        parent,
        source.children(DELETE_TOPICS),
        {path: source.acl(path) for path in present},
    )


def _sample(source: ZnodeReader) -> ControllerSample:
    controller, epoch = source.get_many([CONTROLLER, CONTROLLER_EPOCH])
    return ControllerSample(
        source.decode(decode_controller_epoch, epoch) or 0,
        source.decode(decode_controller, controller),
    )


def _unsteady(samples: list[ControllerSample]) -> bool:
    return len({sample.epoch for sample in samples}) > 1 or any(
        sample.controller is None for sample in samples
    )


def _listening(
    context: ZooKeeperContext, controller: ControllerNode | None
) -> dict[str, Listening]:
    if controller is None:
        return {}
    found = confirmed_listening(context.store, _WATCHED, controller, context.clock.wait)
    _stop_if_asked(context)
    return found


def _pause(context: ZooKeeperContext, seconds: float) -> None:
    context.clock.wait(seconds)
    _stop_if_asked(context)


def _stop_if_asked(context: ZooKeeperContext) -> None:
    # Readings that were cut short are not seconds apart, and prove nothing.
    context.clock.stop_if_asked("nothing was changed", command("doctor"))


def _lock(context: ZooKeeperContext, source: ZnodeReader) -> LockHeld | None:
    try:
        return lock_held(context)
    except NotAuthorizedError as error:
        source.leave_out(context.paths.lock, error)
        return None


def _operations(
    context: ZooKeeperContext, source: ZnodeReader, state: ClusterState, lock: LockHeld | None
) -> tuple[OpenOperation, ...]:
    try:
        return tuple(
            open_operation(context, listing, lock, state)
            for listing in context.operations.unfinished()
        )
    except (NotAuthorizedError, NotCompletedError) as error:
        source.leave_out(context.paths.operations, error)
    return ()


def infer_versions(present: Collection[str], state: ClusterState) -> KafkaVersions:
    """Infer from the TELLING_PATHS that exist, registrations, topic znodes and `/controller`."""
    lows, highs = [OLDEST], [NEWEST]
    for path, since, before in _FOLDERS:
        (lows if path in present else highs).append(since if path in present else before)
    lows += [(2, 7) for broker in state.brokers.values() if (broker.registration_version or 0) >= 5]  # noqa: PLR2004 - 2.7's
    lows += [
        _BY_TOPIC_FORMAT.get(topic.format_version or 1, OLDEST) for topic in state.topics.values()
    ]
    controller = details_of(state).controller
    if controller is not None:
        new = controller.kraft_epoch is not None
        (lows if new else highs).append((3, 4) if new else (3, 3))
    return KafkaVersions(max(lows), max(*lows, min(highs)))
