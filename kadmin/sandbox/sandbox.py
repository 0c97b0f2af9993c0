"""Real Kafka brokers on loopback with ZooKeeper servers or KRaft controllers.

All their state is in one folder.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from kadmin.cluster.model import MigrationPhase
from kadmin.errors import BusyError, InvalidInputError, NotCompletedError
from kadmin.next_step import command
from kadmin.sandbox import kraft_mode
from kadmin.sandbox.layout import STATE, Layout
from kadmin.sandbox.processes import wait_until
from kadmin.sandbox.servers import KAFKA, READY_S, Launcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
            _mode(grown).prepare_broker(grown, broker_id)
            _launch_broker(grown, Launcher(grown.spec.version), broker_id)
            _wait_broker(grown, broker_id)
            _limit_links(grown, [broker_id])
        except BaseException:
            server.end()
            if grown.network is not None:
                grown.network.remove_broker(broker_id)
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
        shutil.rmtree(self.spec.directory, ignore_errors=True)

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
