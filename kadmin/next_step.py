"""Next steps as values: words, and commands of kadmin as data.

`"start broker 3, then " + command("resume", operation_id)` is a next step; without a command it is
a plain string. The command line adds the options of the cluster and the plan's file to each command
(`with_commands`).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

_FILE = "FILE"
"""The placeholder of the plan's file, as the first argument of a command."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command of kadmin, such as `throttle clear`, and its arguments without quotes."""

    name: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(["kadmin", self.name, *map(shlex.quote, self.arguments)])

    def of_plan(self, file: str) -> CommandLine:
        """Return the command with the name of the plan's file as its first argument, FILE."""
        given = self.arguments[:1] == (_FILE,)
        return replace(self, arguments=(file, *self.arguments[1:])) if given else self


@dataclass(frozen=True, slots=True)
class NextStep:
    """A sentence of words and commands, in order."""

    parts: tuple[str | CommandLine, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    def __add__(self, other: str | NextStep) -> NextStep:
        return NextStep((*self.parts, *_parts(other)))

    def __radd__(self, words: str) -> NextStep:
        return NextStep((words, *self.parts))

    @property
    def begins_with_command(self) -> bool:
        """Whether the sentence begins with a command."""
        return isinstance(self.parts[0], CommandLine)


Naming: TypeAlias = Callable[[NextStep], object]
"""Adds the cluster's address to a next step: ClusterAddress.named, or str to add none."""


def command(name: str, *arguments: object) -> NextStep:
    """Return a next step of one command."""
    return NextStep((CommandLine(name, tuple(map(str, arguments))),))


def joined(words: str, steps: Iterable[NextStep]) -> NextStep:
    """Join next steps to one, with `words` between them."""
    return reduce(lambda step, another: step + words + another, steps)


def text_of(step: NextStep | str | None) -> str | None:
    """Return the text of a next step."""
    return None if step is None else str(step)


def with_commands(
    step: NextStep | str | None, change: Callable[[CommandLine], CommandLine]
) -> NextStep | str | None:
    """Return a next step with each of its commands changed."""
    if not isinstance(step, NextStep):
        return step
    return NextStep(
        tuple(change(part) if isinstance(part, CommandLine) else part for part in step.parts)
    )


def _parts(step: str | NextStep) -> tuple[str | CommandLine, ...]:
    return step.parts if isinstance(step, NextStep) else (step,)
