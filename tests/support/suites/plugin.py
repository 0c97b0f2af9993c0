"""The suites as a plugin of pytest: which tests run, in which order and by which worker, and what
comes at the end.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from support.suites.closing import Closing
from support.suites.selection import MAIN, MATRIX, SUITES, select

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_TESTS_OF_A_CLUSTER = 120
"""After so many tests of a version, the next file has a cluster of its own, so that workers share
them."""
_CLUSTERS = (
    "kraft",
    "live",
    "errand_sandbox",
    "lone_sandbox",
    "disk_sandbox",
    "fact_disks_sandbox",
    "tier_sandbox",
)
"""Fixtures that start a cluster for a session."""
_LONG_TESTS_OF_A_CLUSTER = 4
"""The same of tests with the mark `executor`, which take a minute and more: within a file, too."""
_LONG = (
    "test_kill_points.py",
    "test_zombies.py",
    "test_migration_walk.py",
    "test_rights.py",
    "test_docs.py",
)
"""They have few tests, and would be the last ones to start."""


# Examples are judged by what they show, not by how busy the machine is, and are the same in every
# run.
settings.register_profile("kadmin", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("mutation", parent=settings.get_profile("kadmin"), max_examples=15)
settings.register_profile(MATRIX, parent=settings.get_profile("kadmin"), max_examples=150)
settings.load_profile("kadmin")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what chooses the tests of a session, and how it ends."""
    parser.addoption(
        "--suite", choices=SUITES, default=MAIN, help="which tests are run, by their marks"
    )
    parser.addoption(
        "--once-more",
        action="store_true",
        help="run live tests that failed once more, alone, at the end",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Have the process that reports on all workers close the suite; matrix draws more examples."""
    if config.getoption("--suite") == MATRIX:
        settings.load_profile(MATRIX)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Closing(config))


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Leave out what other suites run; keep the tests of one cluster in one worker: a second would
    start it again.

    Clusters start in the order of their tests here: the longest first, then those with most tests.
    """
    chosen = select(items, config.getoption("suite"))
    kept = {id(item) for item in chosen}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = chosen
    _share_out(items)
    yield
    sizes = Counter(map(_group, items))
    items.sort(key=lambda item: (item.path.name not in _LONG, -sizes[_group(item)]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """Stop a cluster whose last test of this worker has run: at rest it takes processor time."""
    yield
    for name, _ in _clusters(item) - (set() if nextitem is None else _clusters(nextitem)):
        # pytest has no public way to end a fixture before its scope ends.
        for definition in item._fixtureinfo.name2fixturedefs.get(name, ()):  # type: ignore[attr-defined]
            definition.finish(item._request)  # type: ignore[attr-defined]


def _clusters(item: pytest.Item) -> set[tuple[str, object]]:
    """Return the clusters of a test: their fixture, and its parameter."""
    names = getattr(item, "fixturenames", ())
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return {(name, parameters.get(name)) for name in _CLUSTERS if name in names}


def _share_out(items: list[pytest.Item]) -> None:
    tests: Counter[str] = Counter()
    numbers: dict[tuple[str, Path], int] = {}
    for item in items:
        parameters = getattr(item, "callspec", None)
        of_cluster = {} if parameters is None else parameters.params
        mode = next((each for each in _CLUSTERS if each in of_cluster), None)
        if mode is not None:
            cluster = f"{mode}-{of_cluster[mode]}"
            if item.get_closest_marker("executor"):
                cluster = f"{cluster}-long"
                number = tests[cluster] // _LONG_TESTS_OF_A_CLUSTER
            else:
                number = numbers.setdefault(
                    (cluster, item.path), tests[cluster] // _TESTS_OF_A_CLUSTER
                )
            tests[cluster] += 1
            item.add_marker(pytest.mark.xdist_group(f"{cluster}-{number}"))


def _group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    return item.nodeid if mark is None else str(mark.args[0])
