from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.documents.bad_documents import BAD
from support.documents.plans import GOOD

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    """A folder of two invalid plans, two valid ones and a file that is none."""
    folder = tmp_path / "plans"
    folder.mkdir()
    for name in ("b07-partition-twice", "b11-collision"):
        (folder / f"{name}.yaml").write_bytes(BAD[name][1])
    (folder / "good.yml").write_bytes(GOOD)
    (folder / "good.json").write_bytes(b'{"kind": "TopicDeletion", "spec": {"topics": ["unused"]}}')
    (folder / "notes.txt").write_bytes(b"nothing to read")
    return folder
