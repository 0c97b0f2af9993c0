"""ZooKeeper mode: starts the ensemble; brokers register in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.connect_string import parse_connect_string
from kadmin.cluster.model import MigrationPhase
from kadmin.errors import NotCompletedError
from kadmin.sandbox.settings import MIGRATING, broker_config, controller_settings, zookeeper_config
from kadmin.worlds.zookeeper.model import Create, Delete
from kadmin.worlds.zookeeper.reader import read_cluster, read_migration
from kadmin.worlds.zookeeper.wire.four_letter import ask
from kadmin.worlds.zookeeper.wire.store import Store
from kadmin.worlds.zookeeper.wire.znode_reader import ZnodeReader
from kadmin.worlds.zookeeper.znodes.configs import config_path, encode_config
from kadmin.worlds.zookeeper.znodes.controller import (
    CLUSTER_ID,
    CONTROLLER,
    MIGRATION,
    decode_cluster_id,
)
from kadmin.worlds.zookeeper.znodes.topics import encode_topic, topic_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import PartitionState, Replicas, TopicPartition
    from kadmin.sandbox.layout import Layout
    from kadmin.sandbox.servers import Launcher

_MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


def start_quorum(layout: Layout, launcher: Launcher) -> None:
    """Start the ZooKeeper servers, wait until each one serves, and make the chroot."""
    count = len(layout.zookeeper_ports)
    ensemble = (
        list(zip(layout.quorum_ports[:count], layout.quorum_ports[count:], strict=True))
        if count > 1
        else []
    )
    for number, port in enumerate(layout.zookeeper_ports, start=1):
        server = layout.server("zookeeper", number)
        server.folder.mkdir(parents=True)
        (server.folder / "myid").write_text(f"{number}\n", encoding="ascii")
        words = layout.spec.four_letter_words
        launcher.start(
            server,
            _MAIN,
            zookeeper_config(
                server.folder, port, ensemble, four_letter_words=words, host=layout.host
            ),
        )
    # A TCP connection succeeds before ZooKeeper serves; `srvr` with a version does not.
    for number, address in enumerate(parse_connect_string(layout.connect_string).servers, start=1):
        layout.server("zookeeper", number).wait_ready(
            lambda address=address: "Zookeeper version" in (ask(address, "srvr") or "")  # type: ignore[misc] # bound now
        )
    _make_chroot(layout)


def prepare_broker(layout: Layout, broker_id: int) -> None:
    """Do nothing: a broker that joins registers in ZooKeeper with an empty folder."""


def properties_of_broker(layout: Layout, broker_id: int) -> str:
    """Return the server.properties of a broker."""
    spec, server = layout.spec, layout.server("broker", broker_id)
    dual = (
        {**MIGRATING, **controller_settings(layout.host, layout.controller_ports)}
        if layout.phase is MigrationPhase.DUAL_WRITE
        else {}
    )
    return broker_config(
        broker_id,
        layout.rack(broker_id),
        layout.address(broker_id),
        layout.connect_string,
        server.data,
        {**dual, **layout.storage_settings(broker_id), **spec.broker_config},
    )


def is_up(layout: Layout, broker_id: int) -> bool:
    """Whether a broker is registered."""
    with Store.connect(layout.connect_string) as store:
        return str(broker_id) in (store.children("/brokers/ids") or ())


def is_gone(layout: Layout, broker_id: int) -> bool:
    """Whether a broker is no longer registered: after a crash its registration lasts a session."""
    return not is_up(layout, broker_id)


def cluster_id(layout: Layout) -> str:
    """Return the id of the cluster.

    Raises NotCompletedError before the first broker has made it.
    """
    with Store.connect(layout.connect_string) as store:
        node = store.get(CLUSTER_ID)
    if node is None:
        raise NotCompletedError("The cluster has no id yet.", next_step="start a broker")
    return decode_cluster_id(node)


def is_led_by_kraft(layout: Layout) -> bool:
    """Whether a KRaft controller has taken over the metadata; False between two controllers."""
    with Store.connect(layout.connect_string) as store:
        nodes = read_migration(ZnodeReader(store))
    return nodes.controller is not None and nodes.led_by_kraft


def forget_kraft(layout: Layout) -> None:
    """Remove the znodes of KRaft controllers that have ended.

    Brokers then elect a controller among themselves.
    """
    with Store.connect(layout.connect_string) as store:
        for path in (CONTROLLER, MIGRATION):
            if (node := store.get(path)) is not None:
                store.multi([Delete(path, node.version)])


def create_topics(layout: Layout, assignments: Mapping[str, Mapping[int, Replicas]]) -> None:
    """Write topics to ZooKeeper; raises NotCompletedError for one that exists."""
    with Store.connect(layout.connect_string) as store:
        for topic, replicas in assignments.items():
            configs = Create(config_path(ConfigEntity.of_topic(topic)), encode_config({}))
            result = store.multi([configs, Create(topic_path(topic), encode_topic(replicas))])
            if not result.committed:
                raise NotCompletedError(
                    f"Cannot create topic {topic}: {result.reason}.", cause="it exists"
                )


def partition_states(
    layout: Layout, topics: Iterable[str]
) -> Mapping[TopicPartition, PartitionState]:
    """Return leaders and ISRs as ZooKeeper has them."""
    with Store.connect(layout.connect_string) as store:
        return read_cluster(store, list(topics)).states


def _make_chroot(layout: Layout) -> None:
    chroot = layout.spec.chroot
    parts = chroot.strip("/").split("/") if chroot else []
    with Store.connect(layout.connect_string.removesuffix(chroot)) as store:
        for depth in range(len(parts)):
            store.multi([Create("/" + "/".join(parts[: depth + 1]), b"")])
