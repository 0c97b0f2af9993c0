from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.cluster import Cluster
from support.live.disks import BROKERS, DISK_MODES, on_disks
from support.live.errands import MODES, cluster_of, connected

from kadmin.sandbox.disks import Disks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.live.disks import DiskBrokers
    from support.live.errands import Brokers

    from kadmin.sandbox import Sandbox


@pytest.fixture(scope="session")
def cluster(live: Sandbox) -> Iterator[Cluster]:
    found = Cluster(live.connect_string, live.bootstrap, live.spec.version, live)
    yield found
    found.close()


@pytest.fixture(scope="session", params=MODES)
def errand_sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """A cluster whose brokers are stopped and started, of each version and mode."""
    with cluster_of(request.param, tmp_path_factory) as found:
        yield found


@pytest.fixture(scope="module", params=MODES)
def lone_sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """Such a cluster for the tests of one file alone."""
    with cluster_of(request.param, tmp_path_factory) as found:
        yield found


@pytest.fixture
def lone_brokers(lone_sandbox: Sandbox) -> Iterator[Brokers]:
    """Its brokers; every replica is in sync before the topics of the test are deleted."""
    with connected(lone_sandbox) as found:
        yield found
        found.start()


@pytest.fixture
def brokers(errand_sandbox: Sandbox) -> Iterator[Brokers]:
    """Its brokers; all run at the end, and the topics of the test are gone."""
    with connected(errand_sandbox) as found:
        yield found


@pytest.fixture(scope="session", params=DISK_MODES)
def disk_sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """A cluster whose brokers have two disks each."""
    with cluster_of(request.param, tmp_path_factory, len(BROKERS), disks=Disks(2)) as found:
        yield found


@pytest.fixture
def disk_brokers(disk_sandbox: Sandbox) -> Iterator[DiskBrokers]:
    """Its brokers; all run at the end, and the topics of the test are gone."""
    with on_disks(disk_sandbox) as found:
        yield found
