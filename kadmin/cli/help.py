"""The help screens: commands in groups, summaries that are never cut off, examples at the end.

Plain text, no boxes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from kadmin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LONGEST_SUMMARY = 200
_LOWER_BOUND = re.compile(r"(; |  \[)x>=[\d.]+\]")


class _WithExamples:
    def format_epilog(self, ctx: typer.Context, formatter: Any) -> None:  # noqa: ANN401 - typer hides the type
        """Write the examples."""
        from kadmin.cli.examples import EXAMPLES

        with formatter.section("Examples"):
            for example in EXAMPLES[ctx.command_path.partition(" ")[2]]:
                formatter.write(f"  {example}\n")  # not wrapped: a line can be copied


class Command(_WithExamples, TyperCommand):  # type: ignore[misc]  # typer hides the type it inherits
    """A command whose help ends with its examples."""

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # as above
        """Return the words of the usage line; typer writes a required argument as {FILE}."""
        return [
            piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)
        ]

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401 - as above
        """Write arguments without Python's names of their types, and both without lower bounds."""
        rows: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for each in self.get_params(ctx):
            if (record := each.get_help_record(ctx)) is not None:
                kind, (name, text) = each.param_type_name, record
                rows[kind].append(
                    (name.partition(" ")[0] if kind == "argument" else name, _without_bound(text))
                )
        for kind, found in rows.items():
            if found:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(found)


class CommandTree(_WithExamples, TyperGroup):  # type: ignore[misc]  # as above
    """Commands below a name.

    Without one of them the help goes to stderr, and the exit code is wrong usage.
    """

    def groups(self, ctx: typer.Context) -> Mapping[str, Sequence[str]]:
        """Return the names of the commands under the heading that each has in the help."""
        return {"Commands": self.list_commands(ctx)}

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # as above
        """Parse the options before the command."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True)
            raise typer.Exit(UsageError.exit_code)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401 - as above
        """Write the first sentence of each command's help, in one column throughout."""
        groups = self.groups(ctx)
        width = max(len(name) for names in groups.values() for name in names)
        for heading, names in groups.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(width), self._summary(ctx, name)) for name in names]
                )

    def _summary(self, ctx: typer.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        return (
            ""
            if command is None
            else command.get_short_help_str(_LONGEST_SUMMARY).removesuffix(".")
        )


def _without_bound(text: str) -> str:
    return _LOWER_BOUND.sub(lambda found: "]" if found[1] == "; " else "", text)
