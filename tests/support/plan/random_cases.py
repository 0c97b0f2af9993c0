"""Random small clusters, and random documents that fit them badly enough to break every rule now
and then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from support.cluster.states import cluster, moving, with_node

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.cluster.model import TopicPartition
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.hours import parse_window
from kadmin.plan.model import (
    DeletionPlan,
    DiskSpec,
    Elect,
    ElectionPlan,
    FailedDisks,
    FreeBytes,
    GrowthPlan,
    HoursSpec,
    LoadSpec,
    Only,
    OnlyIf,
    PartitionTarget,
    Pin,
    PlanHeader,
    Policy,
    ProposalLimits,
    RackFloor,
    Racks,
    ReassignmentPlan,
    RebalanceRequest,
    RecreationPlan,
    SignalLimit,
    ThrottleBy,
    ThrottleSpec,
    TopicGrowth,
    TopicRecipe,
    WaveLimits,
)
from kadmin.plan.signals import KnownSignals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.plan.model import Document

Value = TypeVar("Value")

TOPICS = ("orders", "a.b", "a_b", "_audit", "__consumer_offsets", "old")
UNKNOWN_BROKER = 9
PATHS = ("/a", "/b")


@dataclass(frozen=True, slots=True)
class Case:
    """A document, and the cluster that it meets."""

    state: ClusterState
    facts: ClusterFacts
    policy: Policy
    document: Document


def random_case(random: Random) -> Case:
    """Return one case."""
    state = _state(random)
    document = random.choice(_DOCUMENTS)(random, state)
    return Case(state, _facts(random, state), _policy(random), document)


def _chance(random: Random, percent: int) -> bool:
    return random.randrange(100) < percent


def _some(random: Random, values: Sequence[Value], most: int) -> tuple[Value, ...]:
    return tuple(random.sample(values, random.randint(0, min(most, len(values)))))


def _lists(random: Random, brokers: Sequence[int], most: int = 3) -> Replicas:
    return tuple(random.sample(brokers, random.randint(1, min(most, len(brokers)))))


def _state(random: Random) -> ClusterState:
    every = list(range(1, random.randint(2, 5) + 1))
    alive = [broker for broker in every if _chance(random, 88)] or every[:1]
    rackless = random.choice(((), (2,), every))
    topics = random.sample(TOPICS, random.randint(1, 4))
    lists = {
        f"{topic}-{number}": _lists(random, every)
        for topic in topics
        for number in range(random.choice((1, 1, 2, 4)))
    }
    states = {
        name: (random.choice([*replicas, -1]), _lists(random, replicas))
        for name, replicas in lists.items()
        if _chance(random, 25)
    }
    state = cluster(
        lists,
        brokers={broker: None if broker in rackless else f"r{broker % 3}" for broker in alive},
        states=states,
    )
    state = replace(state, cluster_id=random.choice(("one", "one", None)))
    if _chance(random, 30):
        state = replace(
            state, topic_configs={topic: {"min.insync.replicas": "2"} for topic in topics}
        )
    return _pending(random, state, list(lists))


def _pending(random: Random, state: ClusterState, names: Sequence[str]) -> ClusterState:
    if _chance(random, 10):
        entries = {name: _lists(random, list(range(1, 6))) for name in random.sample(names, 1)}
        state = with_node(state, random.choice((entries, entries, None)))
    if _chance(random, 8):
        state = moving(state, random.choice(names), adding=(random.randint(1, 5),))
    if _chance(random, 12):
        state = with_node(state, {}, election=True)
    if _chance(random, 10):
        state = replace(state, requests=replace(state.requests, deletions=_some(random, TOPICS, 2)))
    return state


def _facts(random: Random, state: ClusterState) -> ClusterFacts:
    known = random.choice((100, 100, 60))
    used = [topic for topic in TOPICS if _chance(random, 30)]
    return ClusterFacts(
        consumers=dict.fromkeys(used, ("billing",)),
        sizes={
            partition: random.choice((10, 2_000))
            for partition in state.assignment
            if _chance(random, known)
        },
        capacities={
            broker: random.choice((1_000, 9_000)) for broker in state.brokers if _chance(random, 20)
        },
        usable={
            broker: random.choice((1_000, 9_000, None))
            for broker in state.brokers
            if _chance(random, 20)
        },
        deletion_enabled=_chance(random, 85),
        topics_create_themselves=random.choice((True, False, None)),
        unavailable=("groups were not seen",) if _chance(random, 15) else (),
        signals=random.choice((None, KnownSignals(), KnownSignals("prod", {"p99": "s"}))),
        from_brokers=_chance(random, 50),
        **_disks(random, state),
    )


def _disks(random: Random, state: ClusterState) -> dict[str, Any]:
    """Return two disks for each live broker, and the replicas on them; nothing in most cases."""
    if _chance(random, 60):
        return {}
    states = [*[DiskState.ONLINE] * 6, DiskState.CORDONED, DiskState.FAILED]
    disks = {
        broker: tuple(Disk(broker, path, state=random.choice(states)) for path in PATHS)
        for broker in sorted(state.brokers)
        if _chance(random, 90)
    }
    replicas: dict[int, list[DiskReplica]] = {broker: [] for broker in disks}
    for partition, brokers in sorted(state.assignment.items()):
        for broker in brokers:
            if broker in disks:
                path = random.choice(PATHS)
                replicas[broker].append(DiskReplica(partition, broker, path, 10))
    if not any(replicas.values()):  # a snapshot has no table without a row
        return {}
    return {
        "disks": disks,
        "replicas": {broker: tuple(found) for broker, found in replicas.items()},
        "disks_unavailable": ("broker 9 did not answer",) if _chance(random, 20) else (),
    }


def _policy(random: Random) -> Policy:
    if _chance(random, 50):
        return Policy()
    return Policy(
        deny=random.choice((("_*",), ("old",), ())),
        allow=random.choice((("*",), ("o*",))),
        max_topics=2,
    )


def _header(random: Random) -> PlanHeader:
    return PlanHeader(cluster_id=random.choice((None, None, None, None, "one", "other")))


def _partition(random: Random, state: ClusterState) -> TopicPartition:
    if _chance(random, 6):
        return TopicPartition(random.choice(TOPICS), random.randint(0, 4))
    return random.choice(sorted(state.assignment))


def _brokers(random: Random, state: ClusterState) -> Sequence[int]:
    """Return ids to choose from: mostly live ones."""
    known = sorted(
        {*state.brokers, *(broker for ids in state.assignment.values() for broker in ids)}
    )
    return (
        [*known, UNKNOWN_BROKER]
        if _chance(random, 8)
        else known
        if _chance(random, 30)
        else sorted(state.brokers)
    )


def _target(random: Random, state: ClusterState) -> PartitionTarget:
    partition = _partition(random, state)
    now = state.replicas(partition)
    current = random.choice((None, now, now, _lists(random, range(1, 6))))
    target = _lists(random, _brokers(random, state))
    if current is not None and _chance(random, 30):
        target = tuple(random.sample(current, len(current)))
    size_bytes = random.choice((None, None, 10, 5_000))
    named = len(target) if _chance(random, 95) else len(target) + 1
    log_dirs = tuple(random.choice(("any", *PATHS, "/c")) for _ in range(named))
    given = log_dirs if _chance(random, 20) else None
    return PartitionTarget(partition, target, current, size_bytes, given)


def _reassignment(random: Random, state: ClusterState) -> ReassignmentPlan:
    fixed, below = ThrottleSpec(ThrottleBy.RATE, 1_000), {"p99": SignalLimit("50ms")}
    following = replace(fixed, most=random.choice((None, 5_000, 5_000)), signals=below)
    throttles = (ThrottleSpec(ThrottleBy.FINISH_IN, 60), fixed, following)
    return ReassignmentPlan(
        _header(random),
        tuple(_target(random, state) for _ in range(random.randint(1, 5))),
        throttle=random.choice((None, None, *throttles)),
        limits=WaveLimits(max_bytes=random.choice((None, None, 1_000))),
        elect=random.choice((Elect.NONE, Elect.AT_END)),
        hours=_hours(random) if _chance(random, 15) else None,
        allow_replication_factor_change=_chance(random, 70),
        allow_fewer_racks=_chance(random, 70),
        allow_without_source=_chance(random, 70),
        allow_failed_disks=_chance(random, 70),
    )


def _hours(random: Random) -> HoursSpec:
    windows = tuple(map(parse_window, random.choice((("22:00-06:00", "sat-sun"), ("mon-sun",)))))
    zone = random.choice(("Europe/Berlin", "UTC", "Europe/Berln"))
    return HoursSpec(windows, zone, outside=random.choice((0, 500, 1_000)))


def _election(random: Random, state: ClusterState) -> ElectionPlan:
    scope = random.randrange(3)
    return ElectionPlan(
        _header(random),
        partitions=tuple(_partition(random, state) for _ in range(random.randint(1, 3)))
        if scope == 0
        else (),
        topics=_topics(random, state) if scope == 1 else (),
        all_partitions=scope == 2,
    )


def _topics(random: Random, state: ClusterState) -> tuple[str, ...]:
    pool = TOPICS if _chance(random, 15) else sorted(state.topics)
    topics = random.sample(pool, random.randint(1, min(3, len(pool))))
    return (*topics, topics[0]) if _chance(random, 4) else tuple(topics)


def _deletion(random: Random, state: ClusterState) -> DeletionPlan:
    return DeletionPlan(
        _header(random),
        _topics(random, state),
        allow_internal=_chance(random, 80),
        allow_protected=_chance(random, 70),
        allow_active_consumers=_chance(random, 70),
        allow_offline_replicas=_chance(random, 70),
        allow_deletion_disabled=_chance(random, 50),
        allow_unchecked_guards=_chance(random, 50),
        allow_more_than=random.choice((1, 3, 10)),
    )


def _recreation(random: Random, state: ClusterState) -> RecreationPlan:
    topics = random.sample(["new", "new_er", *TOPICS], random.randint(1, 2))
    recipes = (
        TopicRecipe(topic, {0: _lists(random, _brokers(random, state))}, {}) for topic in topics
    )
    return RecreationPlan(_header(random), tuple(recipes))


def _growth(random: Random, state: ClusterState) -> GrowthPlan:
    growths = []
    for topic in _topics(random, state):
        found = state.topics.get(topic)
        now, factor = (1, 1) if found is None else (len(found.replicas), len(found.replicas[0]))
        brokers = _brokers(random, state)
        lists = [
            tuple(random.sample(brokers, factor))
            if factor <= len(brokers) and _chance(random, 80)
            else _lists(random, brokers)
            for _ in range(random.randint(1, 2))
        ]
        growths.append(TopicGrowth(topic, now + _chance(random, 15), tuple(lists)))
    return GrowthPlan(_header(random), tuple(growths), allow_keys_move=_chance(random, 50))


def _request(random: Random, state: ClusterState) -> RebalanceRequest:
    """Return a request with few of its fields; with all of them at once nearly every one would be a
    contradiction.
    """
    patterns = ("orders", "a*", "*", "_*")
    plain = RebalanceRequest(
        _header(random),
        racks=random.choice((*Racks, RackFloor(2), RackFloor(4))),
        leaders_only=_chance(random, 8),
    )
    fields: dict[str, Callable[[], Any]] = {
        "drain": lambda: _some(random, _brokers(random, state), 2),
        "no_receive": lambda: _some(random, _brokers(random, state), 1),
        "never_lead": lambda: _some(random, _brokers(random, state), 1),
        "substitute": lambda: {
            each: random.choice(_brokers(random, state)) for each in _some(random, range(1, 6), 1)
        },
        "weights": lambda: dict.fromkeys(_some(random, _brokers(random, state), 1), 2.0),
        "exclude_topics": lambda: _some(random, patterns, 1),
        "replication_factor": lambda: {
            each: random.randint(1, 3) for each in _some(random, patterns, 2)
        },
        "broker_sets": lambda: {
            each: _lists(random, _brokers(random, state)) for each in _some(random, patterns, 2)
        },
        "pins": lambda: _pins(random, state),
        "limits": lambda: random.choice(
            (
                ProposalLimits(max_bytes=1_000),
                ProposalLimits(load_moves=1),
                ProposalLimits(disk_moves=1),
            )
        ),
        "load": lambda: LoadSpec("load"),
        "only_if": OnlyIf,
        "free": lambda: FreeBytes(random.choice(_brokers(random, state)), 10),
        "disks": lambda: _disk_spec(random, state),
        "only": lambda: Only.DISKS,
    }
    often = ("no_receive", "pins", "substitute", "substitute")
    chosen = {*random.sample([*sorted(fields), *often], random.choice((0, 1, 1, 2, 3)))}
    return replace(plain, **{name: fields[name]() for name in sorted(chosen)})


def _disk_spec(random: Random, state: ClusterState) -> DiskSpec:
    paths = (*PATHS, "/c") if _chance(random, 20) else PATHS

    def named() -> dict[int, tuple[str, ...]]:
        brokers = _some(random, _brokers(random, state), 1)
        return {each: tuple(random.sample(paths, random.randint(1, 2))) for each in brokers}

    return DiskSpec(
        drain=named(),
        no_receive=named(),
        weights={broker: dict.fromkeys(found, 2.0) for broker, found in named().items()},
        failed=random.choice((FailedDisks.MOVE, None, None)),
    )


def _pins(random: Random, state: ClusterState) -> tuple[Pin, ...]:
    count = random.randint(1, 2)
    return tuple(
        Pin(_partition(random, state), _lists(random, _brokers(random, state)))
        for _ in range(count)
    )


_DOCUMENTS: tuple[Callable[[Random, ClusterState], Document], ...] = (
    *(_reassignment, _reassignment, _reassignment),
    *(_election, _deletion, _deletion, _recreation, _growth),
    _request,
)
