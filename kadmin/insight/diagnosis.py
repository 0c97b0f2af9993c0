"""From what was seen of a cluster to what is wrong with it: pure, in the order in which an operator would mend it."""

from __future__ import annotations

from kadmin.insight.evidence import Evidence
from kadmin.insight.finding import Finding, Trouble

__all__ = ["Evidence", "Finding", "Trouble", "diagnose"]


def diagnose(evidence: Evidence) -> tuple[Finding, ...]:
    """Name every trouble that the evidence shows; an empty answer means that nothing was found."""
    return ()
