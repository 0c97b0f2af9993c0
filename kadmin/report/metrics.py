"""Gauges in Prometheus' text format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_IN_LABELS = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_IN_HELP = str.maketrans({"\\": r"\\", "\n": r"\n"})


@dataclass(frozen=True, slots=True)
class Gauge:
    """A gauge with its samples: the labels of each, and its value."""

    name: str
    description: str
    samples: tuple[tuple[Mapping[str, str], float], ...]


def exposition(gauges: Iterable[Gauge]) -> str:
    """Return the text of one exposition, in the given order.

    Gauges without a sample are left out.
    """
    return "".join(f"{line}\n" for gauge in gauges if gauge.samples for line in _lines(gauge))


def _lines(gauge: Gauge) -> Iterator[str]:
    yield f"# HELP {gauge.name} {gauge.description.translate(_IN_HELP)}"
    yield f"# TYPE {gauge.name} gauge"
    for labels, value in gauge.samples:
        named = ",".join(f'{name}="{text.translate(_IN_LABELS)}"' for name, text in labels.items())
        yield f"{gauge.name}{{{named}}} {value}" if named else f"{gauge.name} {value}"
