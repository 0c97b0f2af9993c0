from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from build import build
from support.release.environments import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Look for the Pythons of this machine in the suite alone that runs on them."""
    return None if config.getoption("--suite") == "release" else True


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Wheel and source distribution of this tree."""
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def wheel(dist: list[Path]) -> Path:
    return dist[0]
