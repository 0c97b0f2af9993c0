"""Predicts the effects of a loss of brokers by the controller's own rule, in both modes.

Goals: name each partition whose leader changes, that has no leader left, or that would refuse
acks=all; and the load of the remaining brokers. Constraints: pure, and one pass over the partitions
for the losses of every single broker.
Algorithm: the next leader is the first live in-sync broker in the order of the assignment, not of
the ISR. Without a live in-sync broker it is the first live eligible one (ELR, KRaft mode of 4.0 and
later), again in the order of the assignment; then the first live one where unclean elections are
allowed. Otherwise the partition goes offline (Kafka: OfflinePartitionLeaderElectionStrategy and
PartitionChangeBuilder.electAnyLeader; docs/eras.md). Where the leader or the ISR is unknown,
replicas alone give the certain part: without a live replica the partition is offline, and a broker
that holds no replica changes nothing. The rest is unknown, and counts in the most of a figure, not
in its least.
Example: replicas [4, 2, 3], ISR [4, 3, 2]: after the loss of 4, broker 2 leads.
Example: replicas [1, 2, 3], ISR [1], ELR [2], 2 and 3 alive: after the loss of 1, broker 2 leads,
and nothing is lost.
Example: replicas [1, 2], ISR unknown: after the loss of 1 from 0 to 1 partitions are offline, after
that of both, 1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from kadmin.cluster.model import NO_LEADER
from kadmin.cluster.names import escaped
from kadmin.errors import StalePlanError
from kadmin.insight.predict.losses import (
    Bound,
    LeaderChange,
    Load,
    LossFigures,
    PlacedPartition,
    Prediction,
    SingleLoss,
    UnknownOutcome,
    refuses_acks_all,
)
from kadmin.plan.min_isr import min_insync_replicas
from kadmin.plan.unclean import UNCLEAN_ELECTION
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition


def placements_of(
    state: ClusterState,
    sizes: Mapping[TopicPartition, int] | None = None,
    *,
    unclean: bool = False,
    min_insync: int = 1,
) -> tuple[PlacedPartition, ...]:
    """Return every partition by topic and number; topics queued for deletion are left out.

    Without a state the leader is unknown, but for a partition without a live replica: it has none.
    `unclean` allows unclean elections everywhere, not only where configs do; `min_insync` is the
    brokers' own default of min.insync.replicas. Configs count as far as the state was read with
    them.
    """
    found: list[PlacedPartition] = []
    for name in sorted(set(state.topics) - set(state.requests.deletions)):
        topic = state.topics[name]
        limit = min_insync_replicas(name, state, min_insync)
        configured = state.topic_configs.get(name, {}).get(UNCLEAN_ELECTION)
        allowed = (
            unclean
            or (configured or state.broker_defaults.get(UNCLEAN_ELECTION, "")).lower() == "true"
        )
        for partition in topic.partitions():
            size, replicas = (sizes or {}).get(partition), topic.replicas[partition.partition]
            seen = state.states.get(partition)
            if seen is None:
                leader = NO_LEADER if state.brokers.keys().isdisjoint(replicas) else None
                found.append(
                    PlacedPartition(partition, replicas, leader, None, limit, allowed, size)
                )
                continue
            isr = seen.isr if seen.isr_known else None
            found.append(
                PlacedPartition(
                    partition, replicas, seen.leader, isr, limit, allowed, size, seen.elr
                )
            )
    return tuple(found)


def brokers_lost(
    state: ClusterState, brokers: Iterable[int], racks: Iterable[str]
) -> tuple[int, ...]:
    """Return the live brokers that are named or in a named rack, by id.

    Raises StalePlanError for a broker that is not alive, and a rack without a live broker.
    """
    lost = set(brokers)
    if dead := sorted(lost - set(state.brokers)):
        raise StalePlanError(f"No live broker is called {name_some(dead)}.", cause=_alive(state))
    for rack in racks:
        found = {broker.broker_id for broker in state.brokers.values() if broker.rack == rack}
        if not found:
            raise StalePlanError(f"No live broker is in rack {escaped(rack)}.", cause=_alive(state))
        lost |= found
    return tuple(sorted(lost))


def predict_loss(
    placements: Sequence[PlacedPartition], alive: Collection[int], lost: Collection[int]
) -> Prediction:
    """Predict the loss of some of the live brokers at once.

    The order of losses does not change the leaders.
    """
    left = frozenset(alive) - frozenset(lost)
    return compare(placements, [without(placement, left) for placement in placements], alive, left)


def compare(
    before: Sequence[PlacedPartition],
    after: Sequence[PlacedPartition],
    alive: Collection[int],
    left: Collection[int],
) -> Prediction:
    """Compare partitions at two times, with the brokers alive at each.

    Those that `after` has beyond `before` are new: they count for the loads alone.
    """
    lost, tally = frozenset(alive) - frozenset(left), _Tally()
    changes: list[LeaderChange] = []
    refusing: list[PlacedPartition] = []
    unknown: list[UnknownOutcome] = []
    for was, now in zip(before, after, strict=False):
        affected = was != now or not lost.isdisjoint(was.replicas)
        verdict = _verdict(was, now.leader, now.isr)
        if now.leader is None or (affected and verdict.refusing is None):
            unknown.append(
                UnknownOutcome(
                    was.partition, affected, now.leader is None, verdict.refusing is None
                )
            )
        if not affected:
            continue
        if now.replicas != was.replicas:  # a plan copies: in-sync replicas then have every record
            verdict = verdict._replace(lossy=False)
        # A plan does not end a leader that may exist.
        if now.leader is None and lost.isdisjoint(was.replicas):
            verdict = verdict._replace(offline=False, lossy=False)
        tally.add(0, verdict)
        if verdict.changed and now.leader is not None:
            changes.append(LeaderChange(was.partition, was.leader, now.leader, bool(verdict.lossy)))
        if verdict.refusing:
            refusing.append(now)
    return Prediction(
        tuple(changes),
        tuple(refusing),
        _loads(before, alive),
        _loads(after, left),
        tally.figures(0),
        tuple(unknown),
        tuple(was.partition for was in before if was.leader == NO_LEADER),
    )


def without(placement: PlacedPartition, left: Collection[int]) -> PlacedPartition:
    """Return a partition when only the brokers `left` are alive; an offline one stays offline.

    The cause is unknown: a failed directory leaves a live broker in the ISR.
    """
    leader, isr = _outcome(placement, left)
    return replace(placement, leader=leader, isr=isr)


def single_losses(
    placements: Iterable[PlacedPartition], alive: Collection[int]
) -> dict[int, SingleLoss]:
    """Predict the loss of each broker that is alive, alone; by broker."""
    all_alive, tally = frozenset(alive), _Tally()
    rest = {broker: all_alive - {broker} for broker in sorted(all_alive)}
    gained: dict[int, Counter[int]] = {broker: Counter() for broker in rest}
    leaders: Counter[int | None] = Counter()
    # By broker: unknown leaders after its loss, less those before.
    unknown: Counter[int] = Counter()
    for placement in placements:
        leaders[placement.leader] += 1
        for broker in _affecting(placement):
            if broker not in all_alive:
                continue
            leader, isr = _outcome(placement, rest[broker])
            tally.add(broker, _verdict(placement, leader, isr))
            unknown[broker] += (leader is None) - (placement.leader is None)
            if leader is not None and leader != placement.leader:
                gained[broker][leader] += 1
    found = {}
    for broker, others in rest.items():
        complete = leaders[None] + unknown[broker] == 0
        most = max((leaders[each] + gained[broker][each] for each in others), default=0)
        found[broker] = SingleLoss(tally.figures(broker), most if complete else None)
    return found


def _affecting(placement: PlacedPartition) -> Replicas:
    if placement.leader is None or placement.isr is None:
        return placement.replicas
    # Kafka never writes a leader outside its own ISR, but an inventory may hold one.
    return (
        placement.isr if placement.leader in placement.isr else (*placement.isr, placement.leader)
    )


class _Verdict(NamedTuple):
    """Whether each figure counts a partition; None: unknown."""

    changed: bool | None
    offline: bool | None
    refusing: bool | None
    lossy: bool | None


_NOTHING = _Verdict(changed=False, offline=False, refusing=False, lossy=False)


def _verdict(was: PlacedPartition, leader: int | None, isr: Replicas | None) -> _Verdict:
    refuses = refuses_acks_all(was, leader, isr)
    refusing = (
        False if was.refuses or refuses is False else None if was.refuses is None else refuses
    )
    if leader is None:
        return _Verdict(
            None, False if was.unclean else None, refusing, None if was.unclean else False
        )
    changed = leader != was.leader
    offline = changed and leader == NO_LEADER
    in_sync = was.isr is None or leader in was.isr or leader in was.elr
    return _Verdict(changed, offline, refusing, changed and not offline and not in_sync)


class _Tally:
    """Counts verdicts by broker: the certain ones, and those that are not ruled out."""

    def __init__(self) -> None:
        self._least: dict[int, list[int]] = {}
        self._most: dict[int, list[int]] = {}

    def add(self, broker: int, verdict: _Verdict) -> None:
        if verdict == _NOTHING:  # true of most partitions
            return
        least = self._least.setdefault(broker, [0] * len(verdict))
        most = self._most.setdefault(broker, [0] * len(verdict))
        for at, counts in enumerate(verdict):
            least[at] += counts is True
            most[at] += counts is not False

    def figures(self, broker: int) -> LossFigures:
        none = [0] * len(_Verdict._fields)
        return LossFigures(*map(Bound, self._least.get(broker, none), self._most.get(broker, none)))


def _outcome(
    placement: PlacedPartition, left: Collection[int]
) -> tuple[int | None, Replicas | None]:
    # The rule: the leader and the in-sync replicas.
    if placement.leader == NO_LEADER:
        return NO_LEADER, placement.isr
    if placement.leader is None or placement.isr is None:
        return _outcome_by_replicas(placement, left)
    in_sync = tuple([broker for broker in placement.isr if broker in left])
    if placement.leader in left:
        return placement.leader, in_sync
    for broker in placement.replicas:
        if broker in in_sync:
            return broker, in_sync
    alive = [broker for broker in placement.replicas if broker in left]
    eligible = [broker for broker in alive if broker in placement.elr]
    first = next(iter(eligible or (alive if placement.unclean else ())), None)
    return (NO_LEADER, placement.isr) if first is None else (first, (first,))


def _outcome_by_replicas(
    placement: PlacedPartition, left: Collection[int]
) -> tuple[int | None, Replicas | None]:
    if placement.leader is not None and placement.leader in left:
        return placement.leader, placement.isr
    return (
        None if any(broker in left for broker in placement.replicas) else NO_LEADER
    ), placement.isr


def _alive(state: ClusterState) -> str:
    if not state.brokers:
        return "no broker is alive"
    alive = (
        f"{broker.broker_id} ({broker.rack or 'no rack'})" for broker in state.brokers.values()
    )
    return f"alive are {name_some(alive, most=20)}"


def _loads(placements: Sequence[PlacedPartition], alive: Collection[int]) -> dict[int, Load]:
    replicas = Counter(chain.from_iterable(placement.replicas for placement in placements))
    leaders: Counter[int | None] = Counter(placement.leader for placement in placements)
    led_unknown = {
        broker
        for placement in placements
        if placement.leader is None
        for broker in placement.replicas
    }
    held: Counter[int] = Counter()
    led: Counter[int | None] = Counter()
    unknown: set[int] = set()
    for placement in placements:
        if placement.size_bytes is None:
            unknown.update(placement.replicas)
            continue
        led[placement.leader] += placement.size_bytes
        for broker in placement.replicas:
            held[broker] += placement.size_bytes
    return {
        broker: Load(
            replicas[broker],
            None if broker in led_unknown else leaders[broker],
            None if broker in unknown else held[broker],
            None if broker in unknown or broker in led_unknown else led[broker],
        )
        for broker in sorted(alive)
    }
