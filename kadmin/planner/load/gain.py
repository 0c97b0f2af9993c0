"""Judges whether a plan gains enough load to be worth its moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.plan.model import LeastGain
from kadmin.planner.figures import OnlyIfFigures, ResourceFigures, ResourceGain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.plan.model import OnlyIf
    from kadmin.planner.figures import LoadFigures

WITHOUT_WEEKS = 0.05
"""The least gain of a history that shows no noise."""

_DIGITS = 6


def only_if_figures(
    spec: OnlyIf, load: LoadFigures, noise: Mapping[str, float], required: int
) -> OnlyIfFigures:
    """Judge a plan by its load before and after.

    `noise` is by resource. `required` counts the entries that the request needs whatever they gain.
    A resource that is within its goal cannot gain, and a plan by which one rises as much as it has
    to gain is not worth its moves.
    """
    gains = {}
    for name in ("in_", "out", "cpu"):
        found = getattr(load, name)
        if isinstance(found, ResourceFigures):
            of_history = noise.get(name.removesuffix("_"), WITHOUT_WEEKS)
            least = of_history if isinstance(spec.gain, LeastGain) else spec.gain
            gains[name] = ResourceGain(gain=_gain(found), least=least)
    enough = any(0 < each.gain >= each.least for each in gains.values())
    costs = any(each.gain < 0 and -each.gain >= each.least for each in gains.values())
    return OnlyIfFigures(worth=required > 0 or (enough and not costs), required=required, **gains)


def _gain(found: ResourceFigures) -> float:
    """Return the part by which the worst hour becomes lower; below the goal nothing counts."""
    before, after = (max(each, found.goal) for each in (found.before, found.after))
    return round(1 - after / before, _DIGITS)
