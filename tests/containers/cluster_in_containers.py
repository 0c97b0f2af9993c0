"""A pytest plugin: the `cluster` of the live tests, its servers in containers.

With `--noconftest -p cluster_in_containers` the live tests run unchanged, on ZooKeeper and brokers
1 to 4 that reach each other by name in a network of their own, and that this machine reaches
through ports on its loopback.

KADMIN_CONTAINER_IMAGES says which images: `built` from what lies on this machine (Linux only, the
default there) or `public`. KADMIN_CONTAINER_VERSION names the Kafka version of the built one.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from container_image import CONFIG, broker_image
from kazoo.client import KazooClient
from support.live.cluster import Cluster
from support.live.waiting import wait_until
from testcontainers.core.container import DockerContainer
from testcontainers.core.docker_client import DockerClient
from testcontainers.core.network import Network
from testcontainers.core.wait_strategies import LogMessageWaitStrategy

from kadmin.cluster.connect_string import parse_connect_string
from kadmin.sandbox.jars import DEFAULT_VERSION
from kadmin.sandbox.processes import free_ports
from kadmin.sandbox.settings import broker_config, zookeeper_config
from kadmin.worlds.zookeeper.wire.four_letter import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RACKS = {1: "r1", 2: "r2", 3: "r3", 4: "r1"}
ZOOKEEPER_PORT, INTERNAL_PORT, EXTERNAL_PORT = 2181, 9092, 9093
PUBLIC_TAG, PUBLIC_VERSION = "7.6.0", "3.6.0"
START_S = 120
DATA = Path("/var/lib/kafka/data")  # the one folder that a broker of the public image may write to


@dataclass(frozen=True, slots=True)
class Images:
    """How to make a container of either kind, not yet on a network; a broker's settings are its
    properties.
    """

    version: str
    zookeeper: Callable[[], DockerContainer]
    broker: Callable[[str], DockerContainer]


@pytest.fixture(scope="session")
def network() -> Iterator[Network]:
    """The network of the cluster; what is published on it is published on loopback only."""
    loopback = {
        "driver": "bridge",
        "options": {"com.docker.network.bridge.host_binding_ipv4": "127.0.0.1"},
    }
    with Network(docker_network_kw=loopback) as found:
        yield found


@pytest.fixture(scope="session")
def cluster(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with ExitStack() as stack:
        images = stack.enter_context(_images(tmp_path_factory.mktemp("image")))
        zookeeper_port, *broker_ports = free_ports(1 + len(RACKS))
        server = f"127.0.0.1:{zookeeper_port}"

        zookeeper = images.zookeeper().with_network(network).with_network_aliases("zookeeper")
        zookeeper.with_bind_ports(ZOOKEEPER_PORT, zookeeper_port)
        stack.enter_context(zookeeper.waiting_for(_log_line("binding to port")))
        _make_chroot(server)

        for (broker_id, rack), port in zip(RACKS.items(), broker_ports, strict=True):
            broker = images.broker(_properties(broker_id, rack, port)).with_network(network)
            broker.with_network_aliases(f"broker-{broker_id}").with_bind_ports(EXTERNAL_PORT, port)
            stack.enter_context(
                broker.waiting_for(_log_line(rf"KafkaServer id={broker_id}\] started"))
            )

        found = Cluster(
            f"{server}/kafka", [f"127.0.0.1:{port}" for port in broker_ports], images.version
        )
        stack.callback(found.close)
        yield found


@contextmanager
def _images(scratch: Path) -> Iterator[Images]:
    if (
        os.environ.get("KADMIN_CONTAINER_IMAGES", "built" if sys.platform == "linux" else "public")
        == "public"
    ):
        yield Images(PUBLIC_VERSION, _public_zookeeper, _public_broker)
        return
    version = os.environ.get("KADMIN_CONTAINER_VERSION", DEFAULT_VERSION)
    with broker_image(DockerClient().client, version, scratch) as image:
        yield Images(
            version,
            lambda: _built_zookeeper(image),
            lambda properties: _built_broker(image, properties),
        )


def _built_zookeeper(image: str) -> DockerContainer:
    # Of two values for one key the last one counts: this server is reached from outside its own
    # loopback.
    text = zookeeper_config(Path("/zookeeper"), ZOOKEEPER_PORT, [], four_letter_words=True)
    text += "clientPortAddress=0.0.0.0\n"
    container = DockerContainer(image).with_copy_into_container(text.encode(), f"{CONFIG}/zoo.cfg")
    return container.with_command(
        ["org.apache.zookeeper.server.quorum.QuorumPeerMain", f"{CONFIG}/zoo.cfg"]
    )


def _built_broker(image: str, properties: str) -> DockerContainer:
    config = f"{CONFIG}/server.properties"
    container = DockerContainer(image).with_copy_into_container(properties.encode(), config)
    return container.with_command(["kafka.Kafka", config])


def _public_zookeeper() -> DockerContainer:
    return DockerContainer(f"confluentinc/cp-zookeeper:{PUBLIC_TAG}").with_envs(
        ZOOKEEPER_CLIENT_PORT=str(ZOOKEEPER_PORT),
        ZOOKEEPER_TICK_TIME="800",
        ZOOKEEPER_MAX_CLIENT_CNXNS="0",
        KAFKA_HEAP_OPTS="-Xmx256m",
        KAFKA_OPTS="-Dzookeeper.4lw.commands.whitelist=*",
    )


def _public_broker(properties: str) -> DockerContainer:
    """The image reads KAFKA_BROKER_ID for broker.id, and so on."""
    settings = dict(line.split("=", maxsplit=1) for line in properties.splitlines())
    variables = {f"KAFKA_{key.upper().replace('.', '_')}": value for key, value in settings.items()}
    return DockerContainer(f"confluentinc/cp-kafka:{PUBLIC_TAG}").with_envs(
        KAFKA_HEAP_OPTS="-Xmx256m", **variables
    )


def _properties(broker_id: int, rack: str, published: int) -> str:
    """Return server.properties with a listener for the other brokers and one for this machine."""
    inside = f"INTERNAL://broker-{broker_id}:{INTERNAL_PORT}"
    listeners = {
        "listeners": f"INTERNAL://0.0.0.0:{INTERNAL_PORT},EXTERNAL://0.0.0.0:{EXTERNAL_PORT}",
        "advertised.listeners": f"{inside},EXTERNAL://127.0.0.1:{published}",
        "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
        "inter.broker.listener.name": "INTERNAL",
    }
    return broker_config(
        broker_id,
        rack,
        f"127.0.0.1:{published}",
        f"zookeeper:{ZOOKEEPER_PORT}/kafka",
        DATA,
        listeners,
    )


def _log_line(pattern: str) -> LogMessageWaitStrategy:
    strategy = LogMessageWaitStrategy(pattern)
    strategy.with_startup_timeout(START_S)
    strategy.with_poll_interval(0.2)
    return strategy


def _make_chroot(server: str) -> None:
    """Make /kafka once ZooKeeper serves: a published port takes connections before that."""
    address = parse_connect_string(server).servers[0]
    wait_until(lambda: "Zookeeper version" in (ask(address, "srvr") or ""), START_S)
    client = KazooClient(server)
    client.start()
    client.create("/kafka", b"")
    client.stop()
    client.close()
