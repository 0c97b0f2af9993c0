"""Tests of one cluster stay in one worker; where they do not, every worker starts every cluster,
and nobody is told.
"""

from __future__ import annotations

import os

import pytest


@pytest.mark.xdist_group("alone")
def test_a_group_of_tests_is_told_to_the_workers(request: pytest.FixtureRequest) -> None:
    assert request.node.nodeid.endswith("@alone") == ("PYTEST_XDIST_WORKER" in os.environ)
