"""Reaches every state of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

WorldT = TypeVar("WorldT", bound="Hashable")


def reach(first: WorldT, following: Callable[[WorldT], Iterable[WorldT]]) -> int:
    """Reach every world from the first one, and return their number; `following` is called once for
    each.
    """
    found, waiting = {first}, [first]
    while waiting:
        for each in following(waiting.pop()):
            if each not in found:
                found.add(each)
                waiting.append(each)
    return len(found)
