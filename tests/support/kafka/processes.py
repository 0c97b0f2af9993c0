"""Runs the command line on a cluster in KRaft mode in processes that tests stop, wake and kill.

Their leases are short, and so is the time for which they watch requests that got no answer.
`outage_s` is for how long they wait for a cluster that does not answer. Their wall clocks go
`faster` than this machine's, from the same time on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from support.cli.in_process import Answer

from kadmin.contexts.address import BOOTSTRAP_VARIABLE
from kadmin.operations.execute import follow
from kadmin.worlds.open import LEASE_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LEASE_S = 5.0
SETTLE_S = 2.0
DONE_S = 240

_RUN = """
import sys
from kadmin.cli import main
from kadmin.operations.context import Clock
from kadmin.operations.decide import settling
from kadmin.operations.execute import follow

settling.SETTLE_S, follow.OUTAGE_S, faster = map(float, sys.argv[1:4])
del sys.argv[1:4]
utc = Clock.utc
began = utc(Clock())
Clock.utc = lambda self: began + (utc(self) - began) * faster
main()
"""


class KadminProcess:
    """One command on its way, reaching the cluster through `bootstrap`.

    It keeps its copies of records in `state`, as on a machine of its own, or with all other
    commands of the tests.
    """

    def __init__(
        self,
        bootstrap: Sequence[str],
        *arguments: str | Path,
        settle_s: float = SETTLE_S,
        outage_s: float = follow.OUTAGE_S,
        faster: float = 1.0,
        state: Path | None = None,
    ) -> None:
        self._out, self._err = TemporaryFile(), TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-c", _RUN, *map(str, (settle_s, outage_s, faster, *arguments))],
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._err,
            env={
                **os.environ,
                BOOTSTRAP_VARIABLE: ",".join(bootstrap),
                LEASE_VARIABLE: f"{LEASE_S:.0f}",
                **({} if state is None else {"XDG_STATE_HOME": str(state)}),
            },
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def told(self) -> str:
        """What it has written to stderr so far."""
        return _text(self._err)

    @property
    def said(self) -> str:
        """What it has written to stdout so far."""
        return _text(self._out)

    def kill(self) -> None:
        """Kill it with SIGKILL, and return when it is gone."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """Kill it if it has not ended, stopped or not."""
        if not self.ended:
            os.kill(self.pid, signal.SIGCONT)
            self.kill()

    def answer(self, within_s: float = DONE_S) -> Answer:
        """Wait for its end; a process that was killed has the status -SIGKILL."""
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"not within {within_s:g} s: {self.told}") from None
        finally:
            self.end()
        with self._out, self._err:
            return Answer(self._process.returncode, _text(self._out), self.told)


def _text(file: IO[bytes]) -> str:
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode()
