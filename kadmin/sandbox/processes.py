"""Processes that outlive the command that started them.

A later process with the same id is never taken for one.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.waiting import poll

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POLL_S = 0.05
STOP_S = 10.0
COMMAND_S = 30.0
_LOG_LINES = 5
_PORTS = (15_000, 30_000)


@dataclass(frozen=True, slots=True)
class Process:
    """A process by id and start time, which together are unique while the machine runs."""

    pid: int
    started: str

    @property
    def alive(self) -> bool:
        """Whether exactly this process runs."""
        return _start_time(self.pid) == self.started

    def stop(self, *, kill: bool = False, patience_s: float = STOP_S) -> None:
        """End it by SIGTERM, then SIGKILL, and wait until it is gone.

        SIGKILL comes after `patience_s`, or at once with `kill`.
        """
        if not kill:
            self._signal(signal.SIGTERM)
            if wait_until(lambda: not self.alive, patience_s):
                return
        self._signal(signal.SIGKILL)
        wait_until(lambda: not self.alive, STOP_S)

    def freeze(self) -> None:
        """Suspend it (SIGSTOP), until `thaw`.

        Wait until its last thread is stopped, which takes time when busy.
        """
        self._signal(signal.SIGSTOP)
        wait_until(lambda: not self.alive or _stands_still(self.pid), STOP_S)

    def thaw(self) -> None:
        """Resume it (SIGCONT)."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def start(command: Sequence[str], log: Path, record: Path) -> Process:
    """Start a process in a new session, and record its id.

    It then outlives this program and the terminal.
    """
    with log.open("ab") as output:
        child = subprocess.Popen(  # noqa: S603 - our own command line
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    child.returncode = 0  # never waited for: its id shows when it has ended
    process = Process(child.pid, _start_time(child.pid) or "")
    record.write_text(json.dumps(asdict(process)), encoding="ascii")
    return process


def run(command: Sequence[str], seconds: float) -> str | None:
    """Run a command to its end.

    Return None when it succeeded, else the last lines that it printed.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)  # noqa: S603 - as start
    except subprocess.TimeoutExpired:
        return f"it did not end within {seconds:g} s"
    return _last_words(done.stdout + done.stderr) if done.returncode else None


def require(command: Sequence[str], message: str) -> None:
    """Run a command that takes a moment; raises NotCompletedError with the message if it fails."""
    if (problem := run(command, COMMAND_S)) is not None:
        raise NotCompletedError(message, cause=f"{' '.join(command)}: {problem}")


def lacking(*commands: str, package: str) -> str | None:
    """Return the reason that this program cannot run commands as root on Linux.

    None where it can.
    """
    if sys.platform != "linux":
        return "that needs Linux"
    if os.geteuid() != 0:
        return "that needs root"
    absent = [name for name in commands if shutil.which(name) is None]
    return f"there is no command {absent[0]} (package {package})" if absent else None


def read_process(record: Path) -> Process | None:
    """Read the record that `start` wrote, None where nothing was started."""
    try:
        return Process(**json.loads(record.read_text(encoding="ascii")))
    except (OSError, ValueError):
        return None


def free_ports(count: int) -> list[int]:
    """Return different ports that are free on loopback now.

    They are below the range from which the kernel takes ports of outgoing connections: the port of
    a stopped broker is still free when it starts again.
    """
    found: list[int] = []
    first = random.SystemRandom().randrange(*_PORTS)
    for offset in range(_PORTS[1] - _PORTS[0]):
        port = _PORTS[0] + (first - _PORTS[0] + offset) % (_PORTS[1] - _PORTS[0])
        if len(found) == count:
            break
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            found.append(port)
    return found


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait for a condition, checked every POLL_S; return False when the deadline came first."""
    return any(condition() for _ in poll(seconds, POLL_S))


def words_of(log: Path) -> str:
    """Return the last errors in a log, else its last lines."""
    return _last_words(log.read_text(encoding="utf-8", errors="replace") if log.is_file() else "")


def _last_words(output: str) -> str:
    lines = output.splitlines()
    trouble = [
        line
        for line in lines
        if any(word in line for word in ("ERROR", "FATAL", "Exception", "Error:"))
    ]
    return " | ".join((trouble or lines)[-_LOG_LINES:]) or "it wrote nothing"


def _start_time(pid: int) -> str | None:
    """Return when a process started, as the kernel prints it.

    None for one that is gone or a zombie.
    """
    stat = Path(f"/proc/{pid}/stat")
    try:
        fields = _fields(stat)
    except OSError:
        return _start_time_by_ps(pid) if not Path("/proc/self").exists() else None
    _reap(pid)
    return None if fields[0] in {"Z", "X"} else fields[19]


def _stands_still(pid: int) -> bool:
    """Whether no thread of a process can run; True where there is no /proc."""
    states = []
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # the thread has ended
            states.append(_fields(stat)[0])
    return set(states) <= {"T", "Z", "X"}


def _fields(stat: Path) -> list[str]:
    """Return the kernel's fields of a process or thread, from its state on."""
    return stat.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()


def _start_time_by_ps(pid: int) -> str | None:
    _reap(pid)
    answer = subprocess.run(  # noqa: S603 - ps is POSIX's way where there is no /proc
        ["ps", "-o", "lstart=,stat=", "-p", str(pid)],  # noqa: S607 - as above
        capture_output=True,
        text=True,
        check=False,
    )
    found = answer.stdout.split()
    return None if not found or found[-1].startswith("Z") else " ".join(found[:-1])


def _reap(pid: int) -> None:
    # A child process that ended stays a zombie until its parent asks for its status.
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
