"""The address of a cluster, and the options that name it in the commands of messages."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.next_step import with_commands

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kadmin.contexts.model import NamedContext
    from kadmin.next_step import CommandLine, NextStep

ZOOKEEPER_VARIABLE = "KADMIN_ZOOKEEPER"
BOOTSTRAP_VARIABLE = "KADMIN_BOOTSTRAP_SERVER"
_OF_BOTH_SIDES = {"doctor migration", "history import"}
_WITHOUT_CLUSTER = (
    "validate",
    "convert",
    "schema",
    "explain",
    "sandbox",
    "propose rebalance",
    "load",
    "context",
)


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """The address of a cluster: a `zookeeper` connection string or `bootstrap` brokers.

    One of the two is set. `command_config` is the file of the brokers' client settings. `records`
    is the folder that keeps lock and records in place of the cluster. `context` is the context of
    the address, `typed_context` whether --context named it, and `confirmed` whether --confirm did,
    too. `without_brokers`: brokers are not asked for what `zookeeper` lacks.
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
    def typed(self) -> tuple[str, ...]:
        """The options that name this address, but those of the environment or the contexts file."""
        context, kafka = self.context, None if self.context is None else self.context.kafka
        default_options = {
            "--context": context and not self.typed_context and context.name,
            "-z": os.environ.get(ZOOKEEPER_VARIABLE),
            "-b": os.environ.get(BOOTSTRAP_VARIABLE),
            "--command-config": kafka and str(kafka.command_config),
            "--records": kafka and str(kafka.records),
        }
        return tuple(
            word
            for pair in self.options.items()
            if pair[1] != default_options[pair[0]]
            for word in pair
        )

    def named(self, step: NextStep | str | None) -> NextStep | str | None:
        """Add this address's options to each command of a next step that takes and lacks them."""
        return with_commands(step, lambda each: _on_cluster(each, self.typed))


@dataclass(frozen=True, slots=True)
class MigratingCluster:
    """A cluster that migrates to KRaft, through ZooKeeper and through its brokers."""

    zookeeper: ClusterAddress
    brokers: ClusterAddress

    def named(self, step: NextStep | str | None, *, by_api: bool) -> NextStep | str | None:
        """Add options to the commands of a next step.

        Those of both sides to those that take both, else of one side.
        """
        one, both = (
            self.brokers if by_api else self.zookeeper,
            (self.zookeeper.typed, self.brokers.typed),
        )
        typed = tuple(word for side in dict.fromkeys(both) for word in side)
        return with_commands(
            step,
            lambda each: _on_cluster(each, typed if each.name in _OF_BOTH_SIDES else one.typed),
        )


@dataclass(frozen=True, slots=True)
class Fleet:
    """The clusters whose contexts a pattern matches, by their names."""

    clusters: Mapping[str, ClusterAddress]


def _on_cluster(command: CommandLine, typed: tuple[str, ...]) -> CommandLine:
    """Return the command with the options of a cluster, unless it has some or takes none."""
    if command.name.startswith(_WITHOUT_CLUSTER) or not {"-z", "-b", "--context"}.isdisjoint(
        command.arguments
    ):
        return command
    return replace(command, arguments=(*command.arguments, *typed))


def address_of(
    context: NamedContext,
    command_config: Path | None = None,
    records: Path | None = None,
    *,
    typed: bool,
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
