"""The even share of each broker, with which a page's colours and dashed lines compare it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.insight.predict.forecast import BrokerOutlook, Forecast
    from kadmin.insight.predict.losses import Load

STEPS = (0.5, 0.8, 0.95, 1.05, 1.25, 2.0)
"""The most, in even shares, of each colour but the last."""
_COOLEST = -3
_WEIGHTLESS = (1, 3)
"""Leaders and leader bytes: the planner makes them even among the brokers that may lead, whatever
their weights."""


@dataclass(frozen=True, slots=True)
class EvenShare:
    """The even share of one amount at one time.

    `amount` for a broker of weight 1, None where it is unknown. `weights` holds the brokers that
    share it. `proved`: no plan is more even.
    """

    amount: float | None
    weights: Mapping[int, float]
    proved: bool = False

    def heat(self, broker_id: int, value: int | None) -> int | None:
        """Compare a value with its share, -3 (less than half) to 3 (more than double).

        0 where it is proved that no plan is more even; None where the share is unknown, or the
        broker has none.
        """
        if value is None or self.amount is None or broker_id not in self.weights:
            return None
        share = self.amount * self.weights[broker_id]
        return heat_of(value / share if share and not self.proved else 1.0)


@dataclass(frozen=True, slots=True)
class EvenShares:
    """The shares of the amounts of a Load, in order, at both times."""

    before: tuple[EvenShare, ...]
    after: tuple[EvenShare, ...]


def heat_of(ratio: float) -> int:
    """Return the colour of a part of the even share, -3 (below half) to 3 (above double)."""
    return _COOLEST + sum(ratio > most for most in STEPS)


def amounts(load: Load) -> tuple[int | None, ...]:
    """Return the amounts of a broker: replicas, leaders, bytes and leader bytes."""
    return load.replicas, load.leaders, load.size_bytes, load.leader_bytes


def even_shares(
    found: Forecast, figures: Mapping[str, Any] | None = None, *, reassigned: bool = True
) -> EvenShares:
    """Return the even share of each amount.

    Before the plan over live brokers, after it over allowed brokers. Allowed brokers may hold
    replicas. `figures` (schemas/answers/figures) give them, their weights and the proved bounds.
    Without figures, a broker that a reassignment empties may hold none.
    """
    live = [each for each in found.brokers if each.alive]
    holders = {each["broker_id"]: each for each in (figures or {}).get("holders", ())}
    emptied = {
        each.broker_id
        for each in live
        if reassigned and each.before.replicas and not each.after.replicas
    }
    staying = [
        each
        for each in live
        if (each.broker_id in holders if holders else each.broker_id not in emptied)
    ]
    leading = [each for each in staying if not holders or holders[each.broker_id]["may_lead"]]
    weights = {broker: float(each["weight"]) for broker, each in holders.items()}

    def shares(
        time: str, members: list[BrokerOutlook], leaders: list[BrokerOutlook]
    ) -> tuple[EvenShare, ...]:
        proved = (False,) * 4 if figures is None else _proved(figures, time)
        return tuple(
            _share(
                {each.broker_id: amounts(getattr(each, time))[which] for each in counted},
                {} if which in _WEIGHTLESS else weights,
                proved=proved[which],
            )
            for which, counted in enumerate((members, leaders, members, leaders))
        )

    return EvenShares(shares("before", live, live), shares("after", staying, leading))


def _share(
    held: Mapping[int, int | None], weights: Mapping[int, float], *, proved: bool
) -> EvenShare:
    known_values = [each for each in held.values() if each is not None]
    counted = {broker: weights.get(broker, 1.0) for broker in held}
    complete = bool(held) and len(known_values) == len(held)
    return EvenShare(
        sum(known_values) / sum(counted.values()) if complete else None, counted, proved
    )


def _proved(figures: Mapping[str, Any], time: str) -> tuple[bool, ...]:
    """Whether each amount is as even at a time as any plan can make it."""
    now, bound = figures[time], figures["bound"]

    def within(name: str) -> bool:
        return bool(
            now[f"{name}_min"] >= bound[f"{name}_min"]
            and now[f"{name}_max"] <= bound[f"{name}_max"]
        )

    def least(name: str) -> bool:
        return now[name] is not None and bound[name] is not None and bool(now[name] <= bound[name])

    return (
        within("replicas"),
        within("leaders"),
        least("bytes_max_over_mean"),
        least("leader_bytes_max_over_mean"),
    )
