from __future__ import annotations

import itertools
import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from kazoo.client import KazooClient
from support.zookeeper.fault_proxy import FaultProxy

from kadmin.cluster.kafka.connection import KafkaConnection
from kadmin.cluster.kafka.servers import Servers
from kadmin.cluster.zookeeper.addresses import parse_connect_string
from kadmin.sandbox import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

# A JVM of the tests lives for seconds: its best compiler and its parallel collector would cost more than they save.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

VERSIONS = os.environ.get("KADMIN_TEST_VERSIONS", "2.8.2").split(",")
KRAFT_VERSIONS = os.environ.get("KADMIN_TEST_KRAFT", "4.4.0").split(",")
# Examples are judged by what they show, not by how busy the machine is, and are the same in every run.
settings.register_profile("kadmin", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("mutation", parent=settings.get_profile("kadmin"), max_examples=15)
settings.load_profile("kadmin")

_NEXT_CLUSTER_FROM = ("test_h", "test_r", "test_u", "test_z")
"""From each of these files on, tests have a further cluster where one would end last: in KRaft mode, and alone."""
_LONG = ("test_zombies.py", "test_migration_walk.py", "test_rights.py", "test_docs.py")
"""They have few tests, and would be the last ones to start."""

_chroots = itertools.count()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Keep the tests of one cluster in one worker: a second worker would start that cluster again.

    Clusters start in the order of their tests here: the longest first, then those with most tests. A test that is slow
    and the same in every era names its versions with the mark `on`, and is left out elsewhere.
    """
    left_out = [
        item
        for item in items
        if (mark := item.get_closest_marker("on")) and not {_version(item), _version(item, "kraft")} & set(mark.args)
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        cluster = f"-{1 + sum(item.path.name >= first for first in _NEXT_CLUSTER_FROM)}"
        if (version := _version(item, "kraft")) is not None:
            item.add_marker(pytest.mark.xdist_group(f"kraft-{version}{cluster}"))
        elif (version := _version(item)) is not None:
            item.add_marker(pytest.mark.xdist_group(version + (cluster if len(VERSIONS) == 1 else "")))
    yield
    sizes = Counter(map(_group, items))
    items.sort(key=lambda item: (item.path.name not in _LONG, -sizes[_group(item)]))


def _group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    return item.nodeid if mark is None else str(mark.args[0])


def _version(item: pytest.Item, fixture: str = "live") -> str | None:
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get(fixture)


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of records are kept here, and not in the home folder; contexts are not looked for there either."""
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
def live(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A running cluster of each version under test: brokers 1 to 4 on racks r1, r2, r3, r1, in the chroot /kafka."""
    folder = tmp_path_factory.mktemp(f"kafka-{request.param}") / "sandbox"
    sandbox = Sandbox.up(SandboxSpec(folder, version=request.param, brokers=4, chroot="/kafka"))
    yield sandbox
    sandbox.down()


@pytest.fixture(scope="session", params=KRAFT_VERSIONS)
def kraft(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A running cluster in KRaft mode of each version under test: brokers 1 to 4 on racks r1, r2, r3, r1."""
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
