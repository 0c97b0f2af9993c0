"""Several documents side by side, each diagnostic in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.documents.text import printable
from kadmin.plan.rules import check_side_by_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.diagnostics import Diagnostic
    from kadmin.documents.check import Checked


def check_together(documents: Sequence[Checked]) -> tuple[Diagnostic, ...]:
    """Return what each document must not do beside those before it; files that hold no document are passed over."""
    readable = {each.source: (each, each.document) for each in documents if each.document is not None}
    found = check_side_by_side([(printable(source), document) for source, (_, document) in readable.items()])
    pairs = zip(readable.values(), found, strict=True)
    return tuple(diagnostic for (checked, _), one in pairs for diagnostic in checked.place(one))
