"""Compares a reassignment plan with a cluster: the same list of waves that `apply` executes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from kadmin.cluster.names import RECORD_TOPIC
from kadmin.plan.directories import Directories, disk_moves, first_directories, is_placed
from kadmin.plan.disk_forecast import DiskForecasts, forecast
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.makespan import repack
from kadmin.plan.model import WaveOrder
from kadmin.plan.pairs import AtOnce, PairLimit
from kadmin.plan.progress import Progress, judge
from kadmin.plan.sources import lacks_source, with_source_size
from kadmin.plan.waves import copied_bytes, schedule
from kadmin.schema.shapes import Count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kadmin.cluster.capabilities import PublishLimits
    from kadmin.cluster.model import Assignment, ClusterState, TopicPartition
    from kadmin.plan.directories import DiskMove, FirstDirectories
    from kadmin.plan.model import PartitionTarget, ReassignmentPlan
    from kadmin.plan.waves import Wave


@dataclass(frozen=True, slots=True)
class BrokerLoad:
    """Replicas, preferred leaders and bytes of a broker.

    The bytes are None where a replica's size is unknown.
    """

    replicas: Annotated[Count, "Replicas held."]
    leaders: Annotated[Count, "Partitions whose preferred leader it is."]
    size_bytes: Annotated[Count | None, "Bytes held; null where the size of a replica is unknown."]


@dataclass(frozen=True, slots=True)
class PlanDiff:
    """Changes of a plan against one state of a cluster.

    `pending` are the reassignments still to publish, `current` filled in; `settled` are at their
    target already. `before` and `after` cover every broker that is alive or holds a replica of the
    topics that were read. `directories` are where the replicas of the plan are on their disks,
    `disks` the prediction of every disk that gets copies.
    """

    waves: tuple[Wave, ...]
    pending: tuple[PartitionTarget, ...]
    settled: tuple[TopicPartition, ...]
    before: Mapping[int, BrokerLoad]
    after: Mapping[int, BrokerLoad]
    directories: Directories = field(default_factory=Directories)
    disks: DiskForecasts = field(default_factory=DiskForecasts)

    @property
    def disk_moves(self) -> tuple[DiskMove, ...]:
        """The replicas that are not in the log directories that the plan names."""
        return disk_moves(self.pending, self.directories)

    @property
    def first_directories(self) -> FirstDirectories:
        """The log directories of now, of partitions for which the plan names some."""
        return first_directories(self.pending, self.directories)

    @property
    def replicas_added(self) -> int:
        """Copies that will be made."""
        return sum(len(target.added) for target in self.pending)

    @property
    def moved_bytes(self) -> int | None:
        """Bytes that the network will carry.

        None where the size of a partition that moves is unknown.
        """
        return copied_bytes(self.pending)


def diff(
    plan: ReassignmentPlan,
    state: ClusterState,
    publish: PublishLimits,
    facts: ClusterFacts | None = None,
) -> PlanDiff:
    """Compare plan and state; `publish` bounds the waves.

    The sizes of `facts` fill in where the plan gives none.
    """
    facts = facts or ClusterFacts()
    targets = [_complete(target, state, facts.sizes) for target in plan.reassignments]
    at_target = {Progress.DONE, Progress.SETTLED}
    named = {target.partition for target in targets if target.directories}
    directories = Directories.of(facts.disks, facts.replicas, named)
    pending = tuple(
        replace(target, current=target.replicas) if reached else target
        for target in targets
        for reached in [judge(target, state, published=False) in at_target]
        if not (reached and is_placed(target, directories))
    )
    moving = {target.partition for target in pending}
    held = state.assignment
    then = {**held, **{target.partition: target.replicas for target in pending}}
    brokers = sorted(
        {*state.brokers, *chain.from_iterable(held.values()), *chain.from_iterable(then.values())}
    )
    waves = _waves(plan, pending, state, facts, publish)
    return PlanDiff(
        waves=waves,
        pending=pending,
        settled=tuple(target.partition for target in targets if target.partition not in moving),
        before=loads_of(held, brokers, facts.sizes),
        after=loads_of(then, brokers, facts.sizes),
        directories=directories,
        disks=forecast([wave.reassignments for wave in waves], facts),
    )


def _waves(
    plan: ReassignmentPlan,
    pending: Sequence[PartitionTarget],
    state: ClusterState,
    facts: ClusterFacts,
    publish: PublishLimits,
) -> tuple[Wave, ...]:
    """Cut into waves as the plan's order asks.

    In plan order where the disks lack room for the shortest waves. The topic of kadmin's own record
    comes after the others, one partition in a wave: every step before it needs it whole. Partitions
    without a replica to copy from come last, and delay no others. Where a publish waits for the one
    before, a wave has as many copies of a pair of brokers as the plan allows at once.
    """
    waiting = [target for target in pending if lacks_source(target.partition, state)]
    able = (
        [target for target in pending if not lacks_source(target.partition, state)]
        if waiting
        else pending
    )
    ours = [target for target in able if target.partition.topic == RECORD_TOPIC]
    others = [target for target in able if target.partition.topic != RECORD_TOPIC] if ours else able
    pairs = _pairs(plan, state) if publish.waits else None
    in_order, *later = (
        schedule(group, plan.limits, publish, pairs)
        for group in (others, *([target] for target in ours), waiting)
    )
    if plan.order is WaveOrder.SHORTEST:
        shortest = repack(in_order, others, state, plan.limits, publish, pairs)
        if not forecast([wave.reassignments for wave in shortest], facts).shortages:
            in_order = shortest
    return tuple(replace(wave, index=index) for index, wave in enumerate(chain(in_order, *later)))


def _pairs(plan: ReassignmentPlan, state: ClusterState) -> PairLimit | None:
    most = None if plan.throttle is None else plan.throttle.at_once
    return None if most is None else PairLimit(AtOnce(most), state)


def _complete(
    target: PartitionTarget, state: ClusterState, sizes: Mapping[TopicPartition, int]
) -> PartitionTarget:
    current = target.current if target.current is not None else state.replicas(target.partition)
    return replace(with_source_size(target, state, sizes), current=current)


def loads_of(
    assignment: Assignment, brokers: Iterable[int], sizes: Mapping[TopicPartition, int]
) -> dict[int, BrokerLoad]:
    """Return the loads of brokers; bytes are None where the size of a replica is unknown."""
    replicas = Counter(chain.from_iterable(assignment.values()))
    leaders = Counter(ids[0] for ids in assignment.values() if ids)
    held: Counter[int] = Counter()
    unknown: set[int] = set()
    for partition, ids in assignment.items():
        if partition not in sizes:
            unknown.update(ids)
        for broker in ids:
            held[broker] += sizes.get(partition, 0)
    return {
        broker: BrokerLoad(
            replicas[broker], leaders[broker], None if broker in unknown else held[broker]
        )
        for broker in brokers
    }
