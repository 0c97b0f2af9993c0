"""Upgrades the servers of a sandbox in KRaft mode, one after the other, as a rolling restart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.sandbox import Sandbox


def upgraded(sandbox: Sandbox, version: str, broker_ids: Iterable[int]) -> Sandbox:
    """Restart every controller, and these brokers, on the jars of another version.

    metadata.version stays as it is.
    """
    newer = replace(sandbox, spec=replace(sandbox.spec, version=version))
    for controller_id in sandbox.controller_ports:
        sandbox.stop_controller(controller_id)
        newer.start_controller(controller_id)
    for broker_id in broker_ids:
        sandbox.stop_broker(broker_id)
        newer.start_broker(broker_id)
    return newer
