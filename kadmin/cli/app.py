"""The commands by group, with the module of each.

A command is imported and made when it is used: making all of them takes longer than validating a
plan.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_group

from kadmin import __version__
from kadmin.cli.help import Command, CommandTree
from kadmin.cli.terminal import DOCS, docs_site
from kadmin.errors import NotCompletedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_GROUPS = {
    "Plan": {
        "validate": "validate:validate",
        "convert": "convert:convert",
        "schema": "schema:schema_app",
        "diff": "diff:diff",
    },
    "Run": {
        "apply": "operations:apply",
        "status": "status:status",
        "resume": "operations:resume",
        "pause": "operations:pause",
        "cancel": "operations:cancel",
        "rollback": "operations:rollback",
        "verify": "status:verify",
        "history": "status:history",
        "history import": "migration:history_import",
        "lock": "status:lock_app",
        "throttle": "throttle:throttle_app",
        "broker": "broker:broker_app",
    },
    "Look": {
        "doctor": "doctor:doctor",
        "doctor migration": "migration:doctor_migration",
        "inspect": "inspect:inspect_app",
        "whatif": "whatif:whatif_app",
        "consumers": "consumers:consumers_app",
        "snapshot": "snapshot:snapshot",
        "sample": "sample:sample",
        "report": "report:report",
        "explain": "explain:explain",
        "context": "contexts:context_app",
    },
    "Repair": {"heal": "repair:heal", "recreate": "repair:recreate"},
    "Planner": {"propose": "propose:propose_app", "load": "load:load_app"},
    "Practise": {"sandbox": "sandbox:sandbox_app"},
}
"""The groups of `kadmin --help`, in its order: module and name of each command, or of the tree of
those below it.

A command of two words is listed in the group of its first word's command.
"""

_UNKNOWN_SHELL = 1
"""Exit code of typer where it cannot install or show a completion for the shell."""

_PLACES = {name: place for commands in _GROUPS.values() for name, place in commands.items()}


class _Kadmin(CommandTree):
    """The whole tree; a command is made when it is used."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # typer hides the type it inherits
        """Return the names of all."""
        del ctx
        return list(_PLACES)

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # as above
        """Parse the options before the command.

        Options for completion end the process, or raise the parser's error.
        """
        try:
            return super().parse_args(ctx, args)
        except typer.Exit as ended:
            if ended.exit_code != _UNKNOWN_SHELL:
                raise
            raise UsageError(
                "Completion is for bash, zsh and fish.",
                cause="kadmin was started by none of them",
                next_step="bash -c 'kadmin --show-completion; true'",
            ) from ended
        except OSError as error:
            if error.filename is None:  # of stdout
                raise
            raise NotCompletedError(
                f"Cannot write {error.filename}.", cause=error.strerror
            ) from error

    def groups(self, ctx: typer.Context) -> Mapping[str, Sequence[str]]:
        """Return the groups with the names of their commands."""
        del ctx
        return {heading: list(commands) for heading, commands in _GROUPS.items()}

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]  # noqa: ANN401 - as above
        """Find the command that the first words name.

        A command of two words takes precedence over one of one.
        """
        both = " ".join(args[:2])
        return super().resolve_command(ctx, [both, *args[2:]] if both in _PLACES else args)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # noqa: ANN401 - as above
        """Return a command, or None.

        For an unknown name all are made: the parser suggests the nearest of those.
        """
        for name in [cmd_name] if cmd_name in _PLACES else _PLACES:
            if name not in self.commands:
                self.commands[name] = _command(name)
        return super().get_command(ctx, cmd_name)


def _command(name: str) -> Any:  # noqa: ANN401 - typer's commands have no public type
    module, attribute = _PLACES[name].split(":")
    found = getattr(import_module(f"kadmin.cli.{module}"), attribute)
    tree = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    if isinstance(found, typer.Typer):
        tree.add_typer(found, name=name, cls=CommandTree)
        for each in found.registered_commands:
            each.cls = Command
    else:
        tree.command(name, cls=Command)(found)
    return get_group(tree).commands[name]


def _show_version(ctx: typer.Context, *, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        typer.echo(f"kadmin {__version__}")
        raise typer.Exit


def _kadmin(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="Show the version and exit."
        ),
    ] = False,
    docs: Annotated[
        str | None,
        typer.Option(
            "--docs",
            envvar=DOCS,
            metavar="URL",
            help="The documentation's site, for links of codes in answers.",
        ),
    ] = None,
) -> None:
    """Parse the options before the command."""
    del version
    if docs is not None:
        os.environ[DOCS] = docs
        docs_site()


app = typer.Typer(
    name="kadmin",
    help=(
        "Operations toolkit for Apache Kafka clusters, in KRaft mode (-b) "
        "and in ZooKeeper mode (-z)."
    ),
    cls=_Kadmin,
    callback=_kadmin,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
