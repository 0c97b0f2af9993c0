"""action.yml, installed as a runner of GitHub does; tests/cli/test_action.py has what its steps
do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from support.release.action import BAD, Runner
from support.release.environments import interpreters, run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.release


@pytest.fixture(scope="module")
def temp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job, where the action has installed kadmin from the lock."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "path").mkdir()
    (folder / "path" / "python").symlink_to(next(iter(interpreters().values())))
    done = Runner(folder, folder).step("Install kadmin")
    assert done.returncode == 0, done.stderr
    return folder


def test_the_lock_has_all_that_kadmin_needs_and_tables_of_parquet(
    temp: Path, tmp_path: Path
) -> None:
    python = temp / "kadmin" / "bin" / "python"
    assert run([python, "-m", "pip", "check"], tmp_path).returncode == 0
    assert run([python, "-c", "import pyarrow.parquet"], tmp_path).returncode == 0


def test_a_pull_request_is_validated_and_commented_on(temp: Path, tmp_path: Path) -> None:
    runner = Runner.on_pull_request(tmp_path, temp)
    assert runner.job() == 0
    (comment,) = runner.comments()
    assert re.findall("^### (.+)", comment, re.MULTILINE) == ["kadmin: `plans/drain.yaml`"]
    (tmp_path / "plans" / "bad.yaml").write_text(BAD)
    assert runner.job() == 3
