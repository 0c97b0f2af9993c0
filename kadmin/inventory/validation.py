"""Validates files: each alone, side by side, and against a policy and an inventory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.documents.check import read, unread
from kadmin.documents.together import check_together, in_order, switched
from kadmin.errors import InvalidInputError
from kadmin.inventory.reading import read_inventory
from kadmin.inventory.state import world_of
from kadmin.plan import codes
from kadmin.plan.model import Policy, ReassignmentPlan, RebalanceRequest
from kadmin.plan.rules import check, missing_everywhere
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kadmin.cluster.model import TopicPartition
    from kadmin.documents.check import Checked
    from kadmin.inventory.model import Inventory
    from kadmin.plan.model import Document
    from kadmin.plan.rules import ClusterView
    from kadmin.schema import SchemaSet


APPLIED = "applied"
"""The name of folders that keep plans after they were applied."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The files as they were read, and every diagnostic in order.

    An inventory that cannot be read is among the files. `schema_alone` names the documents that
    were checked neither by other rules nor against the inventory, because their schema does not
    hold. Without an inventory none are named.
    """

    files: tuple[Checked, ...]
    diagnostics: tuple[Diagnostic, ...]
    schema_alone: tuple[str, ...] = ()


def validate_files(
    files: Iterable[tuple[str, bytes | InvalidInputError]],
    policy: Policy,
    directory: Path | None = None,
    schemas: SchemaSet | None = None,
    sizes: Mapping[TopicPartition, int] | None = None,
    check_load: Callable[[Path], None] | None = None,
) -> Validation:
    """Validate files by their names and bytes, or the error of one that cannot be read.

    `directory` is an inventory; where that cannot be read, it is one more file with a problem.
    `sizes`, in bytes, take precedence over those of its only cluster; raises UsageError for a
    fleet. The policy switches diagnostics, except those that keep documents from being compared
    with the inventory. `check_load` raises InvalidInputError for a folder that has no load history;
    such a folder of a plan's hours is one more file with a problem. Documents in a folder APPLIED,
    or below one, have been applied: they are checked by their schemas alone.
    """
    read_files = [_read(name, data, schemas) for name, data in files]
    proposed = [each for each in read_files if not is_applied(each.source)]
    inventory, broken = _read_inventory(directory)
    if check_load is not None:
        broken = (*broken, *_no_histories(proposed, check_load))
    fits = _Fits(inventory, policy, sizes or {})
    found: list[Diagnostic] = []
    unchecked = [problem for each in broken for problem in each.problems]
    for each in read_files:
        found.extend(each.problems)
    for each in proposed:
        if each.document is not None:
            fit, nameless = fits.check(each.document)
            found.extend(each.place(fit))
            unchecked.extend(each.place(nameless))
    found.extend(check_together(proposed))
    everything = (*read_files, *broken)
    ordered = in_order([*switched(found, policy), *unchecked], [each.source for each in everything])
    schema_alone = (
        tuple(each.source for each in proposed if each.problems) if inventory is not None else ()
    )
    return Validation(everything, tuple(ordered), schema_alone)


def is_applied(name: str) -> bool:
    """Whether a file is in a folder APPLIED or below one, by its name as the user gave it."""
    return APPLIED in Path(name).parent.parts


def _read(name: str, data: bytes | InvalidInputError, schemas: SchemaSet | None) -> Checked:
    if isinstance(data, InvalidInputError):
        return unread(name, data.cause or data.message)
    return read(data, name, schemas)


def _read_inventory(directory: Path | None) -> tuple[Inventory | None, tuple[Checked, ...]]:
    if directory is None:
        return None, ()
    try:
        return read_inventory(directory), ()
    except InvalidInputError as error:
        return None, (_unreadable(directory, error),)


def _no_histories(
    proposed: Iterable[Checked], check_load: Callable[[Path], None]
) -> Iterator[Checked]:
    """Yield the folders that plans name under spec.hours.of, are there, and have no history."""
    found = {
        Path(each.source).parent / each.document.hours.folder: None
        for each in proposed
        if isinstance(each.document, ReassignmentPlan)
        and each.document.hours is not None
        and each.document.hours.folder is not None
    }
    for folder in found:
        try:
            if folder.exists():
                check_load(folder)
        except InvalidInputError as error:
            yield _unreadable(folder, error)


def _unreadable(path: Path, error: InvalidInputError) -> Checked:
    cause = "; ".join(filter(None, (error.message.rstrip("."), error.cause)))
    return unread(str(path), cause, error.next_step)


class _Fits:
    """Checks documents by the rules on the clusters of an inventory that they are about."""

    def __init__(
        self, inventory: Inventory | None, policy: Policy, sizes: Mapping[TopicPartition, int]
    ) -> None:
        if sizes and inventory is not None:
            inventory.single()
        self._policy = policy
        self._fleet = inventory is not None and inventory.fleet
        clusters = {} if inventory is None else inventory.clusters
        self._worlds = {name: world_of(cluster, sizes) for name, cluster in clusters.items()}

    def check(self, document: Document) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
        """Return the problems, and those that keep a document from its cluster.

        A document of a fleet is about one of the fleet's clusters.
        """
        if not self._worlds or isinstance(document, Policy):
            return check(document, None, self._policy), ()
        if isinstance(document, RebalanceRequest):
            return missing_everywhere(
                [check(document, world, self._policy) for world in self._worlds.values()]
            ), ()
        wanted = document.header.cluster_id
        named = {
            name: world
            for name, world in self._worlds.items()
            if not self._fleet or (wanted is not None and world.state.cluster_id == wanted)
        }
        if len(named) != 1:
            return check(document, None, self._policy), (
                _of_no_cluster(wanted, named, self._worlds),
            )
        (world,) = named.values()
        return check(document, world, self._policy), ()


def _of_no_cluster(
    wanted: str | None, named: Mapping[str, ClusterView], worlds: Mapping[str, ClusterView]
) -> Diagnostic:
    who = f"{name_some(named)} have" if named else "no cluster of it has"
    what = "the document has no cluster_id" if wanted is None else f"{who} cluster_id {wanted}"
    cluster_ids = name_some(
        f"{world.state.cluster_id or 'no id'} ({name})" for name, world in worlds.items()
    )
    message, next_step = (
        f"the inventory holds a fleet, and {what}",
        f"name one of its clusters: {cluster_ids}",
    )
    return Diagnostic(codes.OTHER_CLUSTER, message, next_step, field=("metadata", "cluster_id"))
