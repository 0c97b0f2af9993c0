"""Figures of disks in a proposal: as rows beside its other figures, and disk by disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kadmin.cluster.names import one_line
from kadmin.report.text import NOTHING, about, table
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SHOWN = 10


def disk_rows(disks: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield each figure as its name, before, after and bound; none without disks."""
    if not disks:
        return
    bound = disks["moves_bound"]
    yield ("bytes on a disk, max / its part", _ratio(disks["before"]), _ratio(disks["after"]), "")
    yield ("moves between disks", "", str(disks["moves"]), "" if bound is None else str(bound))
    yield ("bytes between disks", "", about(disks["moved_bytes"]), "")


def disk_lines(disks: Mapping[str, Any]) -> Iterator[str]:
    """Yield the disks that change most, and what is known of the moves between disks."""
    if not disks:
        return
    changed = most_changed(disks)
    if changed:
        rows = [
            (each["broker_id"], paths_of(each), *map(about, bytes_of(each)))
            for each in changed[:_SHOWN]
        ]
        yield table(("broker", "log directory", "bytes before", "after", "its part"), rows)
    if len(changed) > _SHOWN:
        yield f"{len(changed) - _SHOWN:,} more disks change; --figures FILE has them all"
    if disks["moves"] and disks["proved_fewest"]:
        yield "proved: no plan as even moves fewer replicas between disks"
    if disks["outside"]:
        off = count(disks["outside"], "disk differs from its part", "disks differ from their parts")
        yield f"{off} by more than the tolerance"


def most_changed(disks: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the disks whose bytes change, those that change most first."""
    changed = [each for each in disks["disks"] if each["before"] != each["after"]]
    return sorted(changed, key=lambda each: -abs(each["after"] - each["before"]))


def paths_of(disk: Mapping[str, Any]) -> str:
    """Return the log directories of a disk."""
    return ", ".join(map(one_line, (disk["path"], *disk["shared_with"])))


def bytes_of(disk: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return the bytes of a disk before and after, and its part."""
    return disk["before"], disk["after"], disk["part"]


def _ratio(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"
