"""`kadmin validate`: what is wrong with documents, all of it at once."""

from __future__ import annotations

import json
import shutil
from enum import StrEnum
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.documents import Checked, Problem
    from kadmin.inventory import ClusterInventory, Inventory
    from kadmin.plan.checks import Violation
    from kadmin.schema import SchemaSet

STANDARD_INPUT = "-"
_SUFFIXES = {".yaml", ".yml", ".json"}


class ValidateFormat(StrEnum):
    """The format of `validate`'s answer."""

    HUMAN = "human"
    JSON = "json"


FilesArgument: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="FILE...", help="Documents, folders of documents, globs; - reads standard input.")
]
InventoryOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--inventory", metavar="DIR", help="Check names and replicas against this inventory, too."),
]
FormatOption: TypeAlias = Annotated[ValidateFormat, typer.Option("--format", help="Format of the answer on stdout.")]
SchemaDirOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--schema-dir", metavar="DIR", help="Schemas of your own that must hold, too (see schema export)."),
]


def validate(
    files: FilesArgument,
    inventory: InventoryOption = None,
    output_format: FormatOption = ValidateFormat.HUMAN,
    schema_dir: SchemaDirOption = None,
) -> int:
    """Say everything that is wrong with plans and requests. Exit code 0 when there is no error, else 3."""
    from kadmin.documents import check_together
    from kadmin.report.problems import count, problems_answer, problems_text

    documents = list(_examine(files, _schemas(schema_dir)))
    problems = [problem for document in documents for problem in document.problems]
    problems.extend(check_together(documents))
    if inventory is not None:
        problems.extend(_against_inventory(documents, inventory))
    ordered = _in_order(documents, problems)
    if output_format is ValidateFormat.JSON:
        answer = problems_answer([document.source for document in documents], ordered)
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        typer.echo(problems_text({document.source: document.text for document in documents}, ordered, width))
    return InvalidInputError.exit_code if count(ordered)[0] else 0


def _schemas(folder: Path | None) -> SchemaSet | None:
    if folder is None:
        return None
    from kadmin.schema import SchemaSet

    schemas = SchemaSet(folder)
    schemas.check()
    return schemas


def _examine(names: Sequence[str], schemas: SchemaSet | None) -> Iterator[Checked]:
    from kadmin.cli.inputs import read_bytes
    from kadmin.documents import examine

    for name in dict.fromkeys(path for given in names for path in _expand(given)):
        yield examine(read_bytes(Path(name)), name, schemas)


def _expand(name: str) -> list[str]:
    """Return the files that a name, folder or glob stands for, sorted."""
    if name == STANDARD_INPUT or Path(name).is_file():
        return [name]
    if Path(name).is_dir():
        found = [str(path) for path in Path(name).iterdir() if path.suffix in _SUFFIXES and path.is_file()]
    elif has_magic(name):
        found = [path for path in glob(name, recursive=True) if Path(path).is_file()]  # noqa: PTH207 - absolute patterns, too
    else:
        return [name]  # reading it tells why it cannot be read
    if not found:
        raise InvalidInputError(f"There is no document in {name}.", cause="documents end in .yaml, .yml or .json")
    return sorted(found)


def _against_inventory(documents: Sequence[Checked], directory: Path) -> Iterator[Problem]:
    from kadmin.inventory import read_inventory

    inventory = read_inventory(directory)
    for document in documents:
        if document.document is not None:
            yield from document.place(_misfits(document, inventory))


def _misfits(checked: Checked, inventory: Inventory) -> tuple[Violation, ...]:
    from kadmin.cluster.model import TopicPartition
    from kadmin.plan import checks
    from kadmin.plan.model import ReassignmentPlan, RebalanceRequest
    from kadmin.plan.request_checks import unknown_in_request

    document, clusters = checked.document, _clusters_of(checked, inventory)
    rows = [row for cluster in clusters for row in cluster.partitions]
    assignment = {TopicPartition(row.topic, row.partition): row.replicas for row in rows}
    racks = {row.broker_id: row.rack for cluster in clusters for row in cluster.brokers}
    if document is None:
        return ()
    found = list(checks.other_cluster(document, clusters[0].cluster_id)) if len(clusters) == 1 else []
    if isinstance(document, RebalanceRequest):
        return (*found, *unknown_in_request(document, assignment, racks))
    found.extend(checks.unknown_names(document, assignment, racks))
    if isinstance(document, ReassignmentPlan):
        found.extend(checks.stale_currents(document, assignment))
        found.extend(checks.replication_factor_changes(document, assignment))
        found.extend(checks.fewer_racks(document, assignment, racks))
    return tuple(found)


def _clusters_of(checked: Checked, inventory: Inventory) -> Sequence[ClusterInventory]:
    """Return the clusters that the document is about: of a fleet the one with its `cluster_id`.

    A request without a `cluster_id` is about every cluster of the fleet.
    """
    from kadmin.plan.model import RebalanceRequest

    wanted = checked.document.header.cluster_id if checked.document is not None else None
    if not inventory.fleet or (wanted is None and isinstance(checked.document, RebalanceRequest)):
        return tuple(inventory.clusters.values())
    found = [cluster for cluster in inventory.clusters.values() if cluster.cluster_id == wanted and wanted is not None]
    if not found:
        raise InvalidInputError(
            f"{checked.source}: the inventory holds a fleet, and no cluster of it has the document's cluster_id.",
            cause=f"metadata.cluster_id is {wanted}" if wanted else "the document has no metadata.cluster_id",
        )
    return found


def _in_order(documents: Sequence[Checked], problems: Sequence[Problem]) -> list[Problem]:
    """Return each problem once, by file as given, then by place."""
    order = {document.source: index for index, document in enumerate(documents)}
    return sorted(set(problems), key=lambda each: (order[each.file], each.line, each.column, each.code, each.message))
