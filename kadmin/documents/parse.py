"""Valid documents: the value, or one error that lists every problem."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kadmin.contexts.build import build_contexts
from kadmin.documents.check import CONTEXTS, PROMETHEUS_NAMES, examine
from kadmin.errors import InvalidInputError
from kadmin.next_step import command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.contexts.model import Contexts
    from kadmin.diagnostics import Diagnostic
    from kadmin.documents.check import Checked
    from kadmin.next_step import NextStep
    from kadmin.plan.model import Document

_MOST_LISTED = 50


def parse_document(data: bytes, source: str) -> Document:
    """Return a valid plan, request, recipe or policy.

    Raises InvalidInputError that lists every problem.
    """
    checked = _valid(data, source)
    if checked.document is None and checked.value["kind"] == CONTEXTS:
        raise InvalidInputError(
            f"{source} is a contexts file, not a plan.", next_step=command("context list")
        )
    if checked.document is None and checked.value["kind"] == PROMETHEUS_NAMES:
        raise InvalidInputError(
            f"{source} has names of Prometheus, it is not a plan.",
            next_step="give it to load build with --names",
        )
    if checked.document is None:
        raise InvalidInputError(
            f"{source} is an inventory's header, not a plan.",
            next_step="give the inventory's folder with --inventory",
        )
    return checked.document


def parse_inventory_header(data: bytes, source: str) -> Mapping[str, Any]:
    """Return the fields of an `inventory.json` by its schema.

    Raises InvalidInputError that lists every problem.
    """
    return _fields(data, source, "ClusterInventory")


def parse_prometheus_names(data: bytes, source: str) -> Mapping[str, Any]:
    """Return `spec` of a PrometheusNames; raises InvalidInputError that lists every problem."""
    spec: Mapping[str, Any] = _fields(data, source, PROMETHEUS_NAMES)["spec"]
    return spec


def parse_contexts(data: bytes, source: str) -> Contexts:
    """Return the contexts of the file `source`, whose folder is that of relative paths.

    Raises as `parse_document`.
    """
    checked = _valid(data, source)
    if checked.value["kind"] != CONTEXTS:
        raise InvalidInputError(f"{source} is a {checked.value['kind']}, not a contexts file.")
    return build_contexts(checked.value, Path(source).absolute().parent)


def _fields(data: bytes, source: str, kind: str) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = _valid(data, source).value
    if fields["kind"] != kind:
        raise InvalidInputError(f"{source} is a {fields['kind']}, not a {kind}.")
    return fields


def _valid(data: bytes, source: str) -> Checked:
    checked = examine(data, source)
    errors = [problem for problem in checked.problems if problem.severity == "error"]
    if errors:
        commands = (each.next_step for each in errors if each.names_command)
        raise refusal_of(
            f"{source} is not valid", errors, next_step=next(commands, command("validate", source))
        )
    return checked


def refusal_of(
    what: str, errors: Sequence[Diagnostic], *, next_step: NextStep | str | None = None
) -> InvalidInputError:
    """Return one error that lists diagnostics with their places."""
    listed = [f"{each.location}: {each.code} {each.message}{each.advice}" for each in errors]
    rest = [f"and {len(listed) - _MOST_LISTED} more"] if len(listed) > _MOST_LISTED else []
    return InvalidInputError(
        f"{what}: {len(errors)} {'problem' if len(errors) == 1 else 'problems'}.",
        problems=[*listed[:_MOST_LISTED], *rest],
        next_step=next_step,
    )
