"""Protocol of the lock in the topic.

It has the requests to brokers that take it, renew it and write under it. Pure. Each function yields
requests and gets their answers; a request of a producer that was fenced raises FencedError. The
writer carries them out on live brokers, and the model of the protocol on modelled ones, in every
order.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from kadmin.worlds.kafka.values.topic_log import CLAIM, LOCK, encode_lock
from kadmin.worlds.kafka.wire.transactions import FencedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.operations.record.holder import Holder
    from kadmin.worlds.kafka.values.topic_log import TopicLock, TopicLog
    from kadmin.worlds.kafka.wire.transactions import Producer

_CLAIMS = 10


@dataclass(frozen=True, slots=True)
class Begin:
    """Start a producer, which fences every earlier one; the answer is its `Producer`."""


@dataclass(frozen=True, slots=True)
class Add:
    """Write values in the open transaction; the answer is the offset of the first.

    None removes a value. `again`: the values are on record already, and are written once more
    unchanged.
    """

    values: Mapping[str, bytes | None]
    again: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """Commit the open transaction."""


@dataclass(frozen=True, slots=True)
class CatchUp:
    """Read all that was committed before; the answer is the `TopicLog`."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for the process that fenced this one."""


T = TypeVar("T")
Request: TypeAlias = Begin | Add | Commit | CatchUp | Pause
Steps: TypeAlias = Generator[Request, Any, T]


def take(holder: Holder, judged: TopicLock | None) -> Steps[int | None]:
    """Take the lock that was `judged` to be free.

    Returns its token, None where that is no longer true. Raises FencedError where another process
    claims meanwhile.
    """
    claimant, token = yield from _claim()
    log: TopicLog = yield CatchUp()
    if not log.may_take(claimant, judged):
        return None
    if overwritten := log.overwritten():
        yield Add(overwritten, again=True)
    yield Add({LOCK: encode_lock(holder, token)})
    yield Commit()
    return token


def write(values: Mapping[str, bytes | None], token: int, *, begun: bool) -> Steps[bool]:
    """Write values under the lock with this token, all of them or none.

    Returns False where the lock is lost. `begun` is whether the producer of the last write can go
    on. Where it cannot, or was fenced, this process claims again, and writes if the lock is still
    the same: a taker that withdraws leaves it unchanged.
    """
    for _ in range(_CLAIMS):
        try:
            if not begun:
                claimant, _ = yield from _claim()
                log: TopicLog = yield CatchUp()
                # A log without our claim proves nothing: another process claimed, or a deposed
                # leader answered.
                begun = log.writer == claimant
                if begun and not log.is_held(token):
                    return False
            if begun:
                yield Add(values)
                yield Commit()
                return True
        except FencedError:
            begun = False
        yield Pause()
    return False


def _claim() -> Steps[tuple[Producer, int]]:
    """Fence every other process and write a claim.

    A reader of the claim has read all earlier records, too.
    """
    claimant: Producer = yield Begin()
    offset: int = yield Add({CLAIM: b"{}"})
    yield Commit()
    return claimant, offset
