"""Consumer groups: those that keep their offsets in Kafka, and old consumers."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.names import escaped
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Mapping

CLASSIC = "classic"
"""The kind of groups that DescribeGroups describes, the only one before Kafka 3.7."""


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """A group as its coordinator lists it.

    `kind` is classic, consumer (KIP-848), share or streams, `protocol` the protocol type of a
    classic group; `state` is empty where brokers do not report it.
    """

    name: str
    kind: str = CLASSIC
    protocol: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class ConsumerGroup:
    """A group that keeps its offsets in Kafka.

    `topics` are those that it has offsets of or subscribes to; `unseen` says why some may be
    missing, None where all are known. `members` is None where they were not seen.
    """

    listed: ListedGroup
    members: int | None
    topics: frozenset[str]
    unseen: str | None = None

    @property
    def name(self) -> str:
        """The group's id."""
        return self.listed.name


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups that brokers list, by name.

    `unlisted` are others that there may be, each with the reason.
    """

    listed: tuple[ConsumerGroup, ...]
    unlisted: tuple[tuple[str, str], ...] = ()

    @property
    def topics(self) -> Mapping[str, frozenset[str]]:
        """The topics that each group has offsets of or subscribes to."""
        return {group.name: group.topics for group in self.listed}

    @property
    def unseen(self) -> tuple[tuple[str, str], ...]:
        """The groups, or parts of them, that could not be read, each with the reason."""
        names: dict[str, list[str]] = {}
        for group in self.listed:
            if group.unseen is not None:
                names.setdefault(group.unseen, []).append(escaped(group.name))
        groups = (
            (f"not every topic that these groups use was seen ({name_some(names[reason])})", reason)
            for reason in names
        )
        return (*self.unlisted, *groups)


@dataclass(frozen=True, slots=True)
class ConsumerRegistration:
    """A live old consumer: threads per topic, or per pattern.

    They are per pattern where `pattern` is white_list or black_list.
    """

    consumer_id: str
    subscription: Mapping[str, int]
    pattern: str
    timestamp_ms: int | None

    def threads(self, topic: str) -> int:
        """Return the number of threads that consume a topic, by its name or by a pattern.

        0 if it is not consumed.
        """
        if self.pattern not in {"white_list", "black_list"}:
            return self.subscription.get(topic, 0)
        for pattern, threads in self.subscription.items():
            # Kafka's Whitelist turns commas into alternatives; a pattern that is no regex matches
            # nothing here.
            with suppress(re.error):
                matched = re.fullmatch(pattern.replace(",", "|"), topic) is not None
                if matched is (self.pattern == "white_list"):
                    return threads
        return 0
