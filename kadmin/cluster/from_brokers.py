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
    """What each broker answered; `failed` holds the error of each one that did not."""

    given: Mapping[int, Answer]
    failed: Mapping[int, KadminError]


def why(error: KadminError) -> str:
    """Return an error as a clause; the cause is left out where a broker is silent, which is all there is to say."""
    message = error.message.removesuffix(".")
    return message if error.cause is None or type(error) is UnreachableError else f"{message} ({error.cause})"
