"""A sandbox: ZooKeeper servers and Kafka brokers on loopback, their state in one folder.

The folder holds everything: `state.json` with specification and ports, and per server its configuration, data, log and
`process.json`, written as soon as the process exists. Whoever looks reads the files again, so that two commands, or two
values in one program, never disagree on what runs, and `down` ends exactly what was started.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

from kadmin.cluster.zookeeper.addresses import parse_connect_string
from kadmin.cluster.zookeeper.four_letter import ask
from kadmin.cluster.zookeeper.model import Create
from kadmin.cluster.zookeeper.store import Store
from kadmin.errors import BusyError, InvalidInputError, NotCompletedError
from kadmin.java import cache_folder, find_java
from kadmin.sandbox.jars import class_path
from kadmin.sandbox.processes import free_ports, read_process, start, wait_until, words_of
from kadmin.sandbox.settings import JVM_OPTIONS, LOG4J, broker_config, zookeeper_config
from kadmin.sandbox.spec import SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from kadmin.sandbox.processes import Process

READY_S = 90.0
_STATE = "state.json"
_PROCESS = "process.json"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A sandbox on this machine; the value holds what never changes while it lives."""

    spec: SandboxSpec
    zookeeper_ports: tuple[int, ...]
    quorum_ports: tuple[int, ...]
    broker_ports: Mapping[int, int]

    @classmethod
    def up(cls, spec: SandboxSpec, *, tell: Callable[[str], None] = lambda _: None) -> Self:
        """Start everything and wait until every broker is registered; what was started is ended when that fails.

        `tell` hears what takes long. Raises InvalidInputError, BusyError, or NotCompletedError with a log's last words.
        """
        folder = spec.directory
        if (folder / _STATE).exists():
            raise BusyError(
                f"There is a sandbox in {folder} already.", next_command=f"kadmin sandbox down --dir {folder}"
            )
        spec.check()
        launch = _Launch(spec.version, tell)
        count, ids = spec.zookeepers, range(1, spec.brokers + 1)
        ports = free_ports(3 * count + spec.brokers)
        sandbox = cls(
            spec,
            tuple(ports[:count]),
            tuple(ports[count : 3 * count]),
            dict(zip(ids, ports[3 * count :], strict=True)),
        )
        try:
            _save(sandbox)
            _start_zookeepers(sandbox, launch)
            _make_chroot(sandbox)
            for broker_id in ids:
                _start_broker(sandbox, launch, broker_id)
            _wait_registered(sandbox, ids)
        except BaseException:
            sandbox.down()
            raise
        return sandbox

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Find a sandbox again; raises InvalidInputError where the folder holds none."""
        try:
            value = json.loads((directory / _STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidInputError(
                f"There is no sandbox in {directory}.", next_command=f"kadmin sandbox up --dir {directory}"
            ) from error
        return cls(
            SandboxSpec(**{**value["spec"], "directory": directory}),
            tuple(value["zookeeper_ports"]),
            tuple(value["quorum_ports"]),
            {int(broker): port for broker, port in value["broker_ports"].items()},
        )

    @property
    def connect_string(self) -> str:
        """What `--zookeeper` takes, chroot included."""
        return ",".join(f"127.0.0.1:{port}" for port in self.zookeeper_ports) + self.spec.chroot

    @property
    def bootstrap(self) -> tuple[str, ...]:
        """The brokers' addresses, host:port, by broker id."""
        return tuple(f"127.0.0.1:{self.broker_ports[broker]}" for broker in sorted(self.broker_ports))

    @property
    def zookeepers(self) -> dict[int, Process]:
        """The ZooKeeper processes as the folder knows them now, by number from 1."""
        return _processes(self, "zookeeper", range(1, self.spec.zookeepers + 1))

    @property
    def brokers(self) -> dict[int, Process]:
        """The broker processes as the folder knows them now, by broker id."""
        return _processes(self, "broker", sorted(self.broker_ports))

    def stop_broker(self, broker_id: int, *, kill: bool = False) -> None:
        """End one broker and wait until ZooKeeper has forgotten it."""
        self._require(broker_id)
        if broker_id in self.brokers:
            self.brokers[broker_id].stop(kill=kill)
        _wait_forgotten(self, broker_id)

    def start_broker(self, broker_id: int) -> None:
        """Start a broker again on its old port and data; one that runs is left alone."""
        self._require(broker_id)
        if broker_id in self.brokers and self.brokers[broker_id].alive:
            return
        # After a crash the old registration outlives its broker by a session; a new one would meet it and fail.
        _wait_forgotten(self, broker_id)
        _start_broker(self, _Launch(self.spec.version, lambda _: None), broker_id)
        _wait_registered(self, [broker_id])

    def down(self) -> None:
        """End exactly the processes that this sandbox started, brokers first, and remove its folder."""
        for process in (*self.brokers.values(), *self.zookeepers.values()):
            process.stop(kill=True)
        shutil.rmtree(self.spec.directory, ignore_errors=True)

    def _require(self, broker_id: int) -> None:
        if broker_id not in self.broker_ports:
            known = ", ".join(str(broker) for broker in sorted(self.broker_ports))
            raise InvalidInputError(f"The sandbox has no broker {broker_id}.", next_command=f"one of: {known}")


class _Launch:
    """How this machine runs a version's servers."""

    def __init__(self, version: str, tell: Callable[[str], None]) -> None:
        cache = cache_folder(os.environ)
        self._java = find_java(os.environ, cache)
        self._classes = class_path(version, self._java, cache, tell)

    def start(self, folder: Path, main: str, config: tuple[str, str]) -> None:
        """Start one server in its folder from a configuration file given as (name, text)."""
        (folder / "log4j.properties").write_text(LOG4J, encoding="ascii")
        (folder / config[0]).write_text(config[1], encoding="ascii")
        options = [*JVM_OPTIONS, f"-Dlog4j.configuration={(folder / 'log4j.properties').as_uri()}"]
        java = str(self._java.executable)
        start([java, *options, "-cp", self._classes, main, str(folder / config[0])], _log(folder), folder / _PROCESS)


def _start_zookeepers(sandbox: Sandbox, launch: _Launch) -> None:
    count = sandbox.spec.zookeepers
    ensemble = list(zip(sandbox.quorum_ports[:count], sandbox.quorum_ports[count:], strict=True)) if count > 1 else []
    for number, port in enumerate(sandbox.zookeeper_ports, start=1):
        folder = _folder(sandbox, "zookeeper", number)
        (folder / "myid").write_text(f"{number}\n", encoding="ascii")
        text = zookeeper_config(folder, port, ensemble, four_letter_words=sandbox.spec.four_letter_words)
        launch.start(folder, "org.apache.zookeeper.server.quorum.QuorumPeerMain", ("zoo.cfg", text))
    # A TCP connection succeeds before ZooKeeper serves; `srvr` with a version does not.
    servers = parse_connect_string(sandbox.connect_string).servers
    for number, server in enumerate(servers, start=1):
        _wait_ready(
            lambda server=server: "Zookeeper version" in (ask(server, "srvr") or ""),  # type: ignore[misc] # bound now
            sandbox.zookeepers[number],
            f"ZooKeeper {number}",
            _folder(sandbox, "zookeeper", number),
        )


def _make_chroot(sandbox: Sandbox) -> None:
    parts = sandbox.spec.chroot.strip("/").split("/") if sandbox.spec.chroot else []
    with Store.connect(sandbox.connect_string.removesuffix(sandbox.spec.chroot)) as store:
        for depth in range(len(parts)):
            store.multi([Create("/" + "/".join(parts[: depth + 1]), b"")])


def _start_broker(sandbox: Sandbox, launch: _Launch, broker_id: int) -> None:
    folder = _folder(sandbox, "broker", broker_id)
    spec, port = sandbox.spec, sandbox.broker_ports[broker_id]
    text = broker_config(
        broker_id, spec.rack(broker_id), port, sandbox.connect_string, folder / "data", spec.broker_config
    )
    launch.start(folder, "kafka.Kafka", ("server.properties", text))


def _wait_registered(sandbox: Sandbox, broker_ids: Sequence[int]) -> None:
    with Store.connect(sandbox.connect_string) as store:
        for broker_id in broker_ids:
            _wait_ready(
                lambda broker_id=broker_id: str(broker_id) in (store.children("/brokers/ids") or ()),  # type: ignore[misc] # bound now
                sandbox.brokers[broker_id],
                f"Broker {broker_id}",
                _folder(sandbox, "broker", broker_id),
            )


def _wait_forgotten(sandbox: Sandbox, broker_id: int) -> None:
    with Store.connect(sandbox.connect_string) as store:
        if not wait_until(lambda: str(broker_id) not in (store.children("/brokers/ids") or ()), READY_S):
            raise NotCompletedError(f"Broker {broker_id} is ended, but ZooKeeper still lists it.")


def _wait_ready(condition: Callable[[], bool], process: Process, what: str, folder: Path) -> None:
    wait_until(lambda: condition() or not process.alive, READY_S)
    if condition():
        return
    how = f"was not ready within {READY_S:g} s" if process.alive else "ended by itself"
    raise NotCompletedError(f"{what} {how}.", cause=words_of(_log(folder)))


def _processes(sandbox: Sandbox, kind: str, numbers: Sequence[int]) -> dict[int, Process]:
    found = {number: read_process(sandbox.spec.directory / f"{kind}-{number}" / _PROCESS) for number in numbers}
    return {number: process for number, process in found.items() if process is not None}


def _folder(sandbox: Sandbox, kind: str, number: int) -> Path:
    folder = sandbox.spec.directory / f"{kind}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _log(folder: Path) -> Path:
    return folder / "server.log"


def _save(sandbox: Sandbox) -> None:
    folder = sandbox.spec.directory
    value = asdict(sandbox)
    value["spec"]["directory"] = str(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _STATE).write_text(json.dumps(value, indent=2), encoding="utf-8")
    except OSError as error:
        raise NotCompletedError(f"Cannot write {folder}.", cause=error.strerror or str(error)) from error
