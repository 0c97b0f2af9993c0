"""Which tests a suite runs, and how it ends: a live test that fails is run once more, alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.eras.claims import CLAIMS
from support.suites.selection import ERAS, MAIN, MATRIX, boundaries

if TYPE_CHECKING:
    from collections.abc import Mapping

TESTS = Path(__file__).parent
INNER = """
import pathlib
import pytest
from support.eras.claims import CLAIMS

def once(name):
    mark = pathlib.Path(__file__).with_name(name)
    seen = mark.exists()
    mark.touch()
    return seen

def test_pure(): pass

@pytest.mark.live
@pytest.mark.parametrize("number", range({unsteady}))
def test_unsteady(number): assert once(f"mark-{{number}}"), "the first failure"

@pytest.mark.live
def test_broken(): assert not {live}

def test_pure_and_broken(): assert not {pure}

@pytest.mark.eras
@pytest.mark.claims(CLAIMS)
@pytest.mark.parametrize("live", {versions})
def test_node_deleted_by_hand(live): pass

@pytest.mark.eras
@pytest.mark.parametrize("live", {versions})
def test_long(live): pass

@pytest.mark.live
@pytest.mark.on("1.1.1", "2.8.2", "3.9.2")
@pytest.mark.parametrize("live", {versions})
def test_short(live): pass

@pytest.mark.live
@pytest.mark.on("3.9.2")
@pytest.mark.parametrize("live", {versions})
def test_new(live): pass

@pytest.mark.eras
@pytest.mark.matrix
def test_of_minutes(): pass

@pytest.mark.executor
@pytest.mark.eras
def test_of_the_executor(): pass
"""
CLUSTERS = """
import pytest

@pytest.fixture(scope="session", params=["4.1.2", "4.4.0"])
def kraft(request):
    yield request.param
    print("stopped", request.param)

@pytest.fixture(scope="session")
def connection(kraft):
    yield
    print("closed", kraft)

def test_first(connection): print("ran first")

def test_second(kraft): print("ran second")

def test_pure(): print("ran pure")
"""
VERSIONS = list(CLAIMS[0].seen)
INI = "[pytest]\nmarkers =\n" + "".join(
    f"    {each}\n"
    for each in ("live", "eras", "matrix", "executor", "on(v)", "claims(t)", "unsteady(r)")
)


def session(
    folder: Path, *arguments: str, unsteady: int = 0, broken: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run pytest on INNER in a process of its own."""
    text = INNER.format(
        versions=VERSIONS, unsteady=unsteady, live=broken == "live", pure=broken == "pure"
    )
    return session_of(text, folder, *arguments)


def session_of(text: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on a module with this text in a process of its own."""
    (folder / "test_inner.py").write_text(text, encoding="utf-8")
    (folder / "conftest.py").write_text(
        'pytest_plugins = ["support.suites.plugin"]', encoding="utf-8"
    )
    (folder / "pytest.ini").write_text(INI, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    command = [sys.executable, "-m", "pytest", *arguments, "test_inner.py"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def chosen(folder: Path, suite: str) -> set[str]:
    answer = session(folder, "--suite", suite, "--collect-only", "-q", unsteady=1)
    return {line.partition("::")[2] for line in answer.stdout.splitlines() if "::" in line}


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ({"1": "a", "2": "a", "3": "a"}, {"3"}),
        ({"1": "a", "2": "b", "3": "b"}, {"1", "2"}),
        ({"1": "a", "2": "a", "3": "b", "4": "b", "5": "c"}, {"2", "3", "4", "5"}),
        ({"1": "a"}, {"1"}),
    ],
)
def test_boundaries_are_the_versions_on_both_sides_of_each_change(
    seen: Mapping[str, str], expected: set[str]
) -> None:
    assert boundaries(seen) == expected


def test_a_suite_runs_what_its_marks_say(tmp_path: Path) -> None:
    """Rule: `eras` runs a claim on both sides of its change, others on the newest, and live ones on
    the oldest, if that is older than those of `main`.
    """
    of_main = {"test_new[3.9.2]", *(f"test_short[{each}]" for each in ("1.1.1", "2.8.2", "3.9.2"))}
    one_version = {"test_pure", "test_broken", "test_pure_and_broken", "test_unsteady[0]"}
    assert chosen(tmp_path, MAIN) == one_version | of_main
    assert chosen(tmp_path, ERAS) == {
        "test_node_deleted_by_hand[0.10.2.2]",
        "test_node_deleted_by_hand[1.1.1]",
        "test_long[3.9.2]",
        "test_short[1.1.1]",
    }
    assert chosen(tmp_path, MATRIX) == {
        *(f"test_{name}[{each}]" for name in ("node_deleted_by_hand", "long") for each in VERSIONS),
        *of_main,
        "test_of_minutes",
    }
    assert chosen(tmp_path, "executor") == {"test_of_the_executor"}


def test_a_cluster_is_stopped_after_its_last_test(tmp_path: Path) -> None:
    answer = session_of(CLUSTERS, tmp_path, "-s")
    told = re.findall(r"ran \w+|closed [\d.]+\d|stopped [\d.]+\d", answer.stdout)
    assert told == [
        *("ran first", "ran second", "closed 4.1.2", "stopped 4.1.2"),
        *("ran first", "ran second", "closed 4.4.0", "stopped 4.4.0"),
        "ran pure",
    ]


@pytest.mark.eras
@pytest.mark.parametrize("workers", [pytest.param("0", marks=pytest.mark.matrix), "2"])
def test_a_live_test_that_passes_alone_is_listed_as_unsteady(tmp_path: Path, workers: str) -> None:
    answer = session(tmp_path, "--once-more", "-n", workers, unsteady=5)
    assert answer.returncode == 0, answer.stdout
    assert "5 unsteady" in answer.stdout.splitlines()[-1]
    assert answer.stdout.count("unsteady: test_inner.py::test_unsteady[") == 5
    assert "the first failure" in answer.stdout
    assert "10 slowest" in answer.stdout
    assert "seconds by folder" in answer.stdout


@pytest.mark.eras
@pytest.mark.parametrize(("unsteady", "broken"), [(6, ""), (1, "live"), (1, "pure"), (0, "live")])
def test_a_run_fails_by_what_fails_twice_and_by_too_many(
    tmp_path: Path, unsteady: int, broken: str
) -> None:
    answer = session(tmp_path, "--once-more", unsteady=unsteady, broken=broken)
    assert answer.returncode == 1, answer.stdout
    assert "failed" in answer.stdout.splitlines()[-1]


@pytest.mark.parametrize("unsteady", [0, 1])
def test_a_run_fails_by_coverage_under_its_floor(tmp_path: Path, unsteady: int) -> None:
    measured = ("--cov=support.suites.closing", "--cov-fail-under=100")
    answer = session(tmp_path, "--once-more", *measured, unsteady=unsteady)
    assert "Required test coverage of 100% not reached" in answer.stdout
    assert answer.returncode == pytest.ExitCode.TESTS_FAILED, answer.stdout


def test_without_the_option_nothing_is_run_again(tmp_path: Path) -> None:
    assert session(tmp_path, unsteady=1).returncode == 1
