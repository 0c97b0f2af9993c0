"""The address of a cluster, and the options that name it in the commands of messages."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kadmin.contexts.model import NamedContext

ZOOKEEPER_VARIABLE = "KADMIN_ZOOKEEPER"
BOOTSTRAP_VARIABLE = "KADMIN_BOOTSTRAP_SERVER"
_COMMAND = re.compile(r"\bkadmin (?=[a-z])(?:(?!, |; |: | \(|\)|$).)*")
"""A command that a message names: it ends before a comma, a semicolon, a colon or a bracket."""
_OF_BOTH = re.compile(r"\bkadmin (?:doctor migration|history import)\b(?! -)")
_WITHOUT_CLUSTER = tuple(
    f"kadmin {name}" for name in ("validate", "convert", "schema", "sandbox", "propose rebalance", "context")
)


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """The address of a cluster: a `zookeeper` connection string or `bootstrap` brokers; one of the two is set.

    `command_config` is the file of the brokers' client settings. `records` is the folder that keeps lock and records in
    place of the cluster. `context` is the context of the address, `typed_context` whether --context named it, and
    `confirmed` whether --confirm did, too. `without_brokers`: brokers are not asked for what `zookeeper` lacks.
    """

    zookeeper: str | None = None
    bootstrap: str | None = None
    command_config: Path | None = None
    records: Path | None = None
    context: NamedContext | None = None
    typed_context: bool = False
    confirmed: bool = False
    without_brokers: bool = False

    def __str__(self) -> str:
        place = self.zookeeper or self.bootstrap or ""
        return place if self.context is None else f"{self.context.name} ({place})"

    @property
    def options(self) -> dict[str, str]:
        """The options that name this address, with their values."""
        context = self.context
        given = {
            "--context": context and context.name,
            "-z": None if context else self.zookeeper,
            "-b": None if context else self.bootstrap,
            "--command-config": self.command_config,
            "--records": self.records,
        }
        return {option: str(value) for option, value in given.items() if value is not None}

    @property
    def typed(self) -> str:
        """The options that name this address, without those that the environment or the contexts file has."""
        context, kafka = self.context, None if self.context is None else self.context.kafka
        known = {
            "--context": context and not self.typed_context and context.name,
            "-z": os.environ.get(ZOOKEEPER_VARIABLE),
            "-b": os.environ.get(BOOTSTRAP_VARIABLE),
            "--command-config": kafka and str(kafka.command_config),
            "--records": kafka and str(kafka.records),
        }
        return " ".join(
            f"{option} {shlex.quote(value)}" for option, value in self.options.items() if value != known[option]
        )

    def named_in(self, text: str) -> str:
        """Add this address's options to each kadmin command in a text that takes them and has none."""
        typed = self.typed

        def add(found: re.Match[str]) -> str:
            line = found[0]
            has_address = any(f" {option} " in line for option in ("-z", "-b", "--context"))
            return line if has_address or not typed or line.startswith(_WITHOUT_CLUSTER) else f"{line} {typed}"

        return _COMMAND.sub(add, text)


@dataclass(frozen=True, slots=True)
class MigratingCluster:
    """A cluster that migrates to KRaft, through ZooKeeper and through its brokers."""

    zookeeper: ClusterAddress
    brokers: ClusterAddress

    def named_in(self, text: str, *, by_api: bool) -> str:
        """Add options to the commands that a text names: of both sides where they take both, else of the one."""
        both = " ".join(dict.fromkeys(filter(None, (self.zookeeper.typed, self.brokers.typed))))
        named = _OF_BOTH.sub(lambda found: f"{found[0]} {both}" if both else found[0], text)
        return (self.brokers if by_api else self.zookeeper).named_in(named)


@dataclass(frozen=True, slots=True)
class Fleet:
    """The clusters whose contexts a pattern matches, by their names."""

    clusters: Mapping[str, ClusterAddress]


def address_of(
    context: NamedContext, command_config: Path | None = None, records: Path | None = None, *, typed: bool
) -> ClusterAddress:
    """Return the address of a context; the files that options name outweigh its own."""
    zookeeper, kafka = context.zookeeper, context.kafka
    return ClusterAddress(
        None if zookeeper is None else zookeeper.connect,
        kafka.bootstrap_servers if zookeeper is None else None,
        command_config or kafka.command_config,
        records or kafka.records,
        context,
        typed,
    )
