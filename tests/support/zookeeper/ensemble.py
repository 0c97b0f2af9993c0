"""Runs three real ZooKeeper servers as processes: killed, restarted, read-only, or one that lags
its leader.
"""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.live.waiting import wait_until

from kadmin.java import cache_folder, find_java
from kadmin.sandbox.jars import DEFAULT_VERSION, class_path
from kadmin.sandbox.processes import free_ports, start
from kadmin.sandbox.settings import JVM_OPTIONS, zookeeper_config
from kadmin.worlds.zookeeper.wire.four_letter import ask

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from kadmin.sandbox.processes import Process

MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
NUMBERS = (1, 2, 3)
LAGGARD = 1
READY_S = 60


class Tap:
    """A TCP link that can hold back what the far end sends; nothing is lost, it comes later."""

    def __init__(self, far: int) -> None:
        self._far = far
        self._flowing = threading.Event()
        self._flowing.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self) -> None:
        """Hold back what the far end sends from now on."""
        self._flowing.clear()

    def flow(self) -> None:
        """Let it through again, what was held back first."""
        self._flowing.set()

    def close(self) -> None:
        """Take no more connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._far), 5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            for source, target, held in ((near, far, False), (far, near, True)):
                threading.Thread(
                    target=self._pump, args=(source, target), kwargs={"held": held}, daemon=True
                ).start()

    def _pump(self, source: socket.socket, target: socket.socket, *, held: bool) -> None:
        with suppress(OSError):
            while chunk := source.recv(65_536):
                if held:
                    self._flowing.wait()
                target.sendall(chunk)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True)
class Ports:
    """One server's ports."""

    client: int
    quorum: int
    vote: int


class Ensemble:
    """Servers 1 to 3 in a folder; a context manager. Server 1 reaches the other two through
    taps.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        free = free_ports(9)
        self._ports = {number: Ports(*free[3 * (number - 1) : 3 * number]) for number in NUMBERS}
        self._taps = {
            number: Tap(self._ports[number].quorum) for number in NUMBERS if number != LAGGARD
        }
        self._processes: dict[int, Process] = {}
        cache = cache_folder(os.environ)
        self._java = find_java(os.environ, cache)
        self._classes = class_path(DEFAULT_VERSION, self._java, cache)

    def __enter__(self) -> Self:
        try:
            # The others have a quorum before server 1 comes, so it follows.
            for numbers in ((2, 3), (LAGGARD,)):
                self.start(*numbers)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill(*NUMBERS)
        for tap in self._taps.values():
            tap.close()

    @property
    def connect_string(self) -> str:
        """All three servers."""
        return ",".join(self.server(number) for number in NUMBERS)

    @property
    def leader(self) -> int | None:
        """The number of the server that leads now, None where none does."""
        return next((number for number in NUMBERS if "Mode: leader" in self._says(number)), None)

    @property
    def followers(self) -> tuple[int, ...]:
        """The numbers of the servers that follow now."""
        return tuple(number for number in NUMBERS if "Mode: follower" in self._says(number))

    def server(self, number: int) -> str:
        """Return one server's address."""
        return f"127.0.0.1:{self._ports[number].client}"

    def start(self, *numbers: int) -> None:
        """Start servers, on their old ports and data, and wait until all that run serve.

        Two that come back may form a quorum before the one that lost it joins them.
        """
        for number in numbers:
            self._launch(number)
        for number in self._processes:
            wait_until(lambda number=number: self._serves(number), READY_S)  # type: ignore[misc] # bound now

    def kill(self, *numbers: int) -> None:
        """Kill servers with -9."""
        for number in numbers:
            if number in self._processes:
                self._processes.pop(number).stop(kill=True)

    def is_read_only(self, number: int) -> bool:
        """Whether a server lost its quorum and serves readers alone."""
        return "Mode: read-only" in self._says(number)

    def hold_laggard(self) -> None:
        """From now on server 1 hears nothing from its leader; what it asks for still goes out."""
        for tap in self._taps.values():
            tap.hold()

    def release_laggard(self) -> None:
        """Let server 1 hear everything that was held back."""
        for tap in self._taps.values():
            tap.flow()

    def _serves(self, number: int) -> bool:
        return "Mode: " in self._says(number) and not self.is_read_only(number)

    def _says(self, number: int) -> str:
        return ask(("127.0.0.1", self._ports[number].client), "srvr") or ""

    def _launch(self, number: int) -> None:
        folder = self._folder / f"zookeeper-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "myid").write_text(f"{number}\n")
        others = [
            (
                self._taps[each].port if number == LAGGARD and each != LAGGARD else ports.quorum,
                ports.vote,
            )
            for each, ports in self._ports.items()
        ]
        config = folder / "zoo.cfg"
        text = zookeeper_config(folder, self._ports[number].client, others, four_letter_words=True)
        # A new leader that waits for a dead server's vote gives up after initLimit ticks, and
        # another round begins.
        config.write_text(text.replace("initLimit=10", "initLimit=3"))
        java = [str(self._java.executable), *JVM_OPTIONS, "-Dreadonlymode.enabled=true"]
        self._processes[number] = start(
            [*java, "-cp", self._classes, MAIN, str(config)],
            folder / "server.log",
            folder / "process.json",
        )
