"""Predicts what a loss of brokers would do, by the controller's own rule, in ZooKeeper mode and in KRaft mode.

Goals: name each partition whose leader changes, that has no leader left, or that would refuse acks=all; and the load of
the remaining brokers. Constraints: pure, and one pass over the partitions for the losses of every single broker.
Algorithm: the next leader is the first live in-sync broker in the order of the assignment, not of the ISR. Without a
live in-sync broker it is the first live eligible one (ELR, KRaft mode of 4.0 and later), again in the order of the
assignment; then the first live one where unclean elections are allowed. Otherwise the partition goes offline (Kafka:
OfflinePartitionLeaderElectionStrategy and PartitionChangeBuilder.electAnyLeader; docs/eras.md).
Example: replicas [4, 2, 3], ISR [4, 3, 2]: after the loss of 4, broker 2 leads.
Example: replicas [1, 2, 3], ISR [1], ELR [2], 2 and 3 alive: after the loss of 1, broker 2 leads, and nothing is lost.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER
from kadmin.cluster.names import escaped
from kadmin.errors import StalePlanError, name_some
from kadmin.plan.min_isr import min_insync_replicas

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition

UNCLEAN_ELECTION = "unclean.leader.election.enable"


@dataclass(frozen=True, slots=True)
class PlacedPartition:
    """One partition; `unclean`: an election may choose a replica that is not in sync.

    `elr` are the replicas that may lead without a loss once the ISR is empty.
    """

    partition: TopicPartition
    replicas: Replicas
    leader: int
    isr: Replicas
    min_isr: int = 1
    unclean: bool = False
    size_bytes: int | None = None
    elr: Replicas = ()

    @property
    def refuses(self) -> bool:
        """Whether it has a leader, and too few in-sync replicas for acks=all."""
        return self.leader != NO_LEADER and len(self.isr) < self.min_isr


@dataclass(frozen=True, slots=True)
class LeaderChange:
    """A partition and its leaders, NO_LEADER where it is offline; `lossy`: the new one may lack records."""

    partition: TopicPartition
    leader: int
    new_leader: int
    lossy: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """What a broker holds and leads; bytes are None where the size of one of its partitions is unknown."""

    replicas: int
    leaders: int
    size_bytes: int | None
    leader_bytes: int | None


@dataclass(frozen=True, slots=True)
class Prediction:
    """What changes for partitions. Loads cover the brokers that are alive at each time."""

    changes: tuple[LeaderChange, ...]
    refusing: tuple[PlacedPartition, ...]
    before: Mapping[int, Load]
    after: Mapping[int, Load]

    @property
    def offline(self) -> tuple[TopicPartition, ...]:
        """Partitions that lose their leader and get no new one."""
        return tuple(change.partition for change in self.changes if change.new_leader == NO_LEADER)


@dataclass(frozen=True, slots=True)
class SingleLoss:
    """How many partitions the loss of one broker affects, and the most that one remaining broker then leads."""

    leader_changes: int
    offline: int
    refusing: int
    lossy: int
    most_leaders: int


def placements_of(
    state: ClusterState,
    sizes: Mapping[TopicPartition, int] | None = None,
    *,
    unclean: bool = False,
    min_insync: int = 1,
) -> tuple[PlacedPartition, ...]:
    """Return every partition that has a state, by topic and number; topics queued for deletion are left out.

    `unclean` allows unclean elections everywhere, not only where configs do; `min_insync` is the brokers' own default
    of min.insync.replicas. Configs count as far as the state was read with them.
    """
    found: list[PlacedPartition] = []
    for name in sorted(set(state.topics) - set(state.requests.deletions)):
        topic = state.topics[name]
        limit = min_insync_replicas(name, state, min_insync)
        configured = state.topic_configs.get(name, {}).get(UNCLEAN_ELECTION)
        allowed = unclean or (configured or state.broker_defaults.get(UNCLEAN_ELECTION, "")).lower() == "true"
        for partition in topic.partitions():
            known, size = state.states.get(partition), (sizes or {}).get(partition)
            if known is not None:
                replicas = topic.replicas[partition.partition]
                found.append(
                    PlacedPartition(partition, replicas, known.leader, known.isr, limit, allowed, size, known.elr)
                )
    return tuple(found)


def brokers_lost(state: ClusterState, brokers: Iterable[int], racks: Iterable[str]) -> tuple[int, ...]:
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


def predict_loss(placements: Sequence[PlacedPartition], alive: Collection[int], lost: Collection[int]) -> Prediction:
    """Predict the loss of some of the live brokers at once; the order of losses does not change the leaders."""
    left = frozenset(alive) - frozenset(lost)
    return compare(placements, [without(placement, left) for placement in placements], alive, left)


def compare(
    before: Sequence[PlacedPartition], after: Sequence[PlacedPartition], alive: Collection[int], left: Collection[int]
) -> Prediction:
    """Compare the same partitions at two times, with the brokers alive at each."""
    pairs = list(zip(before, after, strict=True))
    return Prediction(
        tuple(
            LeaderChange(was.partition, was.leader, now.leader, _lossy(was, now))
            for was, now in pairs
            if was.leader != now.leader
        ),
        tuple(now for was, now in pairs if now.refuses and not was.refuses),
        _loads(before, alive),
        _loads(after, left),
    )


def without(placement: PlacedPartition, left: Collection[int]) -> PlacedPartition:
    """Return a partition when only the brokers `left` are alive; an offline one stays offline.

    Why it is offline is not known: a failed directory leaves a live broker in the ISR.
    """
    leader, isr = _outcome(placement, left)
    return replace(placement, leader=leader, isr=isr)


def single_losses(placements: Iterable[PlacedPartition], alive: Collection[int]) -> dict[int, SingleLoss]:
    """Predict the loss of each broker that is alive, alone; by broker."""
    all_alive = frozenset(alive)
    rest = {broker: all_alive - {broker} for broker in sorted(all_alive)}
    changes, offline, refusing, lossy = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
    gained: dict[int, Counter[int]] = {broker: Counter() for broker in rest}
    leaders: Counter[int] = Counter()
    for placement in placements:
        was, refused = placement.leader, placement.refuses
        leaders[was] += 1
        # Kafka never writes a leader outside its own ISR, but an inventory may hold one.
        for broker in placement.isr if was in placement.isr else (*placement.isr, was):
            if broker not in all_alive:
                continue
            leader, isr = _outcome(placement, rest[broker])
            if leader != was:
                changes[broker] += 1
                gained[broker][leader] += 1
                offline[broker] += leader == NO_LEADER
                lossy[broker] += leader != NO_LEADER and leader not in (*placement.isr, *placement.elr)
            refusing[broker] += not refused and leader != NO_LEADER and len(isr) < placement.min_isr
    return {
        broker: SingleLoss(
            changes[broker],
            offline[broker],
            refusing[broker],
            lossy[broker],
            max((leaders[each] + gained[broker][each] for each in others), default=0),
        )
        for broker, others in rest.items()
    }


def _outcome(placement: PlacedPartition, left: Collection[int]) -> tuple[int, Replicas]:
    # The rule: the leader and the in-sync replicas.
    if placement.leader == NO_LEADER:
        return NO_LEADER, placement.isr
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


def _alive(state: ClusterState) -> str:
    if not state.brokers:
        return "no broker is alive"
    alive = (f"{broker.broker_id} ({broker.rack or 'no rack'})" for broker in state.brokers.values())
    return f"alive are {name_some(alive, most=20)}"


def _lossy(was: PlacedPartition, now: PlacedPartition) -> bool:
    return now.leader != NO_LEADER and now.replicas == was.replicas and now.leader not in (*was.isr, *was.elr)


def _loads(placements: Sequence[PlacedPartition], alive: Collection[int]) -> dict[int, Load]:
    replicas = Counter(chain.from_iterable(placement.replicas for placement in placements))
    leaders = Counter(placement.leader for placement in placements)
    held: Counter[int] = Counter()
    led: Counter[int] = Counter()
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
            leaders[broker],
            None if broker in unknown else held[broker],
            None if broker in unknown else led[broker],
        )
        for broker in sorted(alive)
    }
