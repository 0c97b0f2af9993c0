"""Formats the figures of a row with their targets and the peers' figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from planner_rows import Measured, Rival

HEADERS = ("row", "figure", "kadmin", "target", "", "kafka-utils 4.1.0", "kafka-tools 0.1.9")
_WIDTHS = (10, 34, 13, 15, 6, 17, 17)
MISSED = "MISSED"
_RATIO, _RATIO_AT_L = 1.005, 1.003
_CV = 0.01
_DISK_RATIO, _TIMES = 1.05, 1.3
_EVEN = 1.001
"""Above this bound on max/mean, racks or one large partition make bytes uneven."""
_LOSS = {"S": 1.20, "M": 1.08, "L": 1.04}
_KERNEL_S = {"L": 0.5}
_SPARK_S = {"S": 12, "M": 12, "L": 20, "1M": 45, "5M": 90, "fleet-200": 30, "fleet-1000": 90}
_LOCAL_S = {"S": 1, "M": 2, "L": 6}
_SPARK_MIB = {"5M": 8 * 1024}


@dataclass(frozen=True, slots=True)
class Line:
    """One figure.

    Its text, its target's, whether that is missed, and the peers' texts in the order of HEADERS.
    """

    figure: str
    text: str
    target: str = ""
    missed: bool = False
    peers: tuple[str, ...] = ()


def header() -> str:
    """Return the first line of the table."""
    return _aligned(HEADERS)


def text_of(row: str, line: Line) -> str:
    """Return one line of the table."""
    return _aligned(
        (row, line.figure, line.text, line.target, MISSED if line.missed else "", *line.peers)
    )


def lines_of(measured: Measured) -> Iterator[Line]:
    """Yield the lines of one row."""
    yield from _plan_lines(measured)
    yield from _cost_lines(measured)


_TOPICS = {
    "topic_excess": "replicas above their topic's share",
    "topic_leader_excess": "leaders above their topic's share",
}


def _plan_lines(measured: Measured) -> Iterator[Line]:
    figures, size = measured.figures, measured.row.name.partition("-")[0]
    after, bound = figures["after"], figures["bound"]
    rivals = measured.rivals

    def line(figure: str, key: str, target: str, *, missed: bool = False) -> Line:
        return Line(
            figure,
            _TEXTS[key](figures),
            target,
            missed,
            tuple(_of_rival(each, key) for each in rivals),
        )

    most = _RATIO_AT_L if size == "L" else _RATIO
    yield line("moves", "moves", f"bound {figures['moves_bound']}")
    yield line(
        "moves / bound",
        "ratio",
        f"<= {most}",
        missed=figures["moves"] > figures["moves_bound"] * most,
    )
    for key in ("replicas", "leaders"):
        wrong = (
            after[f"{key}_max"] > bound[f"{key}_max"] or after[f"{key}_min"] < bound[f"{key}_min"]
        )
        yield line(f"{key} per broker", key, _span(bound, key), missed=wrong)
    yield line("bytes, max / mean", "bytes", f"bound {bound['bytes_max_over_mean']:.3f}")
    if bound["bytes_max_over_mean"] <= _EVEN:
        yield line("bytes, deviation / mean", "cv", f"< {_CV:.0%}", missed=after["bytes_cv"] >= _CV)
    else:
        yield line("bytes, deviation / mean", "cv", "uneven by rule")
    loss = _LOSS.get(size)
    text = "bound 1.000" if loss is None else f"< {loss}"
    yield line(
        "leaders after a loss, max / fair",
        "loss",
        text,
        missed=after["failover_share"] >= (loss or 2),
    )
    for key, figure in _TOPICS.items():
        yield line(figure, key, f"before {figures['before'][key]}")
    yield line("rack violations", "racks", "0", missed=after["rack_violations"] > 0)
    yield line("leader changes", "leader changes", f"bound {figures['leader_changes_bound']}")
    yield line("entries that only reorder", "reorders", "")
    yield from _disk_lines(figures.get("disks"))
    again = tuple(_again(each) for each in rivals)
    yield Line(
        "entries of a second run", str(measured.kernel.again), "0", measured.kernel.again > 0, again
    )


def _disk_lines(disks: Mapping[str, Any] | None) -> Iterator[Line]:
    """Yield the lines of moves between disks; none for a row without disks."""
    if disks is None:
        return
    moves, bound = disks["moves"], disks["moves_bound"]
    yield Line("moves between disks", str(moves), f"bound {bound}")
    ratio = moves / max(bound, 1)
    missed = moves > bound * _DISK_RATIO
    yield Line("moves between disks / bound", f"{ratio:.4f}", f"<= {_DISK_RATIO}", missed)
    yield Line("bytes on a disk / its part", f"{disks['after']:.3f}", "", peers=())
    outside = disks["outside"]
    yield Line("disks off by more than 5 %", str(outside), "0", outside > 0)


def _cost_lines(measured: Measured) -> Iterator[Line]:
    row, kernel, spark, local = measured.row, measured.kernel, measured.spark, measured.local
    size, million = row.name.partition("-")[0], row.partitions / 10**6
    alone = "kernel, one process, s" if row.fleet else "kernel, s"
    yield _seconds(alone, kernel.seconds, _KERNEL_S.get(size))
    yield _seconds("kernel, s of CPU", kernel.cpu_s, None)
    yield Line("kernel, s per million partitions", f"{kernel.seconds / million:.1f}")
    rivals = measured.rivals
    yield _seconds(
        "whole process, s",
        spark.seconds,
        _SPARK_S.get(row.name, _SPARK_S.get(size)),
        _times(rivals, None),
    )
    if rivals:
        yield Line("times kadmin's time", "1.0", peers=_times(rivals, spark.seconds))
    yield _seconds("whole process, s of CPU", spark.cpu_s, None)
    yield Line("whole process, s per million", f"{spark.seconds / million:.1f}")
    most = _SPARK_MIB.get(row.name)
    target = "" if most is None else f"< {most}"
    yield Line(
        "peak memory, MiB", str(spark.peak_mib), target, most is not None and spark.peak_mib >= most
    )
    if local is not None:
        yield _seconds("--engine local, s", local.seconds, _LOCAL_S.get(size), _times(rivals, None))
        if rivals:
            yield Line("times kadmin's time", "1.0", peers=_times(rivals, local.seconds))
        yield _seconds("--engine local, s of CPU", local.cpu_s, None)
        if measured.without_disks is not None:
            times = local.cpu_s / measured.without_disks.cpu_s
            yield Line("CPU, times without disks", f"{times:.2f}", f"<= {_TIMES}", times > _TIMES)
        yield Line("--engine local, peak memory, MiB", str(local.peak_mib))
        yield Line(
            "both engines' plans",
            "same" if measured.same_bytes else "differ",
            "same",
            not measured.same_bytes,
        )


def _seconds(figure: str, seconds: float, most: float | None, peers: tuple[str, ...] = ()) -> Line:
    target = "" if most is None else f"< {most:g}"
    return Line(figure, f"{seconds:.2f}", target, most is not None and seconds >= most, peers)


def _times(rivals: tuple[Rival, ...], own: float | None) -> tuple[str, ...]:
    """Return the peers' seconds, or what multiple of kadmin's they are."""
    if own is None:
        return tuple("-" if each.figures is None else f"{each.seconds:.2f}" for each in rivals)
    return tuple("-" if each.figures is None else f"{each.seconds / own:.1f}" for each in rivals)


def _of_rival(rival: Rival, key: str) -> str:
    return "-" if rival.figures is None else _TEXTS[key](rival.figures)


def _again(rival: Rival) -> str:
    return "-" if rival.again is None else str(rival.again)


def _span(figures: Mapping[str, Any], key: str) -> str:
    return f"{figures[f'{key}_min']} - {figures[f'{key}_max']}"


_TEXTS = {
    "moves": lambda figures: str(figures["moves"]),
    "ratio": lambda figures: f"{figures['moves'] / max(figures['moves_bound'], 1):.4f}",
    "replicas": lambda figures: _span(figures["after"], "replicas"),
    "leaders": lambda figures: _span(figures["after"], "leaders"),
    "bytes": lambda figures: f"{figures['after']['bytes_max_over_mean']:.3f}",
    "cv": lambda figures: f"{figures['after']['bytes_cv']:.2%}",
    "topic_excess": lambda figures: str(figures["after"]["topic_excess"]),
    "topic_leader_excess": lambda figures: str(figures["after"]["topic_leader_excess"]),
    "loss": lambda figures: f"{figures['after']['failover_share']:.3f}",
    "racks": lambda figures: str(figures["after"]["rack_violations"]),
    "leader changes": lambda figures: str(figures["leader_changes"]),
    "reorders": lambda figures: str(figures["order_changes"]),
}


def _aligned(cells: tuple[str, ...]) -> str:
    return "  ".join(
        cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=False)
    ).rstrip()
