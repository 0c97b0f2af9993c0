"""Shapes of the answers of `context`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.contexts.model import Protection
from kadmin.contexts.settings import Setting
from kadmin.insight.diagnosis.rights import MissingRight


@dataclass(frozen=True, slots=True)
class ContextsAnswer:
    """The contexts of a file."""

    file: Annotated[str, "The contexts file."]
    current: Annotated[str | None, "The context of commands that name no cluster."]
    contexts: Annotated[tuple[ListedContext, ...], "The contexts, in the order of the file."]


@dataclass(frozen=True, slots=True)
class ListedContext:
    """A context of a file."""

    name: Annotated[str, "The context's name."]
    address: Annotated[str, "ZooKeeper's connect string, or the brokers."]
    current: Annotated[bool, "Whether it is the current one."]
    protect: Annotated[Protection, "Protection against commands that write."]
    description: Annotated[str | None, "Its description."]


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """The values that commands use in a context."""

    settings: Annotated[tuple[Setting, ...], "Every value that commands use."]


@dataclass(frozen=True, slots=True)
class RightsAnswer:
    """The missing rights of a context's principal."""

    context: Annotated[str, "The context's name."]
    address: Annotated[str, "The address that was reached."]
    cluster_id: Annotated[str | None, "The cluster's id."]
    principal: Annotated[
        str | None,
        "The principal as the servers see it; null without authentication, or where servers do "
        "not report it.",
    ]
    missing: Annotated[
        tuple[MissingRight, ...], "The rights that are missing; exit code 6 where there are some."
    ]
    not_checked: Annotated[tuple[str, ...], "What could not be checked, and why."]
