"""A problem in a document: what, where, and what to do about it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands in a document: keys and positions from the root; () is the root."""

Severity: TypeAlias = Literal["error", "warning"]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A place in a text; both numbers count from 1, the column in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. `path` is a JSON path such as `$.spec.partitions[0].replicas`; `file` as the user named it.

    `first_line` is the line of what this repeats, in the same file.
    """

    code: str
    message: str
    file: str
    line: int
    column: int
    path: str
    hint: str | None = None
    severity: Severity = "error"
    first_line: int | None = None

    @property
    def place(self) -> str:
        """`file:line:column`, as editors and compilers write it."""
        return f"{self.file}:{self.line}:{self.column}"


def json_path(path: Path) -> str:
    """Write a path as a JSON path: `$.spec.replication_factor["orders-*"]`."""
    return "$" + "".join(_step(step) for step in path)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_KEY.fullmatch(step) else f"[{json.dumps(step)}]"
