"""The options that name a cluster; a command gets them as one value, its parameter `cluster`."""

from __future__ import annotations

import inspect
import os
import re
import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from kadmin.cli.option_groups import group_options, option
from kadmin.contexts.settings import CONTEXT_VARIABLE
from kadmin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.contexts.model import NamedContext

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
    "context": Annotated[
        str | None,
        typer.Option(
            "--context",
            envvar=CONTEXT_VARIABLE,
            metavar="NAME",
            help="A cluster of the contexts file, with its credentials. Default: the current one.",
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
_OPTION_GROUP = {name: option(name, annotation) for name, annotation in _OPTIONS.items()}
_CONFIRM = Annotated[
    str | None,
    typer.Option("--confirm", metavar="NAME", help="The name of the context, where its protection wants it typed."),
]
_VARIABLES = {"-z": ZOOKEEPER_VARIABLE, "-b": BOOTSTRAP_VARIABLE, "--context": CONTEXT_VARIABLE}
_HOW_TO_NAME_IT = (
    f"-z CONNECT (or set {ZOOKEEPER_VARIABLE}), -b BROKERS (or set {BOOTSTRAP_VARIABLE}), "
    f"or --context NAME (or set {CONTEXT_VARIABLE})"
)
_COMMAND = re.compile(r"\bkadmin (?=[a-z])(?:(?!, |; |: | \(|\)|$).)*")
"""A command that a message names: it ends before a comma, a semicolon, a colon or a bracket."""
_WITHOUT_CLUSTER = tuple(
    f"kadmin {name}" for name in ("validate", "convert", "schema", "sandbox", "propose rebalance", "context")
)


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """How a cluster is reached: through `zookeeper`, or through the brokers of `bootstrap`; one of the two is set.

    `command_config` is the file that says how brokers are asked. `records` is the folder that keeps lock and records in
    place of the cluster. `context` is the one that the address is of, `typed_context` whether --context named it, and
    `confirmed` whether --confirm did, too.
    """

    zookeeper: str | None = None
    bootstrap: str | None = None
    command_config: Path | None = None
    records: Path | None = None
    context: NamedContext | None = None
    typed_context: bool = False
    confirmed: bool = False

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
        """The options that name this address, but for those that the environment or the contexts file has."""
        context, kafka = self.context, None if self.context is None else self.context.kafka
        known = {
            "--context": context and not self.typed_context and context.name,
            "-z": os.environ.get(ZOOKEEPER_VARIABLE),
            "-b": os.environ.get(BOOTSTRAP_VARIABLE),
            "--command-config": str(kafka.command_config) if kafka else None,
            "--records": str(kafka.records) if kafka else None,
        }
        return " ".join(
            f"{option} {shlex.quote(value)}" for option, value in self.options.items() if value != known.get(option)
        )

    def named_in(self, text: str) -> str:
        """Add the options of this address to the commands that a text names, where they take and lack them."""
        typed = self.typed

        def add(found: re.Match[str]) -> str:
            line = found[0]
            has_address = any(f" {option} " in line for option in ("-z", "-b", "--context"))
            return line if has_address or not typed or line.startswith(_WITHOUT_CLUSTER) else f"{line} {typed}"

        return _COMMAND.sub(add, text)


@dataclass(frozen=True, slots=True)
class Fleet:
    """The clusters whose contexts a pattern matches, by their names."""

    clusters: Mapping[str, ClusterAddress]


def on_cluster(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name its cluster, in place of its parameter `cluster`.

    A command whose `cluster` has the default None is run without one, too. One whose `cluster` may be a Fleet takes a
    pattern for --context. Raises UsageError for two addresses.
    """
    return group_options(command, "cluster", _OPTION_GROUP, partial(_taken, command))


def changes_cluster(command: Callable[..., Any]) -> Callable[..., Any]:
    """Do as `on_cluster` does for a command that writes: the protection of a context applies, before it connects.

    With --dry-run, and with --out, it writes nothing.
    """

    def build(taken: Mapping[str, Any], given: dict[str, Any]) -> object:
        from kadmin.cli.protection import require_writable

        confirm, cluster = taken["confirm"], _taken(command, taken, given)
        harmless = given.get("dry_run") or given.get("out")
        return cluster if harmless or not isinstance(cluster, ClusterAddress) else require_writable(cluster, confirm)

    return group_options(command, "cluster", {**_OPTION_GROUP, "confirm": option("confirm", _CONFIRM)}, build)


def _taken(
    command: Callable[..., Any], taken: Mapping[str, Any], given: dict[str, Any]
) -> ClusterAddress | Fleet | None:
    """Return the cluster of a command; its policy, where none was `given`, is that of the context."""
    required = inspect.signature(command).parameters["cluster"].default is inspect.Parameter.empty
    of_many = Fleet in get_args(get_type_hints(command)["cluster"])
    options = {name: taken[name] for name in _OPTIONS}
    cluster = _cluster(_Given(**options), required=required, offline=given.get("inventory") is not None)
    if isinstance(cluster, Fleet) and not of_many:
        raise UsageError(
            "Several contexts at once are read by doctor, status, inspect and snapshot only.",
            next_command="--context NAME",
        )
    if isinstance(cluster, ClusterAddress) and cluster.context and given.get("policy", "") is None:
        given["policy"] = cluster.context.policy
    return cluster


def require_cluster(address: ClusterAddress | None) -> ClusterAddress:
    """Return the address of the cluster; raises UsageError where neither it nor a snapshot was given."""
    if address is None:
        raise UsageError(
            "A cluster or a snapshot is needed.",
            next_command=f"add {_HOW_TO_NAME_IT}, or --inventory DIR",
        )
    return address


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


@dataclass(frozen=True, slots=True)
class _Given:
    """The options as they were given, or their variables."""

    zookeeper: str | None
    bootstrap: str | None
    context: str | None
    command_config: Path | None
    records: Path | None

    def named(self) -> dict[str, str]:
        """Return the options that name a cluster; one that was typed outweighs the variables of the others."""
        given = {"-z": self.zookeeper, "-b": self.bootstrap, "--context": self.context}
        named = {option: value for option, value in given.items() if value is not None}
        typed = {option: value for option, value in named.items() if value != os.environ.get(_VARIABLES[option])}
        return typed or named


def _cluster(given: _Given, *, required: bool, offline: bool) -> ClusterAddress | Fleet | None:
    named = given.named()
    if len(named) > 1:
        raise _named_twice(named)
    found: ClusterAddress | Fleet | None = None
    if "--context" in named:
        found = _of_context(given, named["--context"])
    elif named:
        found = ClusterAddress(named.get("-z"), named.get("-b"), given.command_config, given.records)
    elif required or not offline:
        from kadmin.cli.named_clusters import current_context

        if (current := current_context()) is not None:
            found = address_of(current, given.command_config, given.records, typed=False)
    if given.records is not None and not (isinstance(found, ClusterAddress) and found.bootstrap):
        raise UsageError("--records goes with -b.", next_command="add -b BROKERS, or leave --records out")
    if found is None and required:
        raise UsageError("No cluster is named.", next_command=f"add {_HOW_TO_NAME_IT}")
    return found


def _of_context(given: _Given, name: str) -> ClusterAddress | Fleet:
    from kadmin.cli.named_clusters import find_context, is_pattern, matching_contexts

    if not is_pattern(name):
        typed = name != os.environ.get(CONTEXT_VARIABLE)
        return address_of(find_context(name), given.command_config, given.records, typed=typed)
    if given.command_config is not None or given.records is not None:
        raise UsageError(
            "--command-config and --records are of one cluster.", next_command="write them into the contexts"
        )
    return Fleet({each.name: address_of(each, typed=True) for each in matching_contexts(name)})


def _named_twice(named: Mapping[str, str]) -> UsageError:
    said = ", ".join(f"{option} or {_VARIABLES[option]} is {value}" for option, value in named.items())
    if "--context" in named:
        return UsageError(
            "A cluster is named by its address or by its context, not both.",
            cause=said,
            next_command="type the one that is meant, or unset its variable",
        )
    return UsageError(
        "A cluster is reached through ZooKeeper or through its brokers, not both.",
        cause=said,
        next_command="type -z for a cluster with ZooKeeper, -b for one in KRaft mode",
    )
