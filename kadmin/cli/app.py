"""The tree of commands; each command's body lives in the module of its topic.

A command is imported and made when it is asked for: making all of them takes longer than validating a plan.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

_PLACES = {
    "validate": "validate:validate",
    "convert": "convert:convert",
    "doctor": "doctor:doctor",
    "inspect": "inspect:inspect_app",
    "whatif": "whatif:whatif_app",
    "consumers": "consumers:consumers_app",
    "diff": "cluster:diff",
    "apply": "operate:apply",
    "verify": "operate:verify",
    "status": "operate:status",
    "resume": "takeover:resume",
    "pause": "takeover:pause",
    "cancel": "takeover:cancel",
    "rollback": "takeover:rollback",
    "history": "operate:history",
    "recreate": "recreate:recreate",
    "heal": "heal:heal",
    "lock": "operate:lock_app",
    "throttle": "throttle:throttle_app",
    "snapshot": "cluster:snapshot",
    "report": "report:report",
    "propose": "propose:propose_app",
    "schema": "schema:schema_app",
    "sandbox": "sandbox:sandbox_app",
}
"""Module and name of each command, or of the tree of those below it, in the order of `--help`."""


class _Tree(TyperGroup):
    """The commands, each made when it is asked for."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # typer hides the type it inherits
        """Return the names of all."""
        del ctx
        return list(_PLACES)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # noqa: ANN401 - as above
        """Return a command, or None. For an unknown name all are made: the parser suggests the nearest of those."""
        for name in [cmd_name] if cmd_name in _PLACES else _PLACES:
            if name not in self.commands:
                self.commands[name] = _command(name)
        return super().get_command(ctx, cmd_name)


def _command(name: str) -> Any:  # noqa: ANN401 - typer's commands have no public type
    module, attribute = _PLACES[name].split(":")
    found = getattr(import_module(f"kadmin.cli.{module}"), attribute)
    tree = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    if isinstance(found, typer.Typer):
        tree.add_typer(found, name=name)
    else:
        tree.command(name)(found)
    return get_group(tree).commands[name]


def _nothing() -> None:
    """Stand where typer wants a function: the tree itself does nothing."""


app = typer.Typer(
    name="kadmin",
    cls=_Tree,
    callback=_nothing,
    help="Operations toolkit for Apache Kafka clusters whose metadata lives in ZooKeeper.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
