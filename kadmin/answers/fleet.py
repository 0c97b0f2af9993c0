"""Shapes of one answer for several clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.operations import HeldLock, LateRequestAnswer, UnfinishedOperation
from kadmin.schema.shapes import Keywords


@dataclass(frozen=True, slots=True)
class ClusterAnswers:
    """The answers of several clusters."""

    clusters: Annotated[tuple[ClusterAnswer, ...], "One entry for each context, by name."]


@dataclass(frozen=True, slots=True)
class ClusterAnswer:
    """The answer of one cluster, or its error."""

    cluster: Annotated[str, "The context's name."]
    exit_code: Annotated[
        int,
        Keywords(minimum=0, maximum=255),
        "The exit code that the command has for this cluster alone; that of the whole is the "
        "highest.",
    ]
    answer: Annotated[
        object,
        Keywords(type=["object", "null"], additionalProperties=True),
        "The answer of the command for this cluster alone, by the command's own schema; null "
        "where it failed.",
    ]
    error: Annotated[FailureAnswer | None, "Why there is no answer; null where there is one."]


@dataclass(frozen=True, slots=True)
class WatchedStatus:
    """The unfinished operations of one of several clusters; nulls and an error, or no error."""

    context: Annotated[str, "The context's name."]
    operations: Annotated[
        tuple[UnfinishedOperation, ...] | None,
        "The unfinished operations; null where the cluster did not answer.",
    ]
    lock: Annotated[
        HeldLock | None,
        "The holder of the lock; null when the lock is free, or the cluster did not answer.",
    ]
    late_requests: Annotated[
        tuple[LateRequestAnswer, ...] | None,
        "As in the answer for one cluster; null where the cluster did not answer.",
    ]
    error: Annotated[FailureAnswer | None, "Why there is no answer; null where there is one."]


@dataclass(frozen=True, slots=True)
class FailureAnswer:
    """An error with its cause and the next command."""

    message: Annotated[str, "What failed."]
    cause: Annotated[str | None, "Why."]
    next_command: Annotated[str | None, "What to type next."]
