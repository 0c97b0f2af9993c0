"""Shapes of the answers of `context`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.fleet import FailureAnswer
from kadmin.contexts.model import Protection, SignalUnit
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
    """The missing rights of a context's principal, and its signals."""

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
    signals: Annotated[
        tuple[SignalAnswer, ...],
        "The signals, in the order of the file; exit code 6 where one has no value.",
    ]


@dataclass(frozen=True, slots=True)
class SignalAnswer:
    """A signal of a context, now."""

    name: Annotated[str, "The signal's name."]
    value: Annotated[
        float | None, "The largest sample of its query, in its unit; null where there is none."
    ]
    unit: Annotated[SignalUnit | None, "Its unit; null for a plain number."]
    error: Annotated[FailureAnswer | None, "Why it has no value; null where it has one."]
