"""The differences between versions of Kafka that kadmin's rules rely on: docs/eras.yaml, from which
docs/eras.md comes.

Each claim is proved on live brokers of each of its versions by the test of its name: through znodes
by tests/live/test_eras*.py, in KRaft mode by
tests/kraft/test_eras_api*.py, through the brokers of a cluster in ZooKeeper mode by
tests/live/test_eras_reading.py; on disks in both modes by tests/live/test_eras_disks.py and
test_eras_failed_disks.py, on tiers by tests/live/test_eras_tiers.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DOCS = Path(__file__).parents[3] / "docs"


@dataclass(frozen=True, slots=True)
class Claim:
    """One difference: `seen` maps each version to what happens, `matters` is what kadmin does
    because of it.
    """

    name: str
    title: str
    seen: Mapping[str, str]
    matters: str


class Table(NamedTuple):
    """Claims on one way to a cluster, on the versions that they are proved on, oldest first."""

    title: str
    versions: tuple[str, ...]
    claims: tuple[Claim, ...]


def _seen(changes: Mapping[str, str], versions: Iterable[str]) -> dict[str, str]:
    """Return what happens in each version, of what happens from a version on."""
    found, now = {}, ""
    for version in versions:
        found[version] = now = changes.get(version, now)
    return found


def _table(title: str, versions: list[str], claims: Mapping[str, Any]) -> Table:
    found = (
        Claim(name, **{**claim, "seen": _seen(claim["seen"], versions)})
        for name, claim in claims.items()
    )
    return Table(title, tuple(versions), tuple(found))


TABLES = {
    name: _table(**table)
    for name, table in yaml.safe_load((DOCS / "eras.yaml").read_text(encoding="utf-8")).items()
}
_, VERSIONS, CLAIMS = TABLES["znodes"]
_, KRAFT_VERSIONS, KRAFT_CLAIMS = TABLES["kraft"]
_, READING_VERSIONS, READING_CLAIMS = TABLES["reading"]
_, DISK_VERSIONS, DISK_CLAIMS = TABLES["disks"]
_, TIER_VERSIONS, TIER_CLAIMS = TABLES["tiers"]


def claim(name: str, among: Iterable[Claim] = CLAIMS) -> Claim:
    """Return one claim; raises KeyError for a name that is none."""
    return {each.name: each for each in among}[name]
