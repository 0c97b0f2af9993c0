from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.eras.claims import DISK_VERSIONS, TIER_VERSIONS
from support.eras.disks import DiskCluster, running_disks
from support.live.cluster import Cluster
from support.live.disks import BROKERS, DISK_MODES, on_disks
from support.live.errands import MODES, cluster_of, connected
from support.suites.versions import KRAFT_VERSIONS, VERSIONS

from kadmin.cluster.servers import Servers
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.sandbox.disks import Disks
from kadmin.sandbox.spec import KRAFT
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.live.disks import DiskBrokers
    from support.live.errands import Brokers


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


@pytest.fixture(
    scope="session", params=[each for each in DISK_VERSIONS if each in {*VERSIONS, *KRAFT_VERSIONS}]
)
def fact_disks_sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """A cluster of brokers 1 to 3 with three disks each, of each version."""
    with running_disks(request.param, tmp_path_factory) as found:
        yield found


@pytest.fixture(scope="session", params=[each for each in TIER_VERSIONS if each in KRAFT_VERSIONS])
def tier_sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """A cluster of brokers 1 to 3 with two disks each and a tier, of each version."""
    folder = tmp_path_factory.mktemp("tier") / "sandbox"
    spec = SandboxSpec(folder, request.param, mode=KRAFT, disks=Disks(2), tiered=True)
    found = Sandbox.up(spec)
    yield found
    found.down()


@pytest.fixture
def disks(fact_disks_sandbox: Sandbox) -> Iterator[DiskCluster]:
    """Such a cluster; the topics of the test are gone at its end."""
    with KafkaConnection(Servers(fact_disks_sandbox.bootstrap)) as connection:
        found = DiskCluster(fact_disks_sandbox, connection)
        yield found
        found.delete_topics()


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
