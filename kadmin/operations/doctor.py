"""Gathers what the doctor looks at: reads only, several looks seconds apart, and nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kadmin.insight.evidence import Evidence
    from kadmin.operations.runner import Desk


def gather(desk: Desk) -> Evidence:
    """Look at a cluster, whatever state it is in; nothing is written."""
    raise NotImplementedError
