"""Servers of a sandbox: one folder each, with configuration, data, log and the id of the process.

The running servers are read from the folders each time, so that two commands, or two values in one
program, agree.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.java import cache_folder, find_java
from kadmin.sandbox import class_archive
from kadmin.sandbox.jars import class_path, tier_jar
from kadmin.sandbox.processes import STOP_S, read_process, run, start, wait_until, words_of
from kadmin.sandbox.settings import JVM_OPTIONS, LOG4J

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from kadmin.sandbox.processes import Process

KAFKA = "kafka.Kafka"
"""The class of every server but ZooKeeper's."""
READY_S = 90.0
FORMAT_S = 60.0
_PROCESS = "process.json"


@dataclass(frozen=True, slots=True)
class Server:
    """One server of a sandbox: `kind` is zookeeper, controller or broker."""

    sandbox_folder: Path
    kind: str
    number: int

    def __str__(self) -> str:
        return (
            f"{'ZooKeeper' if self.kind == 'zookeeper' else self.kind.capitalize()} {self.number}"
        )

    @property
    def folder(self) -> Path:
        """The folder of the server; it exists once something was started in it."""
        return self.sandbox_folder / f"{self.kind}-{self.number}"

    @property
    def data(self) -> Path:
        """The folder of its log segments."""
        return self.folder / "data"

    @property
    def process(self) -> Process | None:
        """The process that was started last, None where none was."""
        return read_process(self.folder / _PROCESS)

    def stop(self, *, kill: bool = False) -> None:
        """End the process, by SIGTERM first unless `kill`, and wait until it is gone."""
        kept = class_archive.are_kept(self.folder)
        if process := self.process:
            process.stop(kill=kill, patience_s=class_archive.WRITE_S if kept else STOP_S)
        if kept:
            class_archive.keep(self.folder)

    def end(self) -> None:
        """End the process at once, or as soon as it has written the classes that are kept."""
        self.stop(kill=not class_archive.are_kept(self.folder))

    def wait_ready(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition.

        Raises NotCompletedError with the errors in the log when the server ends or hangs.
        """
        process = self.process
        wait_until(lambda: condition() or process is None or not process.alive, READY_S)
        if condition():
            return
        runs = process is not None and process.alive
        how = f"was not ready within {READY_S:g} s" if runs else "ended before it was ready"
        raise NotCompletedError(f"{self} {how}.", cause=words_of(self.folder / "server.log"))


class Launcher:
    """Starts servers of one version with this machine's Java.

    Jars that are missing are fetched first.
    """

    def __init__(self, version: str, report: Callable[[str], None] = lambda _: None) -> None:
        self.cache = cache_folder(os.environ)
        self._version, self._report = version, report
        self._java = find_java(os.environ, self.cache)
        self._classes = class_path(version, self._java, self.cache, report)
        self._archive = class_archive.archive_of(version, self._java, self._classes, self.cache)

    def start(self, server: Server, main: str, config: str, inside: Sequence[str] = ()) -> None:
        """Start a server from the text of its configuration file, inside of another command."""
        file = self._prepare(server, config)
        start(
            [*inside, *self._java_command(server), main, str(file)],
            server.folder / "server.log",
            server.folder / _PROCESS,
        )

    def keep_classes_of(self, server: Server) -> None:
        """Keep the classes of a server for those that start later.

        The first broker records them.
        """
        class_archive.keep_at_end(self._archive, server.folder)

    def copy_tier(self, destination: Path) -> None:
        """Copy the jar of Kafka's own tier to a path, for brokers that load it from there."""
        shutil.copyfile(tier_jar(self._version, self._java, self.cache, self._report), destination)

    def format_storage(self, server: Server, cluster_id: str, config: str) -> None:
        """Format the log directories that a configuration names.

        Raises NotCompletedError with the tool's output.
        """
        file = self._prepare(server, config)
        tool = ["kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(file)]
        problem = run([*self._java_command(server), *tool], FORMAT_S)
        if problem:
            raise NotCompletedError(f"Cannot format the storage of {server}.", cause=problem)

    def _prepare(self, server: Server, config: str) -> Path:
        server.folder.mkdir(parents=True, exist_ok=True)
        (server.folder / "log4j.properties").write_text(LOG4J, encoding="ascii")
        file = server.folder / "server.properties"
        file.write_text(config, encoding="ascii")
        return file

    def _java_command(self, server: Server) -> Sequence[str]:
        log4j = f"-Dlog4j.configuration={(server.folder / 'log4j.properties').as_uri()}"
        first = (server.kind, server.number) == ("broker", 1)
        classes = class_archive.options(self._archive, server.folder, record=first)
        return [str(self._java.executable), *JVM_OPTIONS, *classes, log4j, "-cp", self._classes]
