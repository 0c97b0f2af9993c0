"""Events of a running operation; the command line renders them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from kadmin.cluster.model import TopicPartition
    from kadmin.next_step import NextStep
    from kadmin.plan.hours import Ending
    from kadmin.plan.signals import SignalSeen


@dataclass(frozen=True, slots=True)
class OperationStarted:
    """The operation is on record, and this process runs it; any machine can take it over."""

    operation_id: str
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class StepPublished:
    """A request was published: `what` is its kind, `count` the partitions or topics that it names.

    `attempt` counts the requests to return to the original replicas; some controllers need several.
    """

    what: str
    count: int
    step: int
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Progressed:
    """Progress of the whole operation. Bytes are None where sizes are unknown.

    `wave` counts from 1, of `waves`; both 0 for work without waves. `rate` is in bytes per second,
    of this run alone; `eta_s` the seconds that are left; both None where they are not known.
    `ending` is the time of the end of an operation with hours, None where it is not known.
    `throttle` is the highest rate of a broker, in bytes per second, None without a throttle;
    `signals` are those that the rate follows.
    """

    done: int
    total: int
    done_bytes: int | None
    total_bytes: int | None
    wave: int
    waves: int
    rate: float | None
    eta_s: float | None
    reason: str
    ending: Ending | None = None
    throttle: int | None = None
    signals: tuple[SignalSeen, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A note: a probe, a lock taken again, a refused publish."""

    text: str


@dataclass(frozen=True, slots=True)
class LostRecords:
    """Records of a partition that are gone: from `offset` on, up to the one before `offset_before`.

    That many were there in epoch `leader_epoch_before`, as far as compaction left them; `leader`
    leads it now.
    """

    partition: TopicPartition
    offset_before: int
    offset: int
    leader_epoch_before: int
    leader_epoch: int
    leader: int


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The operation's record has a new state: completed, failed, paused or cancelled, and why.

    `lost_records` were there when it began, and are gone.
    """

    state: str
    text: str
    lost_records: tuple[LostRecords, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """The command ends: its exit code, result or error in a sentence, and the next command."""

    exit_code: int
    text: str
    next_step: NextStep | str | None = None


@dataclass(frozen=True, slots=True)
class ServerRequestLogged:
    """A request to a server and its result; logged on request alone (--verbose)."""

    text: str


Event: TypeAlias = (
    OperationStarted
    | StepPublished
    | Progressed
    | Note
    | StateChanged
    | Ended
    | ServerRequestLogged
)
EventSink: TypeAlias = Callable[[Event], None]
