"""Compiles a request for one cluster into the kernel's problem.

It has the partitions that brokers may hold, receive, lead. A broker without a row, or with `alive`
false, is dead. It receives nothing, and partitions with a replica on it do not change (the
controller would wait for the dead broker without limit) until the request drains or substitutes it.
Partitions that are being reassigned do not change either, because their lists mix old and new
replicas. Nor do those without a live in-sync replica, which nothing can be copied from: they are
left out, on a drained broker, too.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kadmin.diagnostics import Diagnostic
from kadmin.globs import matches
from kadmin.plan import codes
from kadmin.plan.model import RackFloor, Racks
from kadmin.plan.rules import RequestScope, check_scope, refusal, require
from kadmin.planner.cluster_arrays import UNKNOWN, refuse_overflow
from kadmin.planner.disk_request import (
    disk_notes,
    groups_without,
    lost_replicas,
    may_get_replicas,
    paths_by_broker,
)
from kadmin.planner.kernel.placement_problem import (
    NO_LIMIT,
    NONE,
    Brokers,
    PlacementProblem,
    contains,
)
from kadmin.planner.rack_rules import on_racks, rack_caps, rack_indexes, relaxed
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kadmin.cluster.model import TopicPartition
    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.cluster_arrays import ClusterArrays
    from kadmin.planner.kernel.placement_problem import Bools, Ints

Value = TypeVar("Value")
_UNKNOWN = (codes.UNKNOWN_BROKER, codes.UNKNOWN_PARTITION, codes.NO_SUCH_LOG_DIR)


@dataclass(frozen=True, slots=True, eq=False)
class CompiledRequest:
    """The problem, and the names in the request that this cluster does not have.

    `unknown_names` are brokers, their log directories and pinned partitions as an error prints
    them; `notes` name partitions that the plan leaves out. `freed_broker` is the index of the
    broker of spec.free, or NONE. `spread` is the problem by whose racks the figures count rack
    violations: with a floor of racks the problem itself, else that under racks: relaxed, whatever
    the request says. `changeable` [P]: neither excluded nor kept by the state of the cluster; a
    partition that is pinned is. `lost` [P, W]: the replica leaves a failed disk.
    """

    problem: PlacementProblem
    spread: PlacementProblem
    freed_broker: int
    unknown_names: frozenset[str]
    notes: tuple[str, ...]
    changeable: Bools
    lost: Bools


def compile_request(
    cluster: ClusterArrays, request: RebalanceRequest, reassigning: Collection[TopicPartition] = ()
) -> CompiledRequest:
    """Compile a request for a cluster.

    `reassigning` are partitions that are being reassigned already. Raises InvalidInputError and
    InfeasibleError with the names concerned: those of kadmin.plan.rules.request, and those of what
    only the planner finds.
    """
    compiler = _Compiler(cluster, request, reassigning)
    unknown = compiler.refuse_by_rules()
    brokers = compiler.brokers()
    rf, lost = compiler.replication_factors(), lost_replicas(cluster, request)
    group, allowed = groups_without(cluster, lost, *compiler.groups())
    start, pinned = compiler.start(rf)
    rf[pinned] = (start[pinned] != NONE).sum(axis=1)
    changeable = compiler.movable()
    movable = changeable & ~pinned & (request.only is None)
    rf[~movable] = (start[~movable] != NONE).sum(axis=1)
    refuse_overflow(cluster, rf)
    problem = PlacementProblem(
        brokers=brokers,
        topic=cluster.topic,
        current=compiler.current(start.shape[1]),
        start=start,
        size=np.maximum(cluster.size, 0),
        rf=rf,
        movable=movable,
        group=group,
        allowed=allowed,
        rack_cap=rack_caps(brokers, rf),
        rack_floor=np.ones(len(rf), np.int64),
        tolerance=request.bytes_tolerance,
        leaders_only=request.leaders_only,
    )
    if isinstance(request.racks, RackFloor):
        problem = spread = on_racks(problem, request.racks.at_least)
    else:
        spread = relaxed(problem, cluster.racks)
        problem = spread if request.racks is Racks.RELAXED else problem
    compiler.refuse_what_stays(problem)
    return CompiledRequest(
        problem,
        spread,
        compiler.freed_broker(),
        unknown,
        (*compiler.notes, *disk_notes(cluster)),
        changeable,
        lost,
    )


class _Compiler:
    """Compiles one request for one cluster.

    Leaves out brokers and pins that the cluster does not have.
    """

    def __init__(
        self,
        cluster: ClusterArrays,
        request: RebalanceRequest,
        reassigning: Collection[TopicPartition],
    ) -> None:
        self._cluster = cluster
        self._request = request
        self._index = {broker: at for at, broker in enumerate(cluster.broker_ids.tolist())}
        self.notes: list[str] = []
        self._leaving = self._mask([*request.drain, *request.substitute])
        self._frozen = self._on(~cluster.alive & ~self._leaving)
        self._excluded = ~self._included()
        self._in_flight = self._in_flight_among(reassigning)

    def refuse_by_rules(self) -> frozenset[str]:
        """Raise the first refusal of the rules.

        Return the unknown names, for another cluster may have them.
        """
        cluster = self._cluster
        ids = cluster.broker_ids.tolist()
        pinned = {pin.partition: self._position(pin.partition) for pin in self._request.pins}
        scope = RequestScope(
            racks=dict(zip(ids, cluster.racks, strict=True)),
            alive={
                broker for broker, alive in zip(ids, cluster.alive.tolist(), strict=True) if alive
            },
            topics=cluster.topics,
            partitions={partition for partition, at in pinned.items() if at != NONE},
            reassigning={
                partition for partition, at in pinned.items() if at != NONE and self._in_flight[at]
            },
            unsized=int((cluster.size == UNKNOWN).sum()),
            disks=paths_by_broker(cluster),
        )
        found = list(check_scope(self._request, scope))
        unknown = [each for each in found if each.code in _UNKNOWN]
        require(each for each in found if each not in unknown)
        return frozenset(each.message.removeprefix("the inventory has no ") for each in unknown)

    def brokers(self) -> Brokers:
        """Return the brokers, with those that may hold, receive and lead."""
        cluster, request = self._cluster, self._request
        may_hold = cluster.alive & ~self._leaving
        weight = np.ones(len(may_hold))
        for broker, value in sorted(request.weights.items()):
            if self._known(broker):
                weight[self._index[broker]] = value
        ignored = (np.zeros(len(may_hold), np.int64), 1)
        rack, racks = (
            ignored if request.racks is Racks.IGNORE else rack_indexes(cluster.racks, may_hold)
        )
        return Brokers(
            ids=cluster.broker_ids,
            rack=rack,
            racks=racks,
            may_hold=may_hold,
            may_receive=may_hold
            & ~self._mask(request.no_receive)
            & may_get_replicas(cluster, request),
            may_lead=may_hold & ~self._mask(request.never_lead),
            weight=weight,
            capacity=np.where(cluster.capacity == UNKNOWN, NO_LIMIT, cluster.capacity),
        )

    def freed_broker(self) -> int:
        """Return the index of the broker of spec.free, NONE where there is none."""
        free = self._request.free
        return (
            self._index[free.broker_id]
            if free is not None and self._known(free.broker_id)
            else NONE
        )

    def current(self, width: int) -> Ints:
        """Return the current lists padded to `width`, [P, width]."""
        padding = np.full(
            (len(self._cluster.topic), width - self._cluster.replicas.shape[1]), NONE, np.int64
        )
        return np.hstack([self._cluster.replicas, padding])

    def replication_factors(self) -> Ints:
        """Return the requested replication factor of each partition, [P]."""
        factors = self._value_of_topic(self._request.replication_factor)
        by_topic = np.array([value or 0 for value in factors], np.int64)[self._cluster.topic]
        return np.where(by_topic > 0, by_topic, (self._cluster.replicas != NONE).sum(axis=1))

    def groups(self) -> tuple[Ints, Bools]:
        """Return each partition's group, [P], and the brokers that each group may use, [G, B]."""
        sets = self._value_of_topic(self._request.broker_sets)
        distinct = sorted({tuple(sorted(ids)) for ids in sets if ids is not None})
        every_broker = np.ones(len(self._index), np.bool_)
        allowed = np.stack([every_broker, *(self._mask(ids) for ids in distinct)])
        number = {ids: at for at, ids in enumerate(distinct, start=1)}
        by_topic = np.array(
            [0 if ids is None else number[tuple(sorted(ids))] for ids in sets], np.int64
        )
        return by_topic[self._cluster.topic], allowed

    def movable(self) -> Bools:
        """Whether each partition may change, pins aside, [P]; adds notes on those that may not."""
        dead = [
            self._cluster.broker_ids[broker]
            for broker in np.flatnonzero(~self._cluster.alive & ~self._leaving)
        ]
        if (stays := int((self._frozen & ~self._excluded).sum())) and dead:
            some, stay = (
                ("1 partition", "stays as it is")
                if stays == 1
                else (f"{stays} partitions", "stay as they are")
            )
            held = f"{some} with a replica on dead brokers ({name_some(dead)}) {stay}"
            self.notes.append(f"{held}; drain or substitute those brokers to replace them")
        if in_flight := int(self._in_flight.sum()):
            are = "1 partition is" if in_flight == 1 else f"{in_flight} partitions are"
            moving = (
                f"{are} being reassigned and will not change (topics "
                f"{self._topics(self._in_flight)})"
            )
            self.notes.append(f"{moving}; take another snapshot when the reassignment is done")
        if without := int((self._cluster.without_source & ~self._excluded).sum()):
            have = "1 partition has" if without == 1 else f"{without} partitions have"
            names = name_some(self._names(self._cluster.without_source & ~self._excluded))
            self.notes.append(
                f"{have} no replica that is alive and in sync, and will not change ({names}); "
                "start their brokers"
            )
        return ~self._frozen & ~self._excluded & ~self._in_flight & ~self._cluster.without_source

    def start(self, rf: Ints) -> tuple[Ints, Bools]:
        """Return current lists with substitutions and pins applied, and the pinned ones.

        The shapes are [P, W] and [P].
        """
        pins = self._pins()
        width = max(
            self._cluster.replicas.shape[1],
            int(rf.max(initial=1)),
            *(len(row) for row in pins.values()),
            1,
        )
        start = self.current(width)
        for source, substitute in sorted(self._request.substitute.items()):
            if self._known(source):
                self._substitute(
                    start, self._index[source], self._substitute_for(source, substitute)
                )
        pinned = np.zeros(len(start), np.bool_)
        for partition, row in pins.items():
            start[partition] = NONE
            start[partition, : len(row)] = row
            pinned[partition] = True
        return start, pinned

    def refuse_what_stays(self, problem: PlacementProblem) -> None:
        """Raise InfeasibleError for immovable partitions on brokers that must be emptied."""
        filled = problem.start != NONE
        stuck = (
            ~problem.movable
            & (filled & self._leaving[problem.start]).any(axis=1)
            & ~self._cluster.without_source
        )
        if stuck.any():
            topics, (why, way_out) = self._topics(stuck), self._why_stuck(stuck)
            message = (
                f"brokers to be emptied hold partitions that must stay: topics {topics} ({why})"
            )
            raise refusal([Diagnostic(codes.INFEASIBLE, message, way_out)])

    def _why_stuck(self, stuck: Bools) -> tuple[str, str]:
        """Return the reason for which partitions must stay, and the next step that frees them."""
        if (stuck & self._excluded).any():
            return "spec.topics excludes them", "include them in spec.topics, or keep these brokers"
        if (stuck & self._in_flight).any():
            return (
                "they are being reassigned already",
                "take another snapshot when the reassignment is done",
            )
        return "another of their brokers is dead", "drain or substitute the dead brokers, too"

    def _in_flight_among(self, reassigning: Collection[TopicPartition]) -> Bools:
        mask = np.zeros(len(self._cluster.topic), np.bool_)
        mask[[at for each in reassigning if (at := self._position(each)) != NONE]] = True
        return mask

    def _position(self, partition: TopicPartition) -> int:
        """Return the index of a partition, NONE where the cluster does not have it."""
        cluster, number = self._cluster, partition.partition
        topic = bisect_left(cluster.topics, partition.topic)
        if topic == len(cluster.topics) or cluster.topics[topic] != partition.topic:
            return NONE
        first, last = np.searchsorted(cluster.topic, [topic, topic + 1])
        at = int(first + np.searchsorted(cluster.partition[first:last], number))
        return at if at < last and cluster.partition[at] == number else NONE

    def _value_of_topic(self, values: Mapping[str, Value]) -> list[Value | None]:
        """Return the value of the globs that each topic matches, None where it matches none."""
        names = self._cluster.topics
        return [
            next((value for glob, value in values.items() if matches(name, glob)), None)
            for name in names
        ]

    def _included(self) -> Bools:
        names, request = self._cluster.topics, self._request
        include, exclude = (
            np.array([any(matches(name, glob) for glob in globs) for name in names], np.bool_)
            for globs in (request.include_topics, request.exclude_topics)
        )
        return (include & ~exclude)[self._cluster.topic]

    def _on(self, brokers: Bools) -> Bools:
        filled = self._cluster.replicas != NONE
        return np.asarray((filled & brokers[self._cluster.replicas]).any(axis=1))

    def _known(self, broker: int) -> bool:
        return broker in self._index

    def _mask(self, ids: Iterable[int]) -> Bools:
        mask = np.zeros(len(self._index), np.bool_)
        mask[[self._index[broker] for broker in ids if self._known(broker)]] = True
        return mask

    def _topics(self, partitions: Bools) -> str:
        return name_some(
            self._cluster.topics[each] for each in np.unique(self._cluster.topic[partitions])
        )

    def _names(self, partitions: Bools) -> list[str]:
        cluster = self._cluster
        return [
            f"{cluster.topics[cluster.topic[at]]}-{cluster.partition[at]}"
            for at in np.flatnonzero(partitions)
        ]

    def _substitute_for(self, source: int, substitute: int) -> int:
        if not self._known(substitute):  # in a fleet it may be another cluster's
            message = (
                f"spec.brokers.substitute: {source} by {substitute}, which is not in this cluster"
            )
            raise refusal([Diagnostic(codes.UNKNOWN_BROKER, message)], of_request=True)
        return self._index[substitute]

    def _substitute(self, start: Ints, source: int, substitute: int) -> None:
        has = contains(start, np.full(len(start), substitute))
        taken_over = (
            ~has
            & ~self._frozen
            & ~self._excluded
            & ~self._in_flight
            & ~self._cluster.without_source
        )
        start[(start == source) & taken_over[:, None]] = substitute

    def _pins(self) -> dict[int, list[int]]:
        return {
            at: [self._index[broker] for broker in pin.replicas]
            for pin in self._request.pins
            if (at := self._position(pin.partition)) != NONE
            and all(map(self._known, pin.replicas))
            and not self._cluster.without_source[at]
        }
