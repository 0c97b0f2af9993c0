"""`apply --approved SHA256`: only the plan file that was reviewed is applied."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from kadmin.cli.files import STANDARD_INPUT
from kadmin.errors import StalePlanError, UsageError
from kadmin.next_step import command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.contexts.address import ClusterAddress
    from kadmin.plan.model import DocumentFile, Plan

_DIGEST = re.compile("[0-9a-f]{64}")


def parse_digest(text: str) -> str:
    """Return a SHA-256 in lower case; raises UsageError unless it has the format of `sha256sum`."""
    digest = text.lower()
    if _DIGEST.fullmatch(digest) is None:
        raise UsageError(
            f"--approved {text!r} is no SHA-256.",
            cause="it is the 64 hexadecimal digits that sha256sum prints for the plan file",
            next_step="sha256sum PLAN",
        )
    return digest


def require_approved(file: DocumentFile, approved: str) -> None:
    """Raise StalePlanError unless the bytes that were read are those that were approved."""
    found = file.digest
    if found != approved:
        raise StalePlanError(
            f"{file.name} is not the plan that was approved.",
            cause=f"its SHA-256 is {found}, and approved was {approved}",
            next_step=command("diff", file.name) + ", and have the plan approved again",
        )


def unattended_command(
    plan: Plan, cluster: ClusterAddress | None, options: Mapping[str, object]
) -> str | None:
    """Return the command that applies exactly these bytes of a plan's file, without a question.

    Options that are None or False are left out. Addresses from the environment are written out: the
    job has an environment of its own.
    """
    file = plan.header.file
    if file is None:
        return None
    given = {"--approved": file.digest, **options, **({} if cluster is None else cluster.options)}
    options_given = [
        name if value is True else f"{name} {shlex.quote(str(value))}"
        for name, value in given.items()
        if value is not None and value is not False
    ]
    redirection = ["<", "PLAN"] if file.name == STANDARD_INPUT else []
    return " ".join(
        ["kadmin", "apply", shlex.quote(file.name), *options_given, "--yes", *redirection]
    )
