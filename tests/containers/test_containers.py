"""The live tests of reassignments, elections and deletions, on servers in containers; and kadmin's
own images there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from docker.errors import DockerException
from testcontainers.core.docker_client import DockerClient

TESTS = Path(__file__).parents[1]
SCRIPTS = (TESTS.parent / "containers", TESTS.parent / "release")
LIVE = ("test_reassignment.py", "test_election_deletion.py")
PLUGIN = "cluster_in_containers"


def daemon_problem() -> str | None:
    """Say why no Docker daemon can be used, None where one can."""
    try:
        DockerClient().client.ping()
    except DockerException as error:
        return f"no Docker daemon answers: {error}"
    return None


@pytest.mark.containers
def test_live_tests_pass_on_containers() -> None:
    """Without a daemon this is one skip; KADMIN_REQUIRE_DOCKER=1 makes that a failure."""
    problem = daemon_problem()
    if problem is not None and os.environ.get("KADMIN_REQUIRE_DOCKER") == "1":
        pytest.fail(problem)
    if problem is not None:
        pytest.skip(problem)
    # The reaper that testcontainers starts by default is an image of a registry; the plugin ends
    # what it starts itself.
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, (TESTS, TESTS / "containers", *SCRIPTS))),
        "TESTCONTAINERS_RYUK_DISABLED": "true",
    }
    files = [
        *(str(TESTS / "live" / name) for name in LIVE),
        str(TESTS / "containers" / "kadmins_images.py"),
    ]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-m",
        "",
        "--noconftest",
        "-p",
        PLUGIN,
        "-p",
        "no:cacheprovider",
        *files,
    ]
    done = subprocess.run(command, env=environment, cwd=TESTS.parent, check=False)
    assert done.returncode == 0, "the output above tells which"
