"""Answers of several brokers to one question, each of which may fail alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from kadmin.errors import UnreachableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.errors import KadminError

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class FromBrokers(Generic[Answer]):
    """The answers by broker id; `failed` has the error of each broker without an answer."""

    given: Mapping[int, Answer]
    failed: Mapping[int, KadminError]


def why(error: KadminError) -> str:
    """Return an error as a clause, with its cause.

    The message of an UnreachableError needs no cause.
    """
    message = error.message.removesuffix(".")
    return (
        message
        if error.cause is None or type(error) is UnreachableError
        else f"{message} ({error.cause})"
    )
