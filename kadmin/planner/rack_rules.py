"""The rack rule of a problem: the most replicas of a partition on a rack, and its fewest racks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE, distinct_per_row

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Bools, Brokers, Ints, PlacementProblem


def rack_indexes(names: tuple[str | None, ...], may_hold: Bools) -> tuple[Ints, int]:
    """Return the rack index of each broker, [B], and the number of racks.

    It is 1 where `may_hold` has no known rack.
    """
    usable = [names[broker] for broker in np.flatnonzero(may_hold)]
    if not any(name is not None for name in usable):
        return np.zeros(len(names), np.int64), 1
    places = [
        ("rack", name) if name is not None else ("broker", str(at)) for at, name in enumerate(names)
    ]
    number = {place: at for at, place in enumerate(sorted(set(places)))}
    return np.array([number[place] for place in places], np.int64), len(number)


def rack_caps(brokers: Brokers, rf: Ints) -> Ints:
    """Return the most replicas of each partition on one rack, [P]: one, where racks count."""
    return np.full(len(rf), 1 if brokers.racks > 1 else max(len(brokers), 1), np.int64)


def on_racks(problem: PlacementProblem, at_least: int) -> PlacementProblem:
    """Return the problem with each partition on so many racks, or one for each of its replicas.

    The other replicas may be on any rack.
    """
    floor = np.minimum(problem.rf, at_least)
    return replace(problem, rack_cap=problem.rf - floor + 1, rack_floor=floor)


def relaxed(problem: PlacementProblem, names: tuple[str | None, ...]) -> PlacementProblem:
    """Return the problem with partitions spread as far as racks allow.

    Each is on as many racks as have a broker that may get or keep it, with as few replicas on one
    as the brokers that may hold it allow.
    """
    rack, racks = rack_indexes(names, problem.brokers.may_hold)
    brokers = replace(problem.brokers, rack=rack, racks=racks)
    caps = rack_caps(brokers, problem.rf)
    for number, usable in enumerate(problem.allowed & brokers.may_hold if racks > 1 else ()):
        on_rack = np.bincount(rack[usable], minlength=racks)
        for factor in np.unique(problem.rf[problem.group == number]):
            caps[(problem.group == number) & (problem.rf == factor)] = _least_cap(
                on_rack, int(factor)
            )
    spread = replace(problem, brokers=brokers, rack_cap=caps)
    return spread if racks == 1 else replace(spread, rack_floor=_most_racks(spread))


def _most_racks(problem: PlacementProblem) -> Ints:
    """Return on how many racks the replicas of each partition can be, [P]."""
    brokers, start = problem.brokers, problem.start
    receiving = np.zeros((len(problem.allowed), brokers.racks), np.bool_)
    groups, receivers = np.nonzero(problem.allowed & brokers.may_receive)
    receiving[groups, brokers.rack[receivers]] = True
    group, rack = problem.group[:, None], brokers.rack[start]
    keeps = (start != NONE) & problem.allowed[group, start] & brokers.may_hold[start]
    kept = np.where(keeps & ~receiving[group, rack], rack, NONE)
    open_racks = np.count_nonzero(receiving, axis=1)[problem.group]
    return np.asarray(np.minimum(problem.rf, open_racks + distinct_per_row(kept)))


def _least_cap(on_rack: Ints, factor: int) -> int:
    """Return the least cap at which racks of `on_rack` brokers hold `factor` replicas together."""
    cap = 1
    while np.minimum(on_rack, cap).sum() < min(factor, on_rack.sum()):
        cap += 1
    return cap
