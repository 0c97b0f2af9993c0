"""Round amounts for the labels of a scale."""

from __future__ import annotations

from math import floor, log10

_STEPS = (1, 2, 5, 10)


def round_amounts(top: float, most: int = 3, least: float = 0) -> list[float]:
    """Return at most so many round amounts up to `top`, at least `least` apart."""
    magnitude = 10.0 ** floor(log10(top / most))
    step = next(each * magnitude for each in _STEPS if top / (each * magnitude) <= most)
    step = max(step, least)
    return [step * number for number in range(1, most + 1) if step * number <= top]
