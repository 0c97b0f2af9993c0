"""What each kind of document brings to the rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kadmin.cluster.model import TopicPartition
    from kadmin.diagnostics import Diagnostic
    from kadmin.plan.model import Policy
    from kadmin.plan.rules.world import World

Rules: TypeAlias = "Callable[[Any, World | None, Policy | None], Iterator[Diagnostic]]"


def _elects_nothing(_partitions: Iterable[TopicPartition]) -> tuple[TopicPartition, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Touched:
    """What a plan reassigns, deletes, and uses (topics that must exist); `elects` picks those it elects leaders of."""

    reassigned: tuple[TopicPartition, ...] = ()
    deleted: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    elects: Callable[[Iterable[TopicPartition]], tuple[TopicPartition, ...]] = field(default=_elects_nothing)


def touches_nothing(_document: object) -> Touched:
    """Return what a document that is no plan touches."""
    return Touched()


@dataclass(frozen=True, slots=True)
class Kind:
    """The rules of a kind of document, and what documents of it touch."""

    rules: Rules
    touched: Callable[[Any], Touched] = touches_nothing
