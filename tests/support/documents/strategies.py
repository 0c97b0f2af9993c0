"""Hypothesis strategies for valid documents of every kind."""

from __future__ import annotations

from hypothesis import strategies as st

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import INTERNAL_TOPICS
from kadmin.plan.codes import TABLE
from kadmin.plan.hours import Window
from kadmin.plan.model import (
    UNTHROTTLED,
    CpuWeights,
    DeletionLayout,
    DeletionPlan,
    Elect,
    ElectionPlan,
    FreeBytes,
    GrowthPlan,
    HoursOfLoad,
    HoursSpec,
    LeastGain,
    LoadSpec,
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
    Switch,
    ThrottleBy,
    ThrottleSpec,
    TopicGrowth,
    TopicRecipe,
    WaveLimits,
    WaveOrder,
    ZonePrices,
)

NAMES = st.sampled_from(
    [
        "no",
        "on",
        "null",
        "1.0",
        "0123",
        "1e3",
        "0x1F",
        "1_000",
        "2024-01-01",
        "y",
        "true",
        "-a",
        "a..b",
    ]
)
topics = st.one_of(NAMES, st.from_regex(r"\A[a-zA-Z0-9._-]{1,249}\Z")).filter(
    lambda name: name not in {".", ".."}
)
ids = st.integers(0, 2**31 - 1)
amounts = st.integers(1, 2**63 - 1)
replicas = st.lists(ids, min_size=1, max_size=5, unique=True).map(tuple)
partitions = st.builds(TopicPartition, topics, ids)
patterns = st.sampled_from(["*", "__*", "orders-*", "no", "a?c", "[ab]x", "123"])
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)
labels = st.dictionaries(st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._/-]{0,20}\Z"), texts, max_size=3)
headers = st.builds(
    PlanHeader,
    name=st.none() | st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,20}\Z"),
    cluster_id=st.none() | st.from_regex(r"\A[A-Za-z0-9_-]{1,22}\Z"),
    description=st.none() | texts,
    labels=labels,
)


_log_dirs = st.sampled_from(["any", "/data/a", "/data/b c", '/"d"', "/"])


@st.composite
def _reassignments(draw: st.DrawFn) -> tuple[PartitionTarget, ...]:
    wished = draw(st.lists(partitions, max_size=6, unique=True))
    targets = [draw(replicas) for _ in wished]
    currents = [draw(st.none() | st.permutations(target).map(tuple)) for target in targets]
    sizes = [draw(st.none() | st.integers(0, 2**40)) for _ in wished]
    log_dirs = [draw(st.none() | st.tuples(*[_log_dirs for _ in target])) for target in targets]
    rows = zip(wished, targets, currents, sizes, log_dirs, strict=True)
    return tuple(PartitionTarget(*row) for row in rows)


_times = st.integers(0, 24 * 60 - 1)
_windows = st.builds(Window, st.integers(0, 6), st.integers(0, 6), _times, _times)
_outside = st.just(0) | st.integers(1, 10**9 - 1)
_hours = st.builds(
    HoursSpec,
    within=st.lists(_windows, min_size=1, max_size=3).map(tuple),
    zone=st.sampled_from(["Europe/Berlin", "UTC", "Etc/GMT+12", "America/Port-au-Prince"]),
    outside=_outside,
) | st.builds(
    HoursSpec,
    quiet=st.floats(0.001, 0.999),
    folder=st.sampled_from(["load", "../load-2026", "no", "1.0"]),
    outside=_outside,
)
reassignment_plans = st.builds(
    ReassignmentPlan,
    headers,
    _reassignments(),
    throttle=st.none()
    | st.just(UNTHROTTLED)
    | st.builds(
        ThrottleSpec,
        st.sampled_from([by for by in ThrottleBy if by is not ThrottleBy.NONE]),
        st.integers(1, 10**9 - 1),
        disks=st.none() | st.integers(1, 10**9 - 1),
    ),
    limits=st.builds(
        WaveLimits,
        max_partitions=st.integers(1, 10_000),
        max_moves_per_broker=st.none() | st.integers(1, 1000),
        max_bytes=st.none() | st.integers(2**50, 2**60),
        max_payload=st.integers(4096, 10**6),
    ),
    elect=st.sampled_from(Elect),
    order=st.sampled_from(WaveOrder),
    hours=st.none() | _hours,
    allow_replication_factor_change=st.booleans(),
    allow_fewer_racks=st.booleans(),
    allow_without_source=st.booleans(),
    allow_topics_deleted=st.booleans(),
    allow_failed_disks=st.booleans(),
    moves_per_disk=st.integers(1, 3),
    disk_fill=st.sampled_from([0.5, 0.9, 1.0]),
)
election_plans = st.one_of(
    st.builds(
        ElectionPlan, headers, partitions=st.lists(partitions, unique=True, max_size=5).map(tuple)
    ),
    st.builds(
        ElectionPlan,
        headers,
        topics=st.lists(topics, min_size=1, unique=True, max_size=5).map(tuple),
    ),
    st.builds(ElectionPlan, headers, all_partitions=st.just(value=True)),
)
deletion_plans = st.builds(
    DeletionPlan,
    headers,
    st.lists(topics, min_size=1, max_size=5, unique=True).map(tuple),
    layout=st.sampled_from(DeletionLayout),
    allow_internal=st.booleans(),
    allow_protected=st.booleans(),
    allow_active_consumers=st.booleans(),
    allow_offline_replicas=st.booleans(),
    allow_deletion_disabled=st.booleans(),
    allow_unchecked_guards=st.booleans(),
    allow_more_than=st.integers(5, 100),
)
config_names = st.sampled_from(
    ["retention.ms", "cleanup.policy", "min.insync.replicas", "on", "null"]
)
topic_recipes = st.builds(
    TopicRecipe,
    topics,
    st.lists(replicas, min_size=1, max_size=3).map(lambda lists: dict(enumerate(lists))),
    st.dictionaries(config_names, texts, max_size=2),
)
recreation_plans = st.builds(
    RecreationPlan,
    headers,
    st.lists(topic_recipes, min_size=1, max_size=3, unique_by=lambda r: r.topic).map(tuple),
)
topic_growths = st.integers(1, 3).flatmap(
    lambda factor: st.builds(
        TopicGrowth,
        topics.filter(lambda name: name not in INTERNAL_TOPICS),
        st.integers(1, 2**20),
        st.lists(
            st.lists(ids, min_size=factor, max_size=factor, unique=True).map(tuple),
            min_size=1,
            max_size=3,
        ).map(tuple),
    )
)
growth_plans = st.builds(
    GrowthPlan,
    headers,
    st.lists(topic_growths, max_size=3, unique_by=lambda growth: growth.topic).map(tuple),
    allow_keys_move=st.booleans(),
)
policies = st.builds(
    Policy,
    headers,
    codes=st.dictionaries(st.sampled_from(sorted(TABLE)), st.sampled_from(Switch), max_size=3),
    deny=st.lists(patterns, max_size=3).map(tuple),
    allow=st.lists(patterns, max_size=3).map(tuple),
    max_topics=st.none() | st.integers(1, 100),
)
_few_ids = st.lists(st.integers(0, 50), unique=True, max_size=4).map(tuple)
_limits = st.builds(
    ProposalLimits,
    max_moves=st.none() | ids,
    max_bytes=st.none() | amounts,
    max_bytes_in_per_broker=st.none() | amounts,
    max_order_changes=st.none() | ids,
)
_surplus = st.none() | ids | st.sampled_from([0.0, 0.02, 0.5, 2.2])
_weights = st.floats(0.001, 1000.0)
_loads = st.builds(
    LoadSpec,
    st.sampled_from(["load", "../load-2026", "/var/lib/kadmin/load", "no", "1.0"]),
    most_in=st.floats(1, 1000),
    most_out=st.floats(1, 1000),
    cpu=st.none()
    | st.builds(CpuWeights, _weights, st.just(0.0) | _weights, st.just(0.0) | _weights),
    hours=st.sampled_from(HoursOfLoad),
    zones=st.none()
    | st.builds(
        ZonePrices,
        _weights,
        st.sampled_from(["USD", "no", "1.0"]),
        st.just({}) | st.just({"r1": 0.25, "no": 0.75}),
        st.just({}) | st.just({"r1": 1.0}),
        st.booleans(),
    ),
)
_evening_load = st.builds(
    RebalanceRequest,
    headers,
    limits=st.builds(ProposalLimits, load_moves=_surplus, load_leader_changes=_surplus),
    leaders_only=st.booleans(),
    load=_loads,
    only_if=st.none()
    | st.builds(OnlyIf, st.sampled_from([LeastGain.NOISE, 0.0, 0.05, 0.125, 1.0])),
)
_freeing = st.builds(
    RebalanceRequest, headers, limits=_limits, free=st.builds(FreeBytes, ids, amounts)
)
rebalance_requests = (
    _freeing
    | _evening_load
    | st.builds(
        RebalanceRequest,
        headers,
        no_receive=_few_ids,
        never_lead=_few_ids,
        drain=_few_ids,
        substitute=st.dictionaries(st.integers(51, 60), st.integers(61, 70), max_size=3),
        even=st.booleans(),
        weights=st.dictionaries(ids, st.floats(0.001, 1000.0), max_size=3),
        include_topics=st.lists(patterns, min_size=1, max_size=3).map(tuple),
        exclude_topics=st.lists(patterns, max_size=3).map(tuple),
        replication_factor=st.dictionaries(patterns, st.integers(1, 5), max_size=2),
        broker_sets=st.dictionaries(patterns, replicas, max_size=2),
        pins=st.lists(
            st.builds(Pin, partitions, st.just((100, 101))),
            max_size=2,
            unique_by=lambda p: p.partition,
        ).map(tuple),
        racks=st.one_of(st.sampled_from(Racks), st.builds(RackFloor, st.integers(2, 5))),
        bytes_tolerance=st.sampled_from([0.0, 0.02, 0.025, 0.1, 1.0]),
        limits=_limits,
    )
)
documents = st.one_of(
    reassignment_plans,
    election_plans,
    deletion_plans,
    recreation_plans,
    growth_plans,
    rebalance_requests,
    policies,
)
