"""The suites as a plugin of pytest: which tests run, in which order and by which worker, and what comes at the end."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from support.suites.closing import Closing
from support.suites.selection import MAIN, SUITES, select
from support.suites.versions import VERSIONS

if TYPE_CHECKING:
    from collections.abc import Generator

_NEXT_CLUSTER_FROM = ("test_h", "test_r", "test_u", "test_z")
"""From each of these files on, tests have a further cluster where one would end last: in KRaft mode, and alone."""
_LONG = ("test_zombies.py", "test_migration_walk.py", "test_rights.py", "test_docs.py")
"""They have few tests, and would be the last ones to start."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what chooses the tests of a session, and how it ends."""
    parser.addoption("--suite", choices=SUITES, default=MAIN, help="which tests are run, by their marks")
    parser.addoption("--once-more", action="store_true", help="run live tests that failed once more, alone, at the end")


def pytest_configure(config: pytest.Config) -> None:
    """Have the process that reports on all workers close the suite."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Closing(config))


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Leave out what other suites run; keep the tests of one cluster in one worker: a second would start it again.

    Clusters start in the order of their tests here: the longest first, then those with most tests.
    """
    chosen = select(items, config.getoption("suite"))
    kept = {id(item) for item in chosen}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = chosen
    for item in items:
        cluster = f"-{1 + sum(item.path.name >= first for first in _NEXT_CLUSTER_FROM)}"
        if (version := _version(item, "kraft")) is not None:
            item.add_marker(pytest.mark.xdist_group(f"kraft-{version}{cluster}"))
        elif (version := _version(item, "live")) is not None:
            item.add_marker(pytest.mark.xdist_group(version + (cluster if len(VERSIONS) == 1 else "")))
    yield
    sizes = Counter(map(_group, items))
    items.sort(key=lambda item: (item.path.name not in _LONG, -sizes[_group(item)]))


def _group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    return item.nodeid if mark is None else str(mark.args[0])


def _version(item: pytest.Item, fixture: str) -> str | None:
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get(fixture)
