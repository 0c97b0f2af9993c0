"""Names the writes of a run as kill points, in either mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from support.kafka.writes import points_of
from support.network.frame_proxy import Fault, Side
from support.zookeeper.fault_proxy import MULTI

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.kafka.writes import WritePoint
    from support.live.errands import Brokers, Proxy
    from support.network.frame_proxy import Action, Frame

Point: TypeAlias = "WritePoint | MultiPoint"


@dataclass(frozen=True, slots=True)
class MultiPoint:
    """A write of a run to ZooKeeper: the moment before it is forwarded, or before its answer."""

    number: int
    forwarded: bool

    def __str__(self) -> str:
        return f"{'after' if self.forwarded else 'before'} write {self.number}"

    def fault(self, action: Action, then: Callable[[], object]) -> Fault:
        """Break the connection at this moment of a process that is to begin."""
        writes: list[int] = []

        def matches(frame: Frame) -> bool:
            if frame.side is Side.REQUEST and frame.op == MULTI:
                writes.append(frame.number)
            return (
                writes[self.number - 1 : self.number] == [frame.number]
                and (frame.side is Side.REPLY) == self.forwarded
            )

        return Fault(action, matches, then=then)


def points_in(proxy: Proxy, brokers: Brokers) -> list[Point]:
    """Return every write that a proxy saw, before and after it was forwarded."""
    if brokers.sandbox.spec.kraft:
        return [*points_of(proxy.frames)]
    writes = sum(frame.side is Side.REQUEST and frame.op == MULTI for frame in proxy.frames)
    return [
        MultiPoint(number, forwarded)
        for number in range(1, writes + 1)
        for forwarded in (False, True)
    ]
