"""Which tests a suite runs: `pytest --suite NAME`.

A test belongs to the suite that a mark of it names, and to `main` without one. `matrix` runs every
test of `eras`, and every live test of `main`, on every version of Kafka that the session names, and
every property with more examples, beside its own. `eras` chooses among those what each version
proves: a claim of a table runs on both sides of each change, any other test on the newest version,
and a live test of `main`, which `main` itself runs on one version, on the oldest besides, where
that is older than those of `main`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from hypothesis import is_hypothesis_test

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pytest
    from support.eras.claims import Claim

MAIN, ERAS, MATRIX = "main", "eras", "matrix"
OWN_SUITES = (
    "executor",
    MATRIX,
    ERAS,
    "containers",
    "browser",
    "release",
    "kerberos",
    "spark",
    "pages",
)
"""Marks that keep a test out of the other suites; the first that a test has counts."""
SUITES = (MAIN, *OWN_SUITES)
OLDEST_OF_MAIN = "2.8.2"
_VERSION = re.compile(r"\d+(\.\d+)+")


def select(items: Sequence[pytest.Item], suite: str) -> list[pytest.Item]:
    """Return the tests that a suite runs, in their order."""
    able = [item for item in items if _may_run(item)]
    if suite == MATRIX:
        return [
            item
            for item in able
            if suite_of(item) in {ERAS, MATRIX} or _is_live_of_main(item) or _is_property(item)
        ]
    own = [item for item in able if suite_of(item) == suite]
    return own if suite != ERAS else _by_boundaries([*own, *filter(_is_live_of_main, able)])


def suite_of(item: pytest.Item) -> str:
    """Return the suite that a test belongs to."""
    return next((suite for suite in OWN_SUITES if item.get_closest_marker(suite)), MAIN)


def version_of(item: pytest.Item) -> str | None:
    """Return the version of Kafka that a test runs on; None if it names none."""
    parameters = getattr(item, "callspec", None)
    given = () if parameters is None else parameters.params.values()
    # A cluster's parameter is its version, or version and mode.
    values = chain.from_iterable(each if isinstance(each, tuple) else [each] for each in given)
    return next(
        (each for each in values if isinstance(each, str) and _VERSION.fullmatch(each)), None
    )


def boundaries(seen: Mapping[str, str]) -> set[str]:
    """Return the versions on both sides of each change, or the newest one if all versions do the
    same.
    """
    both = {
        version for pair in pairwise(seen) if seen[pair[0]] != seen[pair[1]] for version in pair
    }
    return both or {list(seen)[-1]}


def oldest_first(version: str) -> tuple[int, ...]:
    """Return the key by which versions are sorted."""
    return tuple(map(int, version.split(".")))


def _is_property(item: pytest.Item) -> bool:
    """Whether a test of `main` is judged by examples that Hypothesis draws."""
    return suite_of(item) == MAIN and is_hypothesis_test(getattr(item, "obj", None))


def _may_run(item: pytest.Item) -> bool:
    mark = item.get_closest_marker("on")
    return mark is None or version_of(item) in mark.args


def _is_live_of_main(item: pytest.Item) -> bool:
    return (
        suite_of(item) == MAIN
        and item.get_closest_marker("live") is not None
        and version_of(item) is not None
    )


def _by_boundaries(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    versions: defaultdict[str, set[str]] = defaultdict(set)
    for item in items:
        if (version := version_of(item)) is not None:
            versions[_without_version(item)].add(version)
    return [item for item in items if _proves(item, versions.get(_without_version(item), ()))]


def _proves(item: pytest.Item, versions: Iterable[str]) -> bool:
    version = version_of(item)
    if version is None:
        return True
    if (claim := _claim_of(item)) is not None:
        return version in boundaries(claim.seen)
    in_order = sorted(versions, key=oldest_first)
    if suite_of(item) == ERAS:
        return version == in_order[-1]
    return version == in_order[0] and oldest_first(version) < oldest_first(OLDEST_OF_MAIN)


def _claim_of(item: pytest.Item) -> Claim | None:
    mark = item.get_closest_marker("claims")
    name = getattr(item, "originalname", item.name).removeprefix("test_")
    return (
        None if mark is None else next((each for each in mark.args[0] if each.name == name), None)
    )


def _without_version(item: pytest.Item) -> str:
    return item.nodeid.replace(version_of(item) or "", "", 1)
