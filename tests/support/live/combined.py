"""Sandboxes whose brokers are the controllers, too (combined mode)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from kadmin.sandbox import Sandbox, kraft_mode, layout
from kadmin.sandbox.processes import free_ports
from kadmin.sandbox.settings import controller_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.sandbox import SandboxSpec
    from kadmin.sandbox.layout import Layout
    from kadmin.sandbox.servers import Launcher

CLUSTER_ID = "combined-brokers-and-ctl"


@contextmanager
def combined(spec: SandboxSpec) -> Iterator[Sandbox]:
    """Start a sandbox without controllers of their own, and end it; inside, brokers can be started
    again.
    """
    ports = dict(zip(range(1, spec.brokers + 1), free_ports(spec.brokers), strict=True))
    of_broker = kraft_mode.properties_of_broker

    def properties(found: Layout, broker_id: int) -> str:
        """The last line of a key counts."""
        both = {
            **controller_settings(found.host, ports),
            "process.roles": "broker,controller",
            "listeners": f"PLAINTEXT://{found.address(broker_id)},"
            f"CONTROLLER://{found.host}:{ports[broker_id]}",
        }
        return of_broker(found, broker_id) + "".join(f"{k}={v}\n" for k, v in both.items())

    def format_all(found: Layout, launcher: Launcher) -> None:
        for broker_id in found.broker_ports:
            server = found.server("broker", broker_id)
            launcher.format_storage(server, CLUSTER_ID, properties(found, broker_id))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "CONTROLLER_IDS", ())
        patch.setattr(kraft_mode, "start_quorum", format_all)
        patch.setattr(kraft_mode, "properties_of_broker", properties)
        sandbox = Sandbox.up(spec)
        yield sandbox
        sandbox.down()
