"""KRaft mode: formats the storage and starts the controllers; brokers register with them."""

from __future__ import annotations

import base64
import contextlib
import shutil
import socket
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from kadmin.cluster.model import MigrationPhase
from kadmin.cluster.servers import Servers
from kadmin.errors import UnreachableError
from kadmin.sandbox.disks import META
from kadmin.sandbox.servers import KAFKA
from kadmin.sandbox.settings import (
    LOOPBACK,
    MIGRATING,
    TIERED,
    broker_place,
    controller_settings,
    server_properties,
)
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata

if TYPE_CHECKING:
    from kadmin.sandbox.layout import Layout
    from kadmin.sandbox.servers import Launcher

_LOOK_S = 2.0


def start_quorum(layout: Layout, launcher: Launcher) -> None:
    """Format the storage of every server and start the controllers; brokers wait for the quorum."""
    cluster_id = _random_id()
    start_controllers(layout, launcher, cluster_id)
    for broker_id in layout.broker_ports:
        _format(layout, broker_id, cluster_id)


def prepare_broker(layout: Layout, broker_id: int) -> None:
    """Format the storage of a broker that joins, for the cluster of the others."""
    first = layout.server("controller", min(layout.controller_ports))
    lines = (first.data / META).read_text(encoding="ascii").splitlines()
    (cluster_id,) = (line.partition("=")[2] for line in lines if line.startswith("cluster.id="))
    _format(layout, broker_id, cluster_id)


def start_controllers(layout: Layout, launcher: Launcher, cluster_id: str) -> None:
    """Format the storage of controllers that have none, for a cluster's id, and start them."""
    for controller_id in layout.controller_ports:
        server = layout.server("controller", controller_id)
        if not server.data.exists():
            shutil.copytree(_first_records(layout, launcher), server.data)
            _write_ids(server.data, controller_id, cluster_id)
        start_controller(layout, launcher, controller_id)


def start_controller(layout: Layout, launcher: Launcher, controller_id: int) -> None:
    """Start one controller on its formatted storage."""
    server = layout.server("controller", controller_id)
    launcher.start(server, KAFKA, _properties_of_controller(layout, controller_id, server.data))


def properties_of_broker(layout: Layout, broker_id: int) -> str:
    """Return the server.properties of a broker."""
    spec, copies = layout.spec, min(3, layout.spec.brokers)
    values = {
        **_node("broker", broker_id),
        **controller_settings(layout.host, layout.controller_ports),
        **broker_place(
            layout.rack(broker_id),
            layout.address(broker_id),
            layout.server("broker", broker_id).data,
        ),
        **layout.storage_settings(broker_id),
        "metadata.log.dir": str(layout.server("broker", broker_id).data),
        "broker.heartbeat.interval.ms": "1000",
        "offsets.topic.replication.factor": str(copies),
        "offsets.topic.num.partitions": "3",
        "transaction.state.log.replication.factor": str(copies),
        "transaction.state.log.min.isr": str(min(2, copies)),
        "transaction.state.log.num.partitions": "3",
        "share.coordinator.state.topic.replication.factor": str(copies),
        "share.coordinator.state.topic.min.isr": str(min(2, copies)),
        "share.coordinator.state.topic.num.partitions": "3",
    }
    return server_properties(values, spec.broker_config)


def is_up(layout: Layout, broker_id: int) -> bool:
    """Whether a broker answers, and counts as alive for every broker that answers."""
    views = _alive_brokers(layout)
    return broker_id in views and all(broker_id in view for view in views.values())


def is_gone(layout: Layout, broker_id: int) -> bool:
    """Whether the other brokers no longer count a broker as alive.

    After a crash it is fenced at its session's end.
    """
    if not any(process.alive for other, process in layout.brokers.items() if other != broker_id):
        return True
    views = _alive_brokers(layout)
    return (
        broker_id not in views
        and bool(views)
        and not any(broker_id in view for view in views.values())
    )


def listens(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server accepts connections."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), _LOOK_S):
        return True
    return False


def _properties_of_controller(layout: Layout, controller_id: int, folder: Path) -> str:
    values = {
        **_node("controller", controller_id),
        **controller_settings(layout.host, layout.controller_ports),
        **_migration_settings(layout),
        "listeners": f"CONTROLLER://{layout.address(controller_id)}",
        "log.dirs": str(folder),
        # Each record that says nothing wakes every server: at twice a second they took a third of
        # the processor time of a cluster at rest.
        "metadata.max.idle.interval.ms": "5000",
        **(TIERED if layout.spec.tiered else {}),
    }
    return server_properties(values, layout.spec.broker_config)


def _migration_settings(layout: Layout) -> dict[str, str]:
    """Return the settings of a controller that also writes to ZooKeeper.

    Empty outside the phases of a migration.
    """
    if layout.phase in {MigrationPhase.ZOOKEEPER, MigrationPhase.FINALIZED}:
        return {}
    return {**MIGRATING, "zookeeper.connect": layout.connect_string}


def _node(role: str, node_id: int) -> dict[str, str]:
    return {"process.roles": role, "node.id": str(node_id)}


def _alive_brokers(layout: Layout) -> dict[int, set[int]]:
    """Return the brokers that are alive for each broker that answers.

    Each one has its own copy of the metadata.
    """
    views = {}
    for broker_id, port in layout.broker_ports.items():
        if listens(port, layout.host_of(broker_id)):
            with (
                contextlib.suppress(UnreachableError),
                KafkaConnection(
                    Servers([layout.address(broker_id)]), bootstrap_s=_LOOK_S
                ) as connection,
            ):
                seen = read_metadata(connection, (), broker_id=broker_id)
                views[broker_id] = {each.broker_id for each in seen.brokers.values() if each.alive}
    return views


def _format(layout: Layout, broker_id: int, cluster_id: str) -> None:
    """Format the log directories of a broker, and the one of its copy of the metadata."""
    for folder in {layout.server("broker", broker_id).data, *layout.log_dirs(broker_id)}:
        _write_ids(folder, broker_id, cluster_id)


def _write_ids(folder: Path, node_id: int, cluster_id: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    meta = f"version=1\ncluster.id={cluster_id}\nnode.id={node_id}\n"
    (folder / META).write_text(meta, encoding="ascii")


def _first_records(layout: Layout, launcher: Launcher) -> Path:
    """Return a log directory as Kafka's tool formats it for a controller, without the ids.

    It is the same for every cluster of a version, and kept in the cache: the tool takes a second of
    Java.
    """
    kept = launcher.cache / "storage" / layout.spec.version
    if kept.is_dir():
        return kept
    first = layout.server("controller", next(iter(layout.controller_ports)))
    formatted = layout.spec.directory / "formatted"
    launcher.format_storage(
        first, _random_id(), _properties_of_controller(layout, first.number, formatted)
    )
    (formatted / META).unlink()
    # A cache that cannot be written, or another sandbox that was first.
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
            shutil.copytree(formatted, Path(scratch) / "formatted").rename(kept)
    return formatted


def _random_id() -> str:
    """Return a random cluster id as Kafka prints it.

    One that begins with a hyphen would look like an option.
    """
    found = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii").rstrip("=")
    return _random_id() if found.startswith("-") else found
