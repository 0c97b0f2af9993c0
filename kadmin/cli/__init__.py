"""The command line: parse, call one function, render, exit. Errors are rendered here and nowhere else."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

import typer

from kadmin.errors import KadminError, StoppedError, UsageError

SIGPIPE_STATUS = 128 + 13


def main() -> NoReturn:
    """Run kadmin with the process's arguments and exit with one of the documented codes (docs/exit-codes.md)."""
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
    except BrokenPipeError:
        # The reader of our stdout has gone (`kadmin … | head`); what it wanted, it has.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - stays open to the exit
        return SIGPIPE_STATUS
    except typer.TyperException as error:  # wrong usage, as the parser words it
        return _fail(UsageError(str(error), next_command="kadmin COMMAND --help"))
    return result if isinstance(result, int) else 0


def _fail(error: KadminError) -> int:
    lines = [f"error: {error.message}"]
    if error.cause:
        lines.append(f"  cause: {error.cause}")
    if error.next_command:
        lines.append(f"  next:  {error.next_command}")
    typer.echo("\n".join(lines), err=True)
    return error.exit_status if isinstance(error, StoppedError) else error.exit_code
