"""The one type for a problem of a document or a cluster.

kadmin.report.problems has a renderer per format.

::

    code       KA042; kadmin.plan.codes has the table of them
    message    what is wrong, in one line
    next_step  what to do about it
    severity   error, or warning
    subject    partition, broker, topic, field: those that the message is about
    location   file, line and column, where the subject is a document
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from kadmin.next_step import NextStep

if TYPE_CHECKING:
    from kadmin.cluster.model import TopicPartition

Field: TypeAlias = tuple[str | int, ...]
"""The path of a value in a document: keys and positions from the root, ("spec", "partitions", 0);
() is the root."""

Severity: TypeAlias = Literal["error", "warning"]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file, which is named as the user named it.

    Lines and columns count from 1, columns in characters. `first_line` is the line of the first
    occurrence, for a value that is repeated here.
    """

    file: str
    line: int
    column: int
    first_line: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


NOWHERE = Location("", 0, 0)
"""The location of a diagnostic that is about a cluster, or whose place is not looked up yet."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem.

    `field` () is the whole document, or a problem located by `partition`, `broker` and `topic`.
    """

    code: str
    message: str
    next_step: NextStep | str | None = None
    severity: Severity = "error"
    partition: TopicPartition | None = None
    broker: int | None = None
    topic: str | None = None
    field: Field = ()
    location: Location = NOWHERE

    @property
    def names_command(self) -> bool:
        """Whether the next step begins with a command of kadmin."""
        return isinstance(self.next_step, NextStep) and self.next_step.begins_with_command

    @property
    def advice(self) -> str:
        """The next step in brackets, to follow the message.

        Empty for a command, which has a line of its own.
        """
        return f" ({self.next_step})" if self.next_step and not self.names_command else ""

    @property
    def path(self) -> str:
        """The field as a JSON path: `$.spec.replication_factor["orders-*"]`."""
        return json_path(self.field)


def json_path(field: Field) -> str:
    """Write a field as a JSON path."""
    return "$" + "".join(_step(step) for step in field)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_KEY.fullmatch(step) else f"[{json.dumps(step)}]"
