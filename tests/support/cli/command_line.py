"""Runs kadmin's command line again and again as one user of one cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.cli.in_process import command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from support.cli.in_process import Answer


class CommandLine:
    """Runs kadmin, and keeps all that it told; `given` ends each command line, files are in
    `folder`.
    """

    def __init__(
        self,
        folder: Path,
        given: Sequence[str | Path] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.told = ""
        self._given = given
        self._environment = environment

    def __call__(self, *arguments: str | Path, status: int = 0) -> Answer:
        answer = self._run(*arguments)
        assert answer.status == status, (arguments, answer.out + answer.err)
        return answer

    def _run(self, *arguments: str | Path) -> Answer:
        answer = command(*arguments, *self._given, environment=self._environment)
        self.told += answer.out + answer.err
        return answer

    def stop_and_resume(self, plan: Path, *told: str) -> None:
        """Apply a slow plan until a deadline, and resume it at another rate; `told` are options of
        what it tells.
        """
        self("diff", plan)
        stopped = self._run("apply", plan, "--yes", "--timeout", "16")
        # On a busy machine the deadline may come while an answer is awaited, which is 6.
        awaited = "before --timeout ended" in stopped.err
        assert stopped.status == (6 if awaited else 8), stopped.out + stopped.err
        assert "resume" in self("status").out
        self("throttle", "set", "--rate", "20MB/s", "--yes")
        self("resume", "--yes", *told)
        self("verify", plan)
