from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from build import build
from support.release.environments import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Wheel and source distribution of this tree."""
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def wheel(dist: list[Path]) -> Path:
    return dist[0]
