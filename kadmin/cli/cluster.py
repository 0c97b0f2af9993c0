"""The options that name a cluster; a command gets them as one value, its parameter `cluster`."""

from __future__ import annotations

import inspect
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kadmin.cli.option_groups import group_options, option
from kadmin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ZOOKEEPER_VARIABLE = "KADMIN_ZOOKEEPER"
BOOTSTRAP_VARIABLE = "KADMIN_BOOTSTRAP_SERVER"

_OPTIONS: Mapping[str, Any] = {
    "zookeeper": Annotated[
        str | None,
        typer.Option(
            "-z",
            "--zookeeper",
            envvar=ZOOKEEPER_VARIABLE,
            metavar="CONNECT",
            help="ZooKeeper servers and chroot: zk1:2181,zk2:2181/kafka.",
        ),
    ],
    "bootstrap": Annotated[
        str | None,
        typer.Option(
            "-b",
            "--bootstrap-server",
            envvar=BOOTSTRAP_VARIABLE,
            metavar="BROKERS",
            help="Brokers: kafka1:9092,kafka2:9092. Instead of -z, for clusters in KRaft mode.",
        ),
    ],
    "command_config": Annotated[
        Path | None,
        typer.Option(
            "--command-config",
            metavar="FILE",
            help="How brokers are asked, with TLS or SASL: Kafka's client.properties.",
        ),
    ],
    "records": Annotated[
        Path | None,
        typer.Option(
            "--records",
            metavar="DIR",
            help="With -b: keep lock and records of operations in this folder of one machine, not in the cluster.",
        ),
    ],
}
_COMMAND = re.compile(r"\bkadmin (?=[a-z])(?:(?!, |; |: | \(|\)|$).)*")
"""A command that a message names: it ends before a comma, a semicolon, a colon or a bracket."""
_WITHOUT_CLUSTER = tuple(f"kadmin {name}" for name in ("validate", "convert", "schema", "sandbox", "propose rebalance"))


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """How a cluster is reached: through `zookeeper`, or through the brokers of `bootstrap`; one of the two is set.

    `command_config` is the file that says how brokers are asked. `records` is the folder that keeps lock and records in
    place of the cluster.
    """

    zookeeper: str | None = None
    bootstrap: str | None = None
    command_config: Path | None = None
    records: Path | None = None

    def __str__(self) -> str:
        return self.zookeeper or self.bootstrap or ""

    @property
    def options(self) -> dict[str, str]:
        """The options that name this address, with their values."""
        given = {
            "-z": self.zookeeper,
            "-b": self.bootstrap,
            "--command-config": self.command_config,
            "--records": self.records,
        }
        return {option: str(value) for option, value in given.items() if value is not None}

    @property
    def typed(self) -> str:
        """The options that name this address as they are typed, but for those that the environment has."""
        known = {"-z": os.environ.get(ZOOKEEPER_VARIABLE), "-b": os.environ.get(BOOTSTRAP_VARIABLE)}
        return " ".join(
            f"{option} {shlex.quote(value)}" for option, value in self.options.items() if value != known.get(option)
        )

    def named_in(self, text: str) -> str:
        """Add the options of this address to the commands that a text names, where they take and lack them."""
        typed = self.typed

        def add(found: re.Match[str]) -> str:
            line = found[0]
            has_address = " -z " in line or " -b " in line
            return line if has_address or not typed or line.startswith(_WITHOUT_CLUSTER) else f"{line} {typed}"

        return _COMMAND.sub(add, text)


def on_cluster(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name its cluster, in place of its parameter `cluster`.

    A command whose `cluster` has the default None is run without one, too. Raises UsageError for two addresses.
    """
    required = inspect.signature(command).parameters["cluster"].default is inspect.Parameter.empty
    options = {name: option(name, annotation) for name, annotation in _OPTIONS.items()}
    return group_options(command, "cluster", options, lambda taken, _: _address(**taken, required=required))


def require_cluster(address: ClusterAddress | None) -> ClusterAddress:
    """Return the address of the cluster; raises UsageError where neither it nor a snapshot was given."""
    if address is None:
        raise UsageError(
            "A cluster or a snapshot is needed.",
            next_command=f"add -z CONNECT (or set {ZOOKEEPER_VARIABLE}), -b BROKERS (or set {BOOTSTRAP_VARIABLE}), "
            "or --inventory DIR",
        )
    return address


def _address(
    zookeeper: str | None, bootstrap: str | None, command_config: Path | None, records: Path | None, *, required: bool
) -> ClusterAddress | None:
    if zookeeper is not None and bootstrap is not None:
        # An option that was typed outweighs the variable of the other.
        typed = zookeeper != os.environ.get(ZOOKEEPER_VARIABLE), bootstrap != os.environ.get(BOOTSTRAP_VARIABLE)
        if typed[0] == typed[1]:
            raise UsageError(
                "A cluster is reached through ZooKeeper or through its brokers, not both.",
                cause=f"-z or {ZOOKEEPER_VARIABLE} is {zookeeper}, -b or {BOOTSTRAP_VARIABLE} is {bootstrap}",
                next_command="type -z for a cluster with ZooKeeper, -b for one in KRaft mode",
            )
        zookeeper, bootstrap = (zookeeper, None) if typed[0] else (None, bootstrap)
    if records is not None and bootstrap is None:
        raise UsageError("--records goes with -b.", next_command="add -b BROKERS, or leave --records out")
    if zookeeper is not None or bootstrap is not None:
        return ClusterAddress(zookeeper, bootstrap, command_config, records)
    if required:
        raise UsageError(
            "No cluster is named.",
            next_command=f"add -z CONNECT (or set {ZOOKEEPER_VARIABLE}), or -b BROKERS (or set {BOOTSTRAP_VARIABLE})",
        )
    return None
