"""KRaft mode: formats the storage and starts the controllers; brokers register with them."""

from __future__ import annotations

import base64
import contextlib
import socket
import uuid
from typing import TYPE_CHECKING

from kadmin.cluster.kafka.connection import KafkaConnection
from kadmin.cluster.kafka.metadata import read_metadata
from kadmin.errors import UnreachableError
from kadmin.sandbox.servers import KAFKA
from kadmin.sandbox.settings import kraft_broker_config, kraft_controller_config

if TYPE_CHECKING:
    from kadmin.sandbox.layout import Layout
    from kadmin.sandbox.servers import Launcher

_LOOK_S = 2.0


def start_quorum(layout: Layout, launcher: Launcher) -> None:
    """Format the storage of every server and start the controllers.

    Brokers may start at the same time: they wait for a quorum of controllers.
    """
    _format_storage(layout, launcher)
    for controller_id in layout.controller_ports:
        start_controller(layout, launcher, controller_id)


def start_controller(layout: Layout, launcher: Launcher, controller_id: int) -> None:
    """Start one controller on its formatted storage."""
    server = layout.server("controller", controller_id)
    config = kraft_controller_config(controller_id, layout.controller_ports, [server.data], layout.spec.broker_config)
    launcher.start(server, KAFKA, config)


def properties_of_broker(layout: Layout, broker_id: int) -> str:
    """Return the server.properties of a broker."""
    spec, server = layout.spec, layout.server("broker", broker_id)
    listener = (spec.rack(broker_id), layout.broker_ports[broker_id])
    return kraft_broker_config(
        broker_id, listener, len(layout.broker_ports), layout.controller_ports, server.data, spec.broker_config
    )


def is_up(layout: Layout, broker_id: int) -> bool:
    """Whether a broker answers, and counts as alive for every broker that answers."""
    views = _alive_brokers(layout)
    return broker_id in views and all(broker_id in view for view in views.values())


def is_gone(layout: Layout, broker_id: int) -> bool:
    """Whether the other brokers no longer count a broker as alive: after a crash it is fenced at its session's end."""
    if not any(process.alive for other, process in layout.brokers.items() if other != broker_id):
        return True
    views = _alive_brokers(layout)
    return broker_id not in views and bool(views) and not any(broker_id in view for view in views.values())


def listens(port: int) -> bool:
    """Whether a server accepts connections."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def _alive_brokers(layout: Layout) -> dict[int, set[int]]:
    """Return the brokers that are alive for each broker that answers: each one has its own copy of the metadata."""
    views = {}
    for broker_id, port in layout.broker_ports.items():
        if listens(port):
            with (
                contextlib.suppress(UnreachableError),
                KafkaConnection([f"127.0.0.1:{port}"], bootstrap_s=_LOOK_S) as connection,
            ):
                seen = read_metadata(connection, (), broker_id=broker_id)
                views[broker_id] = {each.broker_id for each in seen.brokers.values() if each.alive}
    return views


def _format_storage(layout: Layout, launcher: Launcher) -> None:
    """Format every log directory in one run of Kafka's tool, which takes a second of Java each time.

    The tool writes the id of one server into `meta.properties`; each server gets its own id afterwards.
    """
    servers = [layout.server("controller", each) for each in layout.controller_ports]
    servers += [layout.server("broker", each) for each in layout.broker_ports]
    first = servers[0]
    config = kraft_controller_config(first.number, layout.controller_ports, [each.data for each in servers], {})
    launcher.format_storage(first, _cluster_id(), config)
    for server in servers:
        meta = server.data / "meta.properties"
        text = meta.read_text(encoding="ascii")
        meta.write_text(text.replace(f"node.id={first.number}\n", f"node.id={server.number}\n"), encoding="ascii")


def _cluster_id() -> str:
    """Return a random id as Kafka prints it; one that begins with a hyphen would look like an option."""
    found = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii").rstrip("=")
    return _cluster_id() if found.startswith("-") else found
