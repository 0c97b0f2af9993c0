"""Migrates a sandbox from ZooKeeper to KRaft mode, phase by phase, as in Kafka's guide (KIP-866).

Each step may be repeated: one that was interrupted, or that failed, is done again from its start.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.model import MigrationPhase
from kadmin.errors import InvalidInputError, NotCompletedError
from kadmin.next_step import command
from kadmin.sandbox import kraft_mode, zookeeper_mode
from kadmin.sandbox.jars import runs_migration
from kadmin.sandbox.processes import free_ports, wait_until
from kadmin.sandbox.servers import READY_S, Launcher
from kadmin.sandbox.spec import CONTROLLER_IDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.sandbox.sandbox import Sandbox

_METADATA_LOG = "__cluster_metadata-0"
_STEPS = {
    MigrationPhase.ZOOKEEPER: command("sandbox migrate", "start"),
    MigrationPhase.CONTROLLERS: command("sandbox migrate", "brokers"),
    MigrationPhase.DUAL_WRITE: command("sandbox migrate", "kraft"),
    MigrationPhase.KRAFT_BROKERS: command("sandbox migrate", "finalize"),
    MigrationPhase.FINALIZED: None,
}
"""The command that follows each phase."""


def start(sandbox: Sandbox) -> Sandbox:
    """Start three KRaft controllers, which wait for the brokers to follow."""
    ports = sandbox.controller_ports or dict(
        zip(CONTROLLER_IDS, free_ports(len(CONTROLLER_IDS)), strict=True)
    )
    changed = _go_on(sandbox, MigrationPhase.CONTROLLERS, ports)
    kraft_mode.start_controllers(
        changed, Launcher(changed.spec.version), zookeeper_mode.cluster_id(changed)
    )
    changed.wait_ready()
    return changed


def brokers(sandbox: Sandbox) -> Sandbox:
    """Restart brokers with the controllers in their settings.

    Wait until these have taken over the metadata. From then on controllers write all metadata to
    both sides, and no controller serves the admin znodes.
    """
    changed = _restarted(_go_on(sandbox, MigrationPhase.DUAL_WRITE))
    if not wait_until(lambda: zookeeper_mode.is_led_by_kraft(changed), READY_S):
        raise NotCompletedError("The controllers have not taken over the metadata.")
    return changed


def kraft(sandbox: Sandbox) -> Sandbox:
    """Restart brokers in KRaft mode; controllers still write to ZooKeeper too."""
    return _restarted(_go_on(sandbox, MigrationPhase.KRAFT_BROKERS))


def finalize(sandbox: Sandbox) -> Sandbox:
    """Restart controllers without ZooKeeper; it continues with the data written last."""
    changed = _go_on(sandbox, MigrationPhase.FINALIZED)
    for controller_id in changed.controller_ports:
        changed.stop_controller(controller_id)
        changed.start_controller(controller_id)
    changed.wait_ready()
    return changed


def rollback(sandbox: Sandbox) -> Sandbox:
    """Return a sandbox that is not finalized to ZooKeeper mode.

    Its controllers and their data are removed.
    """
    if sandbox.phase is MigrationPhase.KRAFT_BROKERS:
        sandbox = _restarted(
            _enter(sandbox, MigrationPhase.DUAL_WRITE, (MigrationPhase.KRAFT_BROKERS,))
        )
    begun = (
        MigrationPhase.CONTROLLERS,
        MigrationPhase.DUAL_WRITE,
        *((MigrationPhase.ZOOKEEPER,) if sandbox.controller_ports else ()),
    )
    changed = _enter(sandbox, MigrationPhase.ZOOKEEPER, begun)
    for controller_id in changed.controller_ports:
        changed.stop_controller(controller_id)
    zookeeper_mode.forget_kraft(changed)
    for broker_id in changed.broker_ports:
        shutil.rmtree(changed.server("broker", broker_id).data / _METADATA_LOG, ignore_errors=True)
    _restarted(changed)
    for controller_id in changed.controller_ports:
        shutil.rmtree(changed.server("controller", controller_id).folder)
    return _enter(changed, MigrationPhase.ZOOKEEPER, (MigrationPhase.ZOOKEEPER,), {})


def _go_on(
    sandbox: Sandbox, phase: MigrationPhase, controller_ports: Mapping[int, int] | None = None
) -> Sandbox:
    """Enter a phase from the one before it, or again."""
    phases = list(MigrationPhase)
    return _enter(sandbox, phase, (phases[phases.index(phase) - 1], phase), controller_ports)


def _enter(
    sandbox: Sandbox,
    phase: MigrationPhase,
    begun: Sequence[MigrationPhase],
    controller_ports: Mapping[int, int] | None = None,
) -> Sandbox:
    """Record the begin of a phase, before anything is changed.

    Raises InvalidInputError out of turn.
    """
    if not runs_migration(sandbox.spec.version) or sandbox.spec.kraft:
        raise InvalidInputError(
            f"Kafka {sandbox.spec.version} in {sandbox.spec.mode} mode cannot be migrated to "
            "KRaft mode.",
            next_step=command("sandbox up", "--version", "3.9.2"),
        )
    if sandbox.spec.disks is not None:
        raise InvalidInputError(
            "A sandbox with several disks is not migrated.",
            next_step=command("sandbox up", "--version", "3.9.2"),
        )
    if sandbox.phase not in begun:
        raise InvalidInputError(
            f"The sandbox is in phase {sandbox.phase.value}; {phase.value} does not follow.",
            next_step=_STEPS[sandbox.phase],
        )
    ports = sandbox.controller_ports if controller_ports is None else controller_ports
    changed = replace(sandbox, phase=phase, controller_ports=ports)
    changed.save()
    return changed


def _restarted(sandbox: Sandbox) -> Sandbox:
    for broker_id in sandbox.broker_ports:
        sandbox.restart_broker(broker_id)
    return sandbox
