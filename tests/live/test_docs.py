"""Every command of the README and of the pages beside it is run as it stands there, in order.

The answers that the README shows are those of its commands, but for numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.pages.typed import not_printed, shown_answers, typed, workplace_in

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.live, pytest.mark.pages]

# Pages in one line go on where the page before them ended.
READINGS = (
    ("README.md", "docs/documents.md", "docs/throttles.md", "docs/convert.md"),
    pytest.param(("docs/exit-codes.md",), marks=pytest.mark.matrix),
    pytest.param(
        ("docs/inspect.md", "docs/consumers.md", "docs/whatif.md"), marks=pytest.mark.matrix
    ),
    pytest.param(("docs/sandbox.md",), marks=pytest.mark.matrix),
    pytest.param(("docs/kraft.md", "docs/load.md"), marks=pytest.mark.matrix),
    pytest.param(("docs/maintenance.md",), marks=pytest.mark.matrix),
    pytest.param(("docs/decommission.md",), marks=pytest.mark.matrix),
    pytest.param(("docs/recovery.md",), marks=pytest.mark.matrix),
    pytest.param(("docs/growth.md",), marks=pytest.mark.matrix),
    pytest.param(("docs/cookbook.md",), marks=pytest.mark.matrix),
)


@pytest.mark.parametrize("pages", READINGS, ids=lambda pages: pages[0])
def test_what_the_pages_tell_to_type_works(tmp_path: Path, pages: tuple[str, ...]) -> None:
    with workplace_in(tmp_path) as workplace:
        printed = typed(workplace, *pages)
    if pages[0] == "README.md":
        of_readme = printed.split("## docs/")[0]
        assert "nothing to do" not in of_readme, "every step of the README has an effect"
        assert not_printed(shown_answers("README.md"), of_readme) == []
