"""Restrictions of a context on commands that write.

Its name typed, no writes, or some kinds of plans only.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.contexts.model import Protection
from kadmin.errors import UsageError
from kadmin.next_step import command

if TYPE_CHECKING:
    from kadmin.contexts.address import ClusterAddress
    from kadmin.plan.model import Plan


def require_writable(address: ClusterAddress, confirm: str | None) -> ClusterAddress:
    """Return the address for a command that writes; `confirm` is the name that --confirm gives.

    Raises UsageError for a context that is read-only, for another name, and where the name has to
    be typed and there is no terminal. Nothing has been connected by then.
    """
    context = address.context
    if context is None:
        if confirm is not None:
            raise UsageError(
                "--confirm goes with a context.",
                next_step="leave --confirm out, or add --context NAME",
            )
        return address
    if context.protect is Protection.READ_ONLY:
        raise UsageError(
            f"The context {context.name} is read-only: kadmin changes nothing there.",
            cause="its protection in the contexts file is protect: read-only",
            next_step=command("context show", context.name),
        )
    if confirm is not None and confirm != context.name:
        raise UsageError(f"--confirm names {confirm!a}, and the context is {context.name}.")
    if context.protect is Protection.CONFIRM and confirm is None and not sys.stdin.isatty():
        raise UsageError(
            f"The context {context.name} is protected: its name must be typed, and there is no "
            "terminal.",
            cause="protect: confirm is not satisfied by --yes",
            next_step=f"add --confirm {context.name}",
        )
    return replace(address, confirmed=confirm is not None)


def name_to_type(address: ClusterAddress) -> str | None:
    """Return the name to type before the cluster is changed.

    None if none is required, or it was given.
    """
    context = address.context
    if context is None or address.confirmed or context.protect is not Protection.CONFIRM:
        return None
    return context.name


def require_allowed(address: ClusterAddress, plan: type[Plan] | None) -> None:
    """Raise UsageError for a kind of plan that the context does not allow.

    None is an operation without a plan.
    """
    from kadmin.documents.kinds import kind_name

    context = address.context
    if context is None or context.allow is None or plan is None:
        return
    if (kind := kind_name(plan)) not in context.allow:
        allowed = ", ".join(sorted(context.allow)) or "no kind of plan"
        raise UsageError(
            f"The context {context.name} does not allow a {kind}.",
            cause=f"it allows {allowed}",
            next_step=command("context show", context.name),
        )
