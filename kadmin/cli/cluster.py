"""The options that name a cluster; a command gets them as one value, its parameter `cluster`."""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from kadmin.cli.named_clusters import (
    complete_context,
    current_context,
    find_context,
    is_pattern,
    matching_contexts,
)
from kadmin.cli.option_groups import group_options, option
from kadmin.cli.protection import require_writable
from kadmin.contexts.address import (
    BOOTSTRAP_VARIABLE,
    ZOOKEEPER_VARIABLE,
    ClusterAddress,
    Fleet,
    MigratingCluster,
    address_of,
)
from kadmin.contexts.settings import CONTEXT_VARIABLE
from kadmin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
            autocompletion=complete_context,
            help="A context: cluster and credentials. Default: the current one.",
        ),
    ],
    "command_config": Annotated[
        Path | None,
        typer.Option(
            "--command-config",
            metavar="FILE",
            help="Settings of connections to brokers: Kafka's client.properties.",
        ),
    ],
    "records": Annotated[
        Path | None,
        typer.Option(
            "--records",
            metavar="DIR",
            help=(
                "With -b: keep the lock and records of operations in this local folder, not in "
                "the cluster."
            ),
        ),
    ],
}
_OPTION_GROUP = {name: option(name, annotation) for name, annotation in _OPTIONS.items()}
_CONFIRM = Annotated[
    str | None,
    typer.Option(
        "--confirm",
        metavar="NAME",
        autocompletion=complete_context,
        help="The context's name, if its protection requires it.",
    ),
]
_VARIABLES = {"-z": ZOOKEEPER_VARIABLE, "-b": BOOTSTRAP_VARIABLE, "--context": CONTEXT_VARIABLE}
_HOW_TO_NAME_IT = (
    f"-z CONNECT (or set {ZOOKEEPER_VARIABLE}), -b BROKERS (or set {BOOTSTRAP_VARIABLE}), "
    f"or --context NAME (or set {CONTEXT_VARIABLE})"
)


def on_cluster(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name its cluster, in place of its parameter `cluster`.

    A command whose `cluster` has the default None is run without one, too. One whose `cluster` may
    be a Fleet takes a pattern for --context. Raises UsageError for two addresses.
    """
    return group_options(command, "cluster", _OPTION_GROUP, partial(_resolve_cluster, command))


def changes_cluster(command: Callable[..., Any]) -> Callable[..., Any]:
    """Do as `on_cluster` does for a command that writes.

    The protection of a context applies, before it connects. With --dry-run, and with --out, it
    writes nothing.
    """

    def build(taken: Mapping[str, Any], given: dict[str, Any]) -> object:
        confirm, cluster = taken["confirm"], _resolve_cluster(command, taken, given)
        harmless = given.get("dry_run") or given.get("out")
        return (
            cluster
            if harmless or not isinstance(cluster, ClusterAddress)
            else require_writable(cluster, confirm)
        )

    return group_options(
        command, "cluster", {**_OPTION_GROUP, "confirm": option("confirm", _CONFIRM)}, build
    )


def on_both_sides(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of both sides of a migrating cluster, for its parameter `sides`.

    Raises UsageError unless -z and -b are given, or a context that has both.
    """
    return group_options(command, "sides", _OPTION_GROUP, lambda taken, _given: _both_sides(taken))


def changes_both_sides(command: Callable[..., Any]) -> Callable[..., Any]:
    """Do as `on_both_sides` does for a command that writes.

    The protection of a context applies, before it connects.
    """

    def build(taken: Mapping[str, Any], given: dict[str, Any]) -> MigratingCluster:
        del given
        sides = _both_sides(taken)
        require_writable(sides.brokers, taken["confirm"])
        return sides

    return group_options(
        command, "sides", {**_OPTION_GROUP, "confirm": option("confirm", _CONFIRM)}, build
    )


def _both_sides(taken: Mapping[str, Any]) -> MigratingCluster:
    given = _RawOptions(**{name: taken[name] for name in _OPTIONS})
    if given.zookeeper is not None and given.bootstrap is not None:
        return MigratingCluster(
            ClusterAddress(zookeeper=given.zookeeper, command_config=given.command_config),
            ClusterAddress(None, given.bootstrap, given.command_config, given.records),
        )
    found = _of_context(given, given.context) if given.context else current_context()
    context = found.context if isinstance(found, ClusterAddress) else found
    if (
        isinstance(context, Fleet)
        or context is None
        or not context.zookeeper
        or not context.kafka.bootstrap_servers
    ):
        raise UsageError(
            "A cluster that migrates is named by ZooKeeper and by its brokers.",
            next_step="add -z CONNECT and -b BROKERS, or --context NAME of a context that has both",
        )
    through = address_of(
        context, given.command_config, given.records, typed=given.context is not None
    )
    brokers = replace(through, zookeeper=None, bootstrap=context.kafka.bootstrap_servers)
    return MigratingCluster(replace(through, records=None), brokers)


def _resolve_cluster(
    command: Callable[..., Any], taken: Mapping[str, Any], given: dict[str, Any]
) -> ClusterAddress | Fleet | None:
    """Return the cluster of a command; where no policy was `given`, it has that of the context."""
    required = inspect.signature(command).parameters["cluster"].default is inspect.Parameter.empty
    of_many = Fleet in get_args(get_type_hints(command)["cluster"])
    options = {name: taken[name] for name in _OPTIONS}
    cluster = _cluster(
        _RawOptions(**options), required=required, offline=given.get("inventory") is not None
    )
    if isinstance(cluster, Fleet) and not of_many:
        raise UsageError(
            "Several contexts at once are read by broker, doctor, status, inspect, snapshot only.",
            next_step="--context NAME",
        )
    if isinstance(cluster, ClusterAddress) and cluster.context and given.get("policy", "") is None:
        given["policy"] = cluster.context.policy
    return cluster


def cluster_named(params: Mapping[str, Any]) -> ClusterAddress | Fleet | None:
    """Return the cluster that an incomplete command line names.

    `params` are the values typed so far.
    """
    return _cluster(
        _RawOptions(**{name: params.get(name) for name in _OPTIONS}), required=False, offline=False
    )


def asking_brokers(address: ClusterAddress, *, without: bool) -> ClusterAddress:
    """Return the address with the value of --without-brokers.

    Raises UsageError for an address of brokers alone.
    """
    if without and address.zookeeper is None:
        raise UsageError(
            "--without-brokers goes with -z: this cluster is reached through its brokers.",
            next_step="leave --without-brokers out",
        )
    return replace(address, without_brokers=without)


def require_cluster(address: ClusterAddress | None) -> ClusterAddress:
    """Return the address of the cluster.

    Raises UsageError where neither it nor a snapshot was given.
    """
    if address is None:
        raise UsageError(
            "A cluster or a snapshot is needed.",
            next_step=f"add {_HOW_TO_NAME_IT}, or --inventory DIR",
        )
    return address


@dataclass(frozen=True, slots=True)
class _RawOptions:
    """The values of the options, or of their environment variables."""

    zookeeper: str | None
    bootstrap: str | None
    context: str | None
    command_config: Path | None
    records: Path | None

    def named(self) -> dict[str, str]:
        """Return the options that name a cluster.

        A typed option takes precedence over environment variables.
        """
        given = {"-z": self.zookeeper, "-b": self.bootstrap, "--context": self.context}
        named = {option: value for option, value in given.items() if value is not None}
        typed = {
            option: value
            for option, value in named.items()
            if value != os.environ.get(_VARIABLES[option])
        }
        return typed or named


def _cluster(given: _RawOptions, *, required: bool, offline: bool) -> ClusterAddress | Fleet | None:
    named = given.named()
    if len(named) > 1:
        raise _named_twice(named)
    found: ClusterAddress | Fleet | None = None
    if "--context" in named:
        found = _of_context(given, named["--context"])
    elif named:
        found = ClusterAddress(
            named.get("-z"), named.get("-b"), given.command_config, given.records
        )
    elif (required or not offline) and (current := current_context()) is not None:
        found = address_of(current, given.command_config, given.records, typed=False)
    if given.records is not None and not (isinstance(found, ClusterAddress) and found.bootstrap):
        raise UsageError(
            "--records goes with -b.", next_step="add -b BROKERS, or leave --records out"
        )
    if found is None and required:
        raise UsageError("No cluster is named.", next_step=f"add {_HOW_TO_NAME_IT}")
    return found


def _of_context(given: _RawOptions, name: str) -> ClusterAddress | Fleet:
    if not is_pattern(name):
        typed = name != os.environ.get(CONTEXT_VARIABLE)
        return address_of(find_context(name), given.command_config, given.records, typed=typed)
    if given.command_config is not None or given.records is not None:
        raise UsageError(
            "--command-config and --records are of one cluster.",
            next_step="write them into the contexts",
        )
    return Fleet({each.name: address_of(each, typed=True) for each in matching_contexts(name)})


def _named_twice(named: Mapping[str, str]) -> UsageError:
    said = ", ".join(
        f"{option} or {_VARIABLES[option]} is {value}" for option, value in named.items()
    )
    if "--context" in named:
        return UsageError(
            "A cluster is named by its address or by its context, not both.",
            cause=said,
            next_step="type the one that is meant, or unset its variable",
        )
    return UsageError(
        "A cluster is reached through ZooKeeper or through its brokers, not both.",
        cause=said,
        next_step="type -z for a cluster with ZooKeeper, -b for one in KRaft mode",
    )
