"""Versions of Kafka that a cluster may run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Version: TypeAlias = tuple[int, int]

OLDEST: Version = (0, 10)
NEWEST: Version = (3, 9)


@dataclass(frozen=True, slots=True)
class KafkaVersions:
    """The oldest and the newest possible version, both included."""

    oldest: Version = OLDEST
    newest: Version = NEWEST

    def __str__(self) -> str:
        low, high = (".".join(str(part) for part in each) for each in (self.oldest, self.newest))
        return low if low == high else f"{low} to {high}"

    def may_be(self, oldest: Version, newest: Version) -> bool:
        """Whether any version from `oldest` to `newest` fits."""
        return self.oldest <= newest and oldest <= self.newest
