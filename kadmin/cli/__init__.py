"""The command line: parse, call one function, render, exit. Errors are rendered here and nowhere else."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from contextlib import suppress
from io import UnsupportedOperation
from typing import NoReturn

import typer

from kadmin.errors import KadminError, NotCompletedError, StoppedError, UsageError

SIGPIPE_STATUS = 128 + 13

_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""A large document or cluster is millions of objects that stay; at Python's pace the search takes a quarter."""


def main() -> NoReturn:
    """Run kadmin with the process's arguments and exit with one of the documented codes (docs/exit-codes.md)."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    if sys.stdout is None:  # whoever started us closed it: an answer that nobody gets must fail as on a full disk
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - stays open to the exit
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; every error ends up as text on stderr."""
    from kadmin.cli.app import app

    try:
        result = app(arguments, prog_name="kadmin", standalone_mode=False)
    except KadminError as error:
        return _fail(error)
    except typer.Abort as aborted:
        if isinstance(aborted.__cause__, KeyboardInterrupt):
            return _fail(StoppedError("Interrupted.", signal_number=signal.SIGINT))
        return _fail(UsageError("Aborted: the question was not answered.", next_command="add --yes"))
    except typer.TyperException as error:  # wrong usage, as the parser words it
        return _fail(UsageError(str(error), next_command="kadmin COMMAND --help"))
    except (SystemExit, OSError) as error:
        return _not_written(error)
    return result if isinstance(result, int) else 0


def _not_written(error: BaseException) -> int:
    # The parser turns a broken pipe into an exit of its own.
    if isinstance(error.__context__, BrokenPipeError):
        # The reader of our stdout has gone (`kadmin … | head`); what it wanted, it has.
        _forget_stdout()
        return SIGPIPE_STATUS
    if isinstance(error, UnsupportedOperation):
        return _fail(NotCompletedError("Cannot write the answer.", cause="standard output is closed"))
    if isinstance(error, OSError) and error.errno in _UNWRITABLE:
        _forget_stdout()
        return _fail(NotCompletedError("Cannot write the answer.", cause=error.strerror))
    raise error


def _fail(error: KadminError) -> int:
    from kadmin.cluster.names import escaped

    # Names of files may hold anything.
    told = [escaped(line, len(line)) for each in error.lines() for line in each.split("\n")]
    with suppress(OSError):  # where nobody can be told, the exit code still tells
        typer.echo("\n".join(told), err=True)
    return error.exit_status if isinstance(error, StoppedError) else error.exit_code


def _forget_stdout() -> None:
    # What is left in its buffer would fail again at the exit.
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - stays open to the exit
