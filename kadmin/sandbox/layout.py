"""The layout of a sandbox: its specification, the ports of its servers, and their folders."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Self, TypeVar

from kadmin.cluster.model import MigrationPhase
from kadmin.errors import InvalidInputError, NotCompletedError
from kadmin.next_step import command
from kadmin.sandbox import disks
from kadmin.sandbox.disks import Disks
from kadmin.sandbox.links import Link, Network
from kadmin.sandbox.processes import free_ports
from kadmin.sandbox.servers import Server
from kadmin.sandbox.settings import LOOPBACK, tier_settings
from kadmin.sandbox.spec import CONTROLLER_IDS, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from kadmin.sandbox.processes import Process

STATE = "state.json"

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Layout:
    """The servers of a sandbox; `phase` is that of a migration to KRaft.

    A sandbox that began in KRaft mode is FINALIZED. `quorum_ports`: one per ZooKeeper server, then
    its election ports. `added_racks` are the racks of brokers that were added after the others had
    started.
    """

    spec: SandboxSpec
    zookeeper_ports: tuple[int, ...]
    quorum_ports: tuple[int, ...]
    controller_ports: Mapping[int, int]
    broker_ports: Mapping[int, int]
    phase: MigrationPhase
    added_racks: Mapping[int, str] = field(default_factory=dict)
    network: Network | None = None

    @classmethod
    def plan(cls, spec: SandboxSpec) -> Self:
        """Choose free ports for every server, and a network where links are limited."""
        zookeepers = 0 if spec.kraft else spec.zookeepers
        controller_ids = CONTROLLER_IDS if spec.kraft else ()
        broker_ids = range(1, spec.brokers + 1)
        ports = iter(free_ports(3 * zookeepers + len(controller_ids) + spec.brokers))
        return cls(
            spec,
            tuple(next(ports) for _ in range(zookeepers)),
            tuple(next(ports) for _ in range(2 * zookeepers)),
            {controller_id: next(ports) for controller_id in controller_ids},
            {broker_id: next(ports) for broker_id in broker_ids},
            MigrationPhase.FINALIZED if spec.kraft else MigrationPhase.ZOOKEEPER,
            network=None if spec.link is None else Network.claim(),
        )

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Find a sandbox again; raises InvalidInputError when the folder does not hold one."""
        try:
            value = json.loads((directory / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidInputError(
                f"There is no sandbox in {directory}.",
                next_step=command("sandbox up", "--dir", directory),
            ) from error
        try:
            spec, network = value["spec"], value.get("network")
            link, of_broker = spec.get("link"), spec.get("disks")
            parts = {"link": link and Link(**link), "disks": of_broker and Disks(**of_broker)}
            return cls(
                SandboxSpec(**{**spec, "directory": directory, **parts}),
                tuple(value["zookeeper_ports"]),
                tuple(value["quorum_ports"]),
                _by_id(value["controller_ports"]),
                _by_id(value["broker_ports"]),
                MigrationPhase(value["phase"]),
                _by_id(value.get("added_racks", {})),
                network and Network(**network),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{directory / STATE} does not describe a sandbox of this version of kadmin.",
                cause="it was edited, or another version wrote it",
                next_step="end its servers with that version: "
                + command("sandbox down", "--dir", directory)
                + "; or make another sandbox: "
                + command("sandbox up", "--dir", "DIR"),
            ) from error

    def save(self) -> None:
        """Write `state.json`; raises NotCompletedError when the folder cannot be written."""
        folder = self.spec.directory
        value = asdict(self)
        value["spec"]["directory"] = str(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / STATE).write_text(json.dumps(value, indent=2), encoding="utf-8")
        except OSError as error:
            raise NotCompletedError(
                f"Cannot write {folder}.", cause=error.strerror or str(error)
            ) from error

    def with_broker(self, rack: str | None) -> tuple[Self, int]:
        """Return the layout with one more broker, and its id.

        Without a rack it gets the next one in turn.
        """
        broker_id = max(self.broker_ports, default=0) + 1
        (port,) = free_ports(1)
        racks = {**self.added_racks, broker_id: rack or self.spec.rack(broker_id)}
        return replace(
            self, broker_ports={**self.broker_ports, broker_id: port}, added_racks=racks
        ), broker_id

    def rack(self, broker_id: int) -> str:
        """Return a broker's rack."""
        return self.added_racks.get(broker_id) or self.spec.rack(broker_id)

    @property
    def host(self) -> str:
        """The address of controllers and of ZooKeeper servers."""
        return LOOPBACK if self.network is None else self.network.host

    def host_of(self, broker_id: int) -> str:
        """Return the address of a broker without its port."""
        return LOOPBACK if self.network is None else self.network.host_of(broker_id)

    def address(self, server_id: int) -> str:
        """Return the address of a broker or a controller, host:port."""
        if server_id in self.broker_ports:
            return f"{self.host_of(server_id)}:{self.broker_ports[server_id]}"
        return f"{self.host}:{self.controller_ports[server_id]}"

    @property
    def tier_jar(self) -> Path:
        """The jar of Kafka's own tier, in a sandbox that has one."""
        return self.spec.directory / "tier.jar"

    @property
    def tier(self) -> Path:
        """The folder of the tier, in a sandbox that has one."""
        return self.spec.directory / "tier"

    def log_dirs(self, broker_id: int) -> tuple[Path, ...]:
        """Return the log directories of a broker."""
        server = self.server("broker", broker_id)
        return (server.data,) if self.spec.disks is None else self.spec.disks.folders(server.folder)

    def storage_settings(self, broker_id: int) -> dict[str, str]:
        """Return a broker's settings of its disks and of its tier; empty where it has neither."""
        found: dict[str, str] = {}
        if self.spec.disks is not None:
            found |= disks.settings(self.log_dirs(broker_id))
        if self.spec.tiered:
            found |= tier_settings(self.tier_jar, self.tier, min(3, self.spec.brokers))
        return found

    @property
    def in_kraft_mode(self) -> bool:
        """Whether brokers are in KRaft mode."""
        return self.phase in {MigrationPhase.KRAFT_BROKERS, MigrationPhase.FINALIZED}

    @property
    def connect_string(self) -> str:
        """The value of `--zookeeper`, chroot included.

        Empty in a sandbox that began in KRaft mode.
        """
        return ",".join(f"{self.host}:{port}" for port in self.zookeeper_ports) + self.spec.chroot

    @property
    def bootstrap(self) -> tuple[str, ...]:
        """The brokers' addresses, host:port, by broker id."""
        return tuple(map(self.address, sorted(self.broker_ports)))

    @property
    def zookeepers(self) -> dict[int, Process]:
        """The ZooKeeper processes, by number from 1."""
        return self._processes("zookeeper", range(1, len(self.zookeeper_ports) + 1))

    @property
    def controllers(self) -> dict[int, Process]:
        """The controller processes by id.

        None in ZooKeeper mode, where a broker is the controller.
        """
        return self._processes("controller", self.controller_ports)

    @property
    def brokers(self) -> dict[int, Process]:
        """The broker processes by id."""
        return self._processes("broker", self.broker_ports)

    def server(self, kind: str, number: int) -> Server:
        """Return a server of the sandbox: `kind` is zookeeper, controller or broker."""
        return Server(self.spec.directory, kind, number)

    def _processes(self, kind: str, numbers: Iterable[int]) -> dict[int, Process]:
        found = {number: self.server(kind, number).process for number in numbers}
        return {number: process for number, process in found.items() if process is not None}


def _by_id(values: Mapping[str, _Value]) -> dict[int, _Value]:
    return {int(server_id): value for server_id, value in values.items()}
