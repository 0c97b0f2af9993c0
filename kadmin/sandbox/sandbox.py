"""Real Kafka brokers on loopback with ZooKeeper servers or KRaft controllers.

All their state is in one folder.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from kadmin.cluster.disks import DiskState
from kadmin.cluster.model import MigrationPhase
from kadmin.cluster.servers import Servers
from kadmin.errors import BusyError, InvalidInputError, NotCompletedError, UnreachableError
from kadmin.next_step import command
from kadmin.sandbox import kraft_mode
from kadmin.sandbox.disks import fail, repair, unmount
from kadmin.sandbox.layout import STATE, Layout
from kadmin.sandbox.processes import wait_until
from kadmin.sandbox.servers import KAFKA, READY_S, Launcher
from kadmin.worlds.kafka.wire.log_dirs import describe_log_dirs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from kadmin.sandbox.processes import Process
    from kadmin.sandbox.spec import SandboxSpec


class _Mode(Protocol):
    """The interface of the modules zookeeper_mode and kraft_mode."""

    def start_quorum(self, layout: Layout, launcher: Launcher) -> None: ...

    def prepare_broker(self, layout: Layout, broker_id: int) -> None: ...

    def properties_of_broker(self, layout: Layout, broker_id: int) -> str: ...

    def is_up(self, layout: Layout, broker_id: int) -> bool: ...

    def is_gone(self, layout: Layout, broker_id: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class Sandbox(Layout):
    """A sandbox on this machine. Brokers have ids from 1, controllers 101 to 103."""

    @classmethod
    def up(cls, spec: SandboxSpec, *, report: Callable[[str], None] = lambda _: None) -> Self:
        """Start every server and wait until every broker is registered.

        On failure, end what was started. `report` is called before what takes long. Raises
        InvalidInputError, BusyError, or NotCompletedError.
        """
        folder = spec.directory
        if (folder / STATE).exists():
            raise BusyError(
                f"There is a sandbox in {folder} already.",
                next_step=command("sandbox status", "--dir", folder)
                + "; or "
                + command("sandbox down", "--dir", folder),
            )
        spec.check()
        quorum = "controllers 101 to 103" if spec.kraft else f"{spec.zookeepers} ZooKeeper"
        report(f"starting Kafka {spec.version}: brokers 1 to {spec.brokers}, {quorum}")
        launcher = Launcher(spec.version, report)
        sandbox = cls.plan(spec)
        try:
            sandbox.save()
            _connect(sandbox)
            _make_storage(sandbox, launcher)
            _mode(sandbox).start_quorum(sandbox, launcher)
            for broker_id in sandbox.broker_ports:
                _launch_broker(sandbox, launcher, broker_id)
            sandbox.wait_ready()
            _limit_links(sandbox, sandbox.broker_ports)
            if sandbox.broker_ports:
                launcher.keep_classes_of(sandbox.server("broker", 1))
        except BaseException:
            sandbox.down()
            raise
        return sandbox

    def wait_ready(self) -> None:
        """Wait until every controller listens and every broker serves."""
        for controller_id in self.controller_ports:
            _wait_controller(self, controller_id)
        for broker_id in self.broker_ports:
            _wait_broker(self, broker_id)

    def add_broker(self, rack: str | None = None) -> Self:
        """Return the sandbox with one more broker, without a replica.

        On failure, end it and leave the rest. Without a rack it gets the next one in turn. Raises
        InvalidInputError during a migration.
        """
        if self.phase not in {MigrationPhase.ZOOKEEPER, MigrationPhase.FINALIZED}:
            raise InvalidInputError(
                f"The sandbox is in phase {self.phase.value}; a broker is added before a "
                "migration or after it.",
                next_step=command("sandbox migrate", "rollback"),
            )
        grown, broker_id = self.with_broker(rack)
        server = grown.server("broker", broker_id)
        try:
            grown.save()
            if grown.network is not None:
                grown.network.add(broker_id)
            _make_disks(grown, broker_id)
            _mode(grown).prepare_broker(grown, broker_id)
            _launch_broker(grown, Launcher(grown.spec.version), broker_id)
            _wait_broker(grown, broker_id)
            _limit_links(grown, [broker_id])
        except BaseException:
            server.end()
            if grown.network is not None:
                grown.network.remove_broker(broker_id)
            unmount(grown.log_dirs(broker_id))
            shutil.rmtree(server.folder, ignore_errors=True)
            self.save()
            raise
        return grown

    def stop_broker(self, broker_id: int, *, kill: bool = False) -> None:
        """End one broker and wait until the cluster no longer counts it as alive."""
        if self._running("broker", broker_id):
            self.server("broker", broker_id).stop(kill=kill)
        _wait_gone(self, broker_id)

    def start_broker(self, broker_id: int) -> None:
        """Start a broker again on its old port and data; one that runs is left alone."""
        if not self._running("broker", broker_id):
            # After a crash the old registration lasts for a session, in which a new one fails.
            _wait_gone(self, broker_id)
            _launch_broker(self, Launcher(self.spec.version), broker_id)
            _wait_broker(self, broker_id)

    def restart_broker(self, broker_id: int) -> None:
        """Restart a broker with the settings of a phase of the migration.

        It is gone as soon as ZooKeeper lists it no more: the others keep a broker of ZooKeeper mode
        that is stopped.
        """
        self.server("broker", broker_id).stop()
        _require_gone(_zookeeper_mode(), self, broker_id)
        _launch_broker(self, Launcher(self.spec.version), broker_id)
        _wait_broker(self, broker_id)

    def stop_controller(self, controller_id: int, *, kill: bool = False) -> None:
        """End one KRaft controller."""
        if self._running("controller", controller_id):
            self.server("controller", controller_id).stop(kill=kill)

    def start_controller(self, controller_id: int) -> None:
        """Start a controller again on its old port and data; one that runs is left alone."""
        if not self._running("controller", controller_id):
            kraft_mode.start_controller(self, Launcher(self.spec.version), controller_id)
            _wait_controller(self, controller_id)

    def freeze(self, server_id: int) -> None:
        """Suspend a broker or controller; its connections stay open and nothing is answered."""
        self._process(server_id).freeze()

    def thaw(self, server_id: int) -> None:
        """Resume a frozen broker or controller."""
        self._process(server_id).thaw()

    def down(self) -> None:
        """End exactly this sandbox's own processes, brokers first, and remove its folder."""
        for kind, processes in (
            ("broker", self.brokers),
            ("controller", self.controllers),
            ("zookeeper", self.zookeepers),
        ):
            for number in processes:
                self.server(kind, number).end()
        if self.network is not None:
            self.network.remove(self.broker_ports)
        for broker_id in self.broker_ports:
            unmount(self.log_dirs(broker_id))
        shutil.rmtree(self.spec.directory, ignore_errors=True)

    def disk(self, broker_id: int, disk: str) -> Path:
        """Return the log directory of a broker that has a number from 1, or that is at a path.

        Raises InvalidInputError where there is none, and in a sandbox without disks.
        """
        self._running("broker", broker_id)
        if self.spec.disks is None:
            raise InvalidInputError(
                "The sandbox has no disks.", next_step=command("sandbox up", "--disks", "2")
            )
        for number, folder in enumerate(self.log_dirs(broker_id), start=1):
            if disk in {str(number), str(folder)}:
                return folder
        raise InvalidInputError(
            f"Broker {broker_id} has no disk {disk}.",
            next_step=f"a number from 1 to {self.spec.disks.number}, or a path in: "
            + command("sandbox status", "--dir", self.spec.directory, "-o", "json"),
        )

    def fail_disk(self, broker_id: int, folder: Path) -> bool:
        """Make a log directory fail, and wait until its broker says so.

        Returns whether the broker still runs: it ends with its last disk.
        """
        fail(folder)
        process = self._running("broker", broker_id)
        if process is None:
            return False

        def is_told() -> bool:
            return not process.alive or _has_failed(self, broker_id, folder)

        if not wait_until(is_told, READY_S):
            raise NotCompletedError(
                f"Broker {broker_id} has not written to {folder} within {READY_S:g} s."
            )
        return process.alive

    def repair_disk(self, broker_id: int, folder: Path) -> bool:
        """Repair a log directory, and restart its broker, which reads it again at a start only.

        Returns whether it was restarted: one that is stopped stays so.
        """
        runs = self._running("broker", broker_id) is not None
        if runs:
            self.stop_broker(broker_id)
        repair(folder)
        if runs:
            self.start_broker(broker_id)
        return runs

    def _process(self, server_id: int) -> Process:
        found = self._running("server", server_id)
        if found is None:
            raise NotCompletedError(f"Server {server_id} does not run.")
        return found

    def _running(self, kind: str, server_id: int) -> Process | None:
        """Return the process of a server, of any kind for "server".

        Raises InvalidInputError for an unknown id.
        """
        server_ids = [] if kind == "controller" else list(self.broker_ports)
        server_ids += [] if kind == "broker" else list(self.controller_ports)
        if server_id not in server_ids:
            listed = ", ".join(map(str, sorted(server_ids)))
            raise InvalidInputError(
                f"The sandbox has no {kind} {server_id}.",
                next_step=f"one of: {listed}" if listed else None,
            )
        found = (self.brokers | self.controllers).get(server_id)
        return found if found is not None and found.alive else None


def _mode(layout: Layout) -> _Mode:
    return kraft_mode if layout.in_kraft_mode else _zookeeper_mode()


def _zookeeper_mode() -> _Mode:
    from kadmin.sandbox import zookeeper_mode

    return zookeeper_mode


def _connect(layout: Layout) -> None:
    """Make the network of a sandbox whose links are limited."""
    if layout.network is not None:
        layout.network.build()
        for broker_id in layout.broker_ports:
            layout.network.add(broker_id)


def _make_storage(layout: Layout, launcher: Launcher) -> None:
    """Make the disks of brokers, and the tier of a sandbox that is to have one."""
    for broker_id in layout.broker_ports:
        _make_disks(layout, broker_id)
    if layout.spec.tiered:
        launcher.copy_tier(layout.tier_jar)


def _make_disks(layout: Layout, broker_id: int) -> None:
    if layout.spec.disks is not None:
        layout.spec.disks.make(layout.log_dirs(broker_id))


def _has_failed(layout: Layout, broker_id: int, folder: Path) -> bool:
    """Whether a broker describes a log directory as failed; False while it does not answer."""
    with suppress(UnreachableError):
        found = describe_log_dirs(Servers([layout.address(broker_id)]), [broker_id])
        failed = {each.path for each in found.disks[broker_id] if each.state is DiskState.FAILED}
        return str(folder) in failed
    return False


def _limit_links(layout: Layout, broker_ids: Iterable[int]) -> None:
    """Limit the links of brokers, where the sandbox is to have limited ones."""
    if layout.network is not None and layout.spec.link is not None:
        for broker_id in broker_ids:
            layout.network.limit(broker_id, layout.spec.link)


def _launch_broker(layout: Layout, launcher: Launcher, broker_id: int) -> None:
    launcher.start(
        layout.server("broker", broker_id),
        KAFKA,
        _mode(layout).properties_of_broker(layout, broker_id),
        () if layout.network is None else layout.network.inside(broker_id),
    )


def _wait_broker(layout: Layout, broker_id: int) -> None:
    layout.server("broker", broker_id).wait_ready(lambda: _mode(layout).is_up(layout, broker_id))


def _wait_gone(layout: Layout, broker_id: int) -> None:
    _require_gone(_mode(layout), layout, broker_id)


def _require_gone(mode: _Mode, layout: Layout, broker_id: int) -> None:
    if not wait_until(lambda: mode.is_gone(layout, broker_id), READY_S):
        raise NotCompletedError(f"Broker {broker_id} was stopped, but the cluster still lists it.")


def _wait_controller(layout: Layout, controller_id: int) -> None:
    layout.server("controller", controller_id).wait_ready(
        lambda: kraft_mode.listens(layout.controller_ports[controller_id], layout.host)
    )
