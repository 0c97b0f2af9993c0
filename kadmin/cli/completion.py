"""Shell completion from files of this machine: operations, topics, names to explain.

No cluster is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import typer

from kadmin.cli.cluster import cluster_named
from kadmin.contexts.address import ClusterAddress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.operations.record.record import Listing

Suggestions: TypeAlias = "list[tuple[str, str]]"
"""Completions, each with an explanation that zsh and fish show."""


def complete_operation(ctx: typer.Context) -> Suggestions:
    """Return the operations of the cluster that have a record on this machine."""
    return _suggestions(_operations_on_record(ctx))


def complete_unfinished(ctx: typer.Context) -> Suggestions:
    """Return the operations that were unfinished when this machine last read them."""
    return _suggestions(
        each for each in _operations_on_record(ctx) if not each.status.state.finished
    )


def complete_deletion(ctx: typer.Context) -> Suggestions:
    """Return the operations that deleted topics."""
    from kadmin.operations.record.record import OperationKind

    return _suggestions(
        each for each in _operations_on_record(ctx) if each.kind is OperationKind.DELETION
    )


def complete_topic(ctx: typer.Context) -> Suggestions:
    """Return the topics of the snapshot in the inventory folder of the context."""
    from kadmin.inventory.reading import snapshot_topics

    cluster = _cluster(ctx)
    if cluster is None or cluster.context is None or cluster.context.inventory is None:
        return []
    return [
        (topic, "") for topic in snapshot_topics(cluster.context.inventory, cluster.context.name)
    ]


def complete_explained() -> Suggestions:
    """Return the codes, troubles and exit codes."""
    from kadmin.manual import sections

    return [(section.name, section.title) for section in sections()]


def _operations_on_record(ctx: typer.Context) -> Iterable[Listing]:
    from kadmin.worlds.kafka.values.record_copy import copies_folder, operations_in

    cluster = _cluster(ctx)
    if cluster is not None and cluster.bootstrap is None:
        return ()  # ZooKeeper alone keeps these
    cluster_id = None if cluster is None or cluster.context is None else cluster.context.cluster_id
    folder = None if cluster is None else cluster.records
    return operations_in(folder or copies_folder(), cluster_id)


def _suggestions(operations: Iterable[Listing]) -> Suggestions:
    return [(each.operation_id, f"{each.kind}, {each.status.state}") for each in operations]


def _cluster(ctx: typer.Context) -> ClusterAddress | None:
    """Return the cluster that the line names so far; None, too, for several."""
    found = cluster_named(ctx.params)
    return found if isinstance(found, ClusterAddress) else None
