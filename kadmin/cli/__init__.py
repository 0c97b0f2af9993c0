"""The command line: parse, call one function, render, exit. Only this module renders errors."""

from __future__ import annotations

import errno
import gc
import io
import os
import signal
import sys
from contextlib import redirect_stderr, suppress
from typing import NoReturn

import typer

from kadmin.errors import KadminError, NotCompletedError, StoppedError, UsageError

SIGPIPE_STATUS = 128 + signal.SIGPIPE
INTERRUPTED = 128 + signal.SIGINT
"""Exit code after SIGINT; the parser returns the same after a KeyboardInterrupt."""

_COMPLETE = "_KADMIN_COMPLETE"
"""Environment variable that a shell sets to ask for completions."""

_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""A large cluster has millions of lasting objects; with Python's default the collector takes a
quarter of the time."""


def main() -> NoReturn:
    """Run kadmin with the process's arguments; exit with a code of docs/exit-codes.md."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    if sys.stdout is None:  # closed by the parent process: the answer must fail as on a full disk
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - stays open to the exit
    if _COMPLETE in os.environ:
        sys.exit(answer_shell())
    sys.exit(run(sys.argv[1:]))


def answer_shell() -> int:
    """Write completions to stdout, as a shell asks in the environment, and raise SystemExit.

    An error gives no suggestions and no message, which would be written into the line that is being
    typed.
    """
    from kadmin.cli.app import app

    with redirect_stderr(io.StringIO()), suppress(Exception):
        app([], prog_name="kadmin")
    return UsageError.exit_code


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; an error is printed on stderr."""
    from kadmin.cli.app import app

    try:
        result = app(arguments, prog_name="kadmin", standalone_mode=False)
    except KadminError as error:
        return _fail(error)
    except typer.Abort as aborted:
        if isinstance(aborted.__cause__, KeyboardInterrupt):
            result = INTERRUPTED
        else:
            return _fail(UsageError("The question was not answered.", next_step="add --yes"))
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = "kadmin" if context is None else context.command_path
        # The parser lists choices on lines of their own, and begins some messages with the class of
        # an error.
        message = " ".join(error.format_message().split()).replace(": Value error, ", ": ")
        return _fail(UsageError(message, next_step=f"{command} --help"))
    except (SystemExit, OSError) as error:
        return _not_written(error)
    if result == INTERRUPTED:
        return _fail(StoppedError(signal_number=signal.SIGINT))
    return result if isinstance(result, int) else 0


def _not_written(error: BaseException) -> int:
    # The parser turns a broken pipe into a SystemExit.
    if isinstance(error.__context__, BrokenPipeError):
        # The reader of stdout has read enough (`kadmin … | head`).
        _forget_stdout()
        return SIGPIPE_STATUS
    if isinstance(error, io.UnsupportedOperation):
        return _fail(
            NotCompletedError("Cannot write the answer.", cause="standard output is closed")
        )
    if isinstance(error, OSError) and error.errno in _UNWRITABLE:
        _forget_stdout()
        return _fail(NotCompletedError("Cannot write the answer.", cause=error.strerror))
    raise error


def _fail(error: KadminError) -> int:
    from kadmin.cli.terminal import screen_of
    from kadmin.cluster.names import one_line

    screen = screen_of(sys.stderr)
    # Names of files may hold control characters, and a line break in one would begin a line of its
    # own.
    lines = [screen.painted(screen.wrapped(one_line(line))) for line in error.lines()]
    with suppress(OSError):  # where stderr is closed, there is still the exit code
        typer.echo("\n".join(lines), err=True)
    return error.exit_status


def _forget_stdout() -> None:
    # The rest of its buffer would fail again at the exit.
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - stays open to the exit
