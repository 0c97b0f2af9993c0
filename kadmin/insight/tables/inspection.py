"""The result of `inspect`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import Unreadable
    from kadmin.insight.tables.table import Table


@dataclass(frozen=True, slots=True)
class Inspection:
    """A table, and the znodes that could not be read for it.

    The failed requests to brokers are None where brokers were not asked. `more` are further values
    of the JSON answer.
    """

    table: Table
    unreadable: tuple[Unreadable, ...] = ()
    unavailable: tuple[str, ...] | None = None
    more: Mapping[str, object] = field(default_factory=dict)
