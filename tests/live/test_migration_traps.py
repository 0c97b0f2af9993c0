"""Every trap before a migration to KRaft is found on a live cluster, and a healthy one has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.live.cluster import Cluster
from support.live.doctor import examine_migration
from support.live.migration_traps import TRAPS
from support.live.waiting import wait_until

from kadmin.sandbox import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("migration traps")]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster for what nobody else should have to live with."""
    spec = SandboxSpec(tmp_path_factory.mktemp("traps") / "sandbox", "3.9.2", chroot="/kafka")
    sandbox = Sandbox.up(spec)
    try:
        found = Cluster(sandbox.connect_string, sandbox.bootstrap, "3.9.2", sandbox)
        yield found
        found.close()
    finally:
        sandbox.down()


@pytest.mark.parametrize(
    "name",
    [
        *list(TRAPS)[:3],
        *(pytest.param(each, marks=pytest.mark.matrix) for each in list(TRAPS)[3:]),
    ],
)
def test_each_trap_is_found_and_gone_when_it_is_cured(own: Cluster, name: str) -> None:
    trap = TRAPS[name]
    with trap.seed(own):
        wait_until(lambda: trap.code in findings(own))
        found = findings(own)[trap.code]
        assert found["stops_migration"] == trap.stops
        assert found["remedy"]
    wait_until(lambda: findings(own) == {})


def findings(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """Return what is found before the migration, by its code."""
    value = examine_migration("-z", cluster.connect, "-b", ",".join(cluster.bootstrap))
    return {each["trouble"]: each for each in value["findings"]}
