"""Bytes that cross zones in a month: by replication, by producers and by consumers.

Zones are the brokers' racks. The copies of a follower cross where its rack is not the leader's. A
producer sends to the leader. A consumer reads from the leader, or with closest_replica (KIP-392)
from a replica in its own zone where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.figures import Crossing, ZoneFigures
from kadmin.planner.kernel.hourly_load import LeaderCosts
from kadmin.planner.kernel.placement_problem import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.plan.model import ZonePrices
    from kadmin.planner.kernel.placement_problem import Floats, Ints
    from kadmin.planner.load.join import HourlyRates
    from kadmin.planner.load.profiles import Rates

_MONTH_S = 30 * 86_400
_GB = 10**9
_CENTS = 2


@dataclass(frozen=True, slots=True, eq=False)
class ZoneTraffic:
    """The zones of a cluster: `names`, and the index of each broker's [B].

    `into` and `out` [P] are the week's mean rates of partitions; `out` is None where no bytes out
    are known.
    """

    names: tuple[str, ...]
    zone: Ints
    into: Floats
    out: Floats | None
    prices: ZonePrices

    @classmethod
    def of(cls, racks: Sequence[str | None], rates: HourlyRates, prices: ZonePrices) -> ZoneTraffic:
        """Return the zones of brokers with these racks.

        One without a rack is in a zone of its own kind, NONE.
        """
        names = tuple(sorted({rack for rack in racks if rack is not None}))
        zone = np.array([NONE if rack is None else names.index(rack) for rack in racks], np.int64)
        out = None if rates.bytes_out is None else _mean(rates.bytes_out)
        return cls(names, zone, _mean(rates.bytes_in), out, prices)

    def figures(self, before: Ints, after: Ints) -> ZoneFigures:
        """Return the figures of the ordered lists [P, W] at both times."""
        now, then = self._bytes(before), self._bytes(after)
        costs = (
            round(sum(way.values()) / _GB * self.prices.price_per_gb, _CENTS) for way in (now, then)
        )
        return ZoneFigures(
            currency=self.prices.currency,
            price_per_gb=self.prices.price_per_gb,
            cost=Crossing(*costs),
            **{
                name: Crossing(round(crossing), round(then[name])) for name, crossing in now.items()
            },
        )

    def leader_costs(self) -> LeaderCosts | None:
        """Return the costs of leaders by zone.

        Return None where no client is known that writes to or reads from leaders.
        """
        zones, ways = np.arange(len(self.names)), [(self.prices.producers, self.into)]
        if self.out is not None and not self.prices.closest_replica:
            ways.append((self.prices.consumers, self.out))
        if not any(shares for shares, _ in ways):
            return None
        client = np.sum(
            [self._apart(shares, zones) * rates[:, None] for shares, rates in ways if shares],
            axis=0,
        )
        return LeaderCosts(self.zone, _thousandths(client), _thousandths(self.into))

    def _bytes(self, lists: Ints) -> dict[str, float]:
        zones = np.append(self.zone, NONE)[lists]
        leader, held = zones[:, 0], lists != NONE
        crossing = (held & (zones != leader[:, None])).sum(axis=1)
        found = {"replication": float((crossing * self.into).sum()) * _MONTH_S}
        if self.prices.producers:
            found["producers"] = (
                float((self._apart(self.prices.producers, leader) * self.into).sum()) * _MONTH_S
            )
        if self.prices.consumers and self.out is not None:
            closest = self.prices.closest_replica
            apart = (
                self._without(self.prices.consumers, zones)
                if closest
                else self._apart(self.prices.consumers, leader)
            )
            found["consumers"] = float((apart * self.out).sum()) * _MONTH_S
        return found

    def _apart(self, shares: Mapping[str, float], leader: Ints) -> Floats:
        """Return the part of clients that are in another zone than the leader, [P]."""
        return (
            sum(shares.values())
            - np.append([shares.get(name, 0.0) for name in self.names], 0.0)[leader]
        )

    def _without(self, shares: Mapping[str, float], zones: Ints) -> Floats:
        """Return the part of clients in whose zone there is no replica, [P]."""
        apart = np.zeros(len(zones))
        for name, share in shares.items():
            at = self.names.index(name) if name in self.names else len(self.names)
            apart += share * ~(zones == at).any(axis=1)
        return apart


def _mean(rates: Rates) -> Floats:
    """Return the mean of each partition's hours, [P]."""
    return np.asarray(rates.mean(axis=1, dtype=np.float64))


def _thousandths(rates: Floats) -> Ints:
    return np.round(rates * 1000).astype(np.int64)
