"""Packs waves so that all of them together take the shortest time.

Goals: a wave takes as long as its busiest broker sends or receives, and the next wave waits for its
end. At equal rates the makespan is the sum of the waves' busiest brokers, and the busiest broker of
the whole plan is its lower bound.
Constraints: the limits of kadmin.plan.waves, and as many waves as plan order needs; one more where
an entry fits in none of them.
Algorithm: entries by their largest load on one broker, largest first. Each wave has a budget for
every broker: an equal share of the bound, less where a large partition makes another wave longer.
An entry goes into the wave that is least full with it: the budget of its busiest broker, or the
wave's places. Where no budget has room for it, it goes into the wave that it makes longer by the
least. Plan order decides ties between entries; it orders the waves, by the mean place of their
entries; and it is kept whole where this packing is not shorter.
Example: broker 3 receives 9, 5 and 4 bytes, broker 4 receives 9; two entries a wave: [9, 9] and [5,
4] take 18 in all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

from kadmin.plan.copying import leader_of
from kadmin.plan.waves import Packing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.capabilities import PublishLimits
    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.plan.model import PartitionTarget, WaveLimits
    from kadmin.plan.pairs import PairLimit
    from kadmin.plan.waves import Wave

    _Rows: TypeAlias = Sequence[tuple[list[int], int]]

MOST_WAVES = 128
"""The most waves packed at a time, in plan order: the cost stays linear in the length of a plan."""


def repack(
    in_order: Sequence[Wave],
    targets: Sequence[PartitionTarget],
    state: ClusterState,
    limits: WaveLimits,
    publish: PublishLimits,
    pairs: PairLimit | None = None,
) -> tuple[Wave, ...]:
    """Pack the waves of `targets`, as `schedule` cut them, into waves of the shortest makespan.

    An unknown size counts as the mean of the known ones, or as 1 where none is known.
    """
    if len(in_order) < 2:  # noqa: PLR2004 - one wave has no other packing
        return tuple(in_order)
    entries = _entries(targets, state)
    waves: list[Wave] = []
    for start in range(0, len(in_order), MOST_WAVES):
        stretch = in_order[start : start + MOST_WAVES]
        packed = _packed(stretch, entries, _Filling(limits, publish, pairs))
        waves += min(stretch, packed, key=lambda found: _makespan(found, entries))
    return tuple(replace(wave, index=index) for index, wave in enumerate(waves))


@dataclass(frozen=True, slots=True)
class _Entry:
    """A target, its place in the plan, and its bytes by direction and broker, but those of 0."""

    place: int
    target: PartitionTarget
    loads: tuple[tuple[tuple[str, int], int], ...]

    @property
    def largest_load(self) -> int:
        return max((amount for _, amount in self.loads), default=0)


def _entries(
    targets: Sequence[PartitionTarget], state: ClusterState
) -> dict[TopicPartition, _Entry]:
    sizes = [target.size_bytes for target in targets if target.size_bytes is not None]
    unknown_size = max(round(fmean(sizes)), 1) if sizes else 1
    entries = {}
    for place, target in enumerate(targets):
        size = unknown_size if target.size_bytes is None else target.size_bytes
        receivers = target.added
        loads = [(("receives", broker), size) for broker in receivers]
        if (sender := leader_of(target, state)) is not None:
            loads.append((("sends", sender), size * len(receivers)))
        entries[target.partition] = _Entry(place, target, tuple(load for load in loads if load[1]))
    return entries


def _makespan(waves: Iterable[Wave], entries: Mapping[TopicPartition, _Entry]) -> int:
    return sum(max(_totals(_members(wave, entries)).values(), default=0) for wave in waves)


def _members(wave: Wave, entries: Mapping[TopicPartition, _Entry]) -> list[_Entry]:
    return [entries[target.partition] for target in wave.reassignments]


def _totals(entries: Iterable[_Entry]) -> Counter[tuple[str, int]]:
    totals: Counter[tuple[str, int]] = Counter()
    for entry in entries:
        for way, amount in entry.loads:
            totals[way] += amount
    return totals


def _packed(
    waves: Sequence[Wave], entries: Mapping[TopicPartition, _Entry], filling: _Filling
) -> Sequence[Wave]:
    """Pack the targets of waves into as many waves, rarely more, each in plan order."""
    members = [entry for wave in waves for entry in _members(wave, entries)]
    filling.open_waves(len(waves), _totals(members))
    for entry in sorted(members, key=lambda each: (-each.largest_load, each.place)):
        filling.put(entry)
    packed = []
    for packing in filling.packings:
        if packing.taken:
            packing.taken.sort(key=lambda target: entries[target.partition].place)
            packed.append(packing.wave(0))
    return sorted(packed, key=lambda wave: fmean(entry.place for entry in _members(wave, entries)))


@dataclass(slots=True)
class _Filling:
    """Waves while they are being filled; each list has one element per wave.

    `carried` are the bytes by direction and broker, `longest` those of the busiest broker,
    `budgets` those that each broker may carry until the wave becomes longer. `places` are shares of
    the wave's limits, inf where it is full.
    """

    limits: WaveLimits
    publish: PublishLimits
    pairs: PairLimit | None = None
    bound: int = 0
    carried: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    packings: list[Packing] = field(default_factory=list)
    longest: list[int] = field(default_factory=list)
    budgets: list[float] = field(default_factory=list)
    places: list[float] = field(default_factory=list)

    def open_waves(self, count: int, totals: Mapping[tuple[str, int], int]) -> None:
        """Open the first waves, for entries with these bytes in all."""
        self.bound = max(totals.values(), default=0)
        self.carried = {way: [] for way in totals}
        for _ in range(count):
            self._open_wave()
        self._share_bound()

    def put(self, entry: _Entry) -> None:
        """Put an entry into the best wave that takes it, a new one where none does."""
        rows = [(self.carried[way], amount) for way, amount in entry.loads]
        for wave in self._choices(rows):
            if self.packings[wave].take(entry.target):
                break
        else:
            self._open_wave()
            self._share_bound()
            wave = -1
            self.packings[wave].take(entry.target)
        self.places[wave] = self.packings[wave].fullness()
        for row, amount in rows:
            row[wave] += amount
            self.longest[wave] = max(self.longest[wave], row[wave])
        if self.longest[wave] > self.budgets[wave]:
            self._share_bound()

    def _open_wave(self) -> None:
        self.packings.append(Packing(self.limits, self.publish, self.pairs))
        self.longest.append(0)
        self.places.append(0.0)
        for row in self.carried.values():
            row.append(0)

    def _choices(self, rows: _Rows) -> Iterator[int]:
        costs = self._costs(rows)
        while (least := min(costs)) < inf:
            wave = costs.index(least)
            yield wave
            costs[wave] = inf

    def _costs(self, rows: _Rows) -> list[float]:
        """Return the fullness of each wave with the entry.

        If none has room, return the bytes by which each gets longer.
        """
        fullness: Iterable[float] = self.places
        for row, amount in rows:
            fullness = map(
                max,
                fullness,
                [(held + amount) / most for held, most in zip(row, self.budgets, strict=True)],
            )
        costs = list(fullness)
        if min(costs) <= 1:
            return costs
        longer: Iterable[float] = [inf if share == inf else 0 for share in self.places]
        for row, amount in rows:
            excess = [held + amount - most for held, most in zip(row, self.budgets, strict=True)]
            longer = map(max, longer, excess)
        return list(longer)

    def _share_bound(self) -> None:
        """Set the budgets.

        Waves longer than their share keep their length, the others share what that leaves.
        """
        left, sharing = float(self.bound), len(self.longest)
        for length in sorted(self.longest, reverse=True):
            if length * sharing <= left:
                break
            left, sharing = left - length, sharing - 1
        share = left / sharing if sharing else 0
        self.budgets = [max(length, share, 1) for length in self.longest]
