"""Ends a command at its --timeout, with an alarm."""

from __future__ import annotations

import inspect
import signal
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from kadmin.cli import options
from kadmin.errors import KadminError, NotCompletedError, UnknownOutcomeError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

REPEATED_S = 1.0
"""Seconds between two alarms: an error that one raises in a finalizer is lost."""


def late(timeout_s: float) -> NotCompletedError:
    """Return the error of a command that --timeout ends."""
    return _ExpiredError(
        f"Not finished within the {timeout_s:g} s of --timeout.",
        next_step="run it again with a longer --timeout",
    )


@dataclass(slots=True)
class Bell:
    """Whether an alarm has rung."""

    rung: bool = False


@contextmanager
def alarm(timeout_s: float | None, *, grace_s: float = 0.0) -> Iterator[Bell]:
    """Raise NotCompletedError when `timeout_s` and then `grace_s` have passed; None bounds nothing.

    Where an UnknownOutcomeError or an UnreachableError is being raised at that time, it is raised
    instead: the clean-up after an outage may take longer than the grace.
    """
    bell = Bell()
    if timeout_s is None:
        yield bell
        return

    def expire(_number: int, _frame: FrameType | None) -> None:
        bell.rung = True
        raise late(timeout_s)

    previous = signal.signal(signal.SIGALRM, expire)
    # An alarm of zero seconds would never ring. It repeats: an error raised in a finalizer or in a
    # callback of the collector is lost, and a lock taken just then is never freed.
    signal.setitimer(signal.ITIMER_REAL, max(timeout_s + grace_s, 0.001), REPEATED_S)
    try:
        yield bell
    except _ExpiredError as error:
        raise (
            _on_its_way(error, UnknownOutcomeError) or _on_its_way(error, UnreachableError) or error
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


class _ExpiredError(NotCompletedError):
    """The alarm."""


def _on_its_way(error: BaseException, kind: type[KadminError]) -> KadminError | None:
    while error.__context__ is not None:
        error = error.__context__
        if isinstance(error, kind):
            return error
    return None


def bounded(command: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Add the option --timeout to a command that needs no cluster; it may be interrupted anywhere.

    An error after the alarm counts as the alarm's, because Py4J reports the alarm as a failure of
    its own call.
    """

    @wraps(command)
    def run(*arguments: _Parameters.args, **given: _Parameters.kwargs) -> _Result:
        given_s = given.pop("timeout")
        timeout_s = given_s if isinstance(given_s, float) else None
        with alarm(timeout_s) as bell:
            try:
                return command(*arguments, **given)
            except KadminError as error:
                if timeout_s is not None and bell.rung:
                    raise late(timeout_s) from error
                raise

    signature = inspect.signature(command, eval_str=True)
    timeout = inspect.Parameter(
        "timeout", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=options.Timeout
    )
    vars(run)["__signature__"] = signature.replace(
        parameters=[*signature.parameters.values(), timeout]
    )
    return run
