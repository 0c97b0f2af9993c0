from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

import pytest
from kazoo.client import KazooClient
from support.suites.versions import KRAFT_VERSIONS, VERSIONS
from support.zookeeper.fault_proxy import FaultProxy

from kadmin.cluster.connect_string import parse_connect_string
from kadmin.cluster.servers import Servers
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest_plugins = ["support.suites.plugin"]

# A JVM of the tests lives for seconds: its best compiler and its parallel collector would cost more
# than they save.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


_chroots = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of records are kept here, and not in the home folder; contexts are not looked for
    there either.
    """
    folder = tmp_path_factory.mktemp("state")
    os.environ["XDG_STATE_HOME"] = str(folder)
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))
    return folder / "kadmin"


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One real ZooKeeper server without brokers."""
    sandbox = Sandbox.up(SandboxSpec(tmp_path_factory.mktemp("zookeeper") / "sandbox", brokers=0))
    yield sandbox
    sandbox.down()


@pytest.fixture
def chroot(zookeeper: Sandbox) -> Iterator[str]:
    """A connect string with a chroot of the test's own."""
    path = f"/test-{next(_chroots)}"
    client = KazooClient(zookeeper.connect_string)
    client.start()
    client.create(path, b"")
    yield f"{zookeeper.connect_string}{path}"
    client.stop()
    client.close()


@pytest.fixture
def proxy(chroot: str) -> Iterator[FaultProxy]:
    """A way to the same ZooKeeper on which things break."""
    with FaultProxy(parse_connect_string(chroot).servers[0]) as listening:
        yield listening


@pytest.fixture(scope="session", params=VERSIONS)
def live(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """A running cluster of each version under test: brokers 1 to 4 on racks r1, r2, r3, r1, in the
    chroot /kafka.
    """
    folder = tmp_path_factory.mktemp(f"kafka-{request.param}") / "sandbox"
    sandbox = Sandbox.up(SandboxSpec(folder, version=request.param, brokers=4, chroot="/kafka"))
    yield sandbox
    sandbox.down()


@pytest.fixture(scope="session", params=KRAFT_VERSIONS)
def kraft(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """A running cluster in KRaft mode of each version under test: brokers 1 to 4 on racks r1, r2,
    r3, r1.
    """
    folder = tmp_path_factory.mktemp(f"kraft-{request.param}") / "sandbox"
    sandbox = Sandbox.up(SandboxSpec(folder, version=request.param, brokers=4, mode="kraft"))
    processes = [*sandbox.brokers.values(), *sandbox.controllers.values()]
    yield sandbox
    sandbox.down()
    assert not any(process.alive for process in processes)
    assert not folder.exists()


@pytest.fixture
def connection(kraft: Sandbox) -> Iterator[KafkaConnection]:
    """A connection to the brokers of the cluster in KRaft mode."""
    with KafkaConnection(Servers(kraft.bootstrap)) as found:
        yield found
