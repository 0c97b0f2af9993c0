"""Options for the events of a command that runs an operation, and their sinks.

It gets them as one value.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kadmin.cli.option_groups import group_options, option
from kadmin.cli.options import OutputFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.cli.webhook import Webhook

NOTIFY_VARIABLE = "KADMIN_NOTIFY"

_OPTIONS = (
    option(
        "log_format",
        Annotated[
            OutputFormat | None,
            typer.Option(
                "--log-format", help="Format of the events on stderr. Default: that of --output."
            ),
        ],
    ),
    option(
        "verbose",
        Annotated[
            bool,
            typer.Option(
                "-v", "--verbose", help="Also show requests to servers and their duration."
            ),
        ],
        default=False,
    ),
    option(
        "metrics",
        Annotated[
            Path | None,
            typer.Option(
                "--metrics",
                metavar="FILE",
                help="Keep state and progress in this file, for Prometheus.",
            ),
        ],
    ),
    option(
        "notify",
        Annotated[
            str | None,
            typer.Option(
                "--notify",
                envvar=NOTIFY_VARIABLE,
                metavar="URL",
                help="Post events to this webhook, as JSON.",
            ),
        ],
    ),
)


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The format of the events on stderr.

    It also says whether requests to servers are among them, and where else events go.
    """

    log_format: OutputFormat = OutputFormat.HUMAN
    verbose: bool = False
    metrics: Path | None = None
    webhook: Webhook | None = None


UNASKED = OutputOptions()
"""The value for commands without these options."""


def with_telling(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options in place of its parameter `output_options`.

    It needs one that is named `output`.
    """
    return group_options(
        command, "output_options", {each.name: each for each in _OPTIONS}, _telling
    )


def _telling(taken: Mapping[str, Any], given: Mapping[str, Any]) -> OutputOptions:
    """Build the value; a dry run changes nothing, so it writes no metrics and posts nothing."""
    from kadmin.cli.webhook import Webhook

    webhook = Webhook.parse(taken["notify"]) if taken["notify"] else None
    log_format = taken["log_format"] or given["output"]
    if given.get("dry_run"):
        return OutputOptions(log_format, taken["verbose"])
    return OutputOptions(log_format, taken["verbose"], taken["metrics"], webhook)
