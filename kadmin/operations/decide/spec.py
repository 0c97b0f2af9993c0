"""What the work of an operation offers, and what operations need for one kind of plan."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from kadmin.plan.directories import Directories

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from kadmin.cluster.model import Assignment, ClusterState, TopicPartition
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.record.record import OperationKind, OperationRecord
    from kadmin.operations.record.steps import Channel
    from kadmin.plan.progress import Progress

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Tally:
    """Partitions (of a deletion: topics) done of all; bytes None where a size is unknown.

    `wave` counts from 1, of `waves`; both 0 for work without waves.
    """

    done: int
    total: int
    done_bytes: int | None = None
    total_bytes: int | None = None
    wave: int = 0
    waves: int = 0


class OperationSpec(Protocol):
    """The work of an operation, as recorded. One class for each kind of operation."""

    @property
    def channel(self) -> Channel | None:
        """The channel that the controller must watch before the first publish."""
        ...

    def topics(self, wave: int | None = None) -> set[str]:
        """Return every topic that the work names, or those to be read while `wave` is under way."""
        ...

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action; `observed` holds at least the topics of wave `memory.wave`."""
        ...

    def in_flight(self, observed: Observed, memory: Memory) -> bool:
        """Whether published work is in flight, which a request to stop must not leave behind."""
        ...

    def tally(self, observed: Observed, memory: Memory) -> Tally:
        """Count what is done; waves before `memory.wave` were seen done."""
        ...

    def left_to_do(self, observed: Observed, memory: Memory) -> tuple[str, ...]:
        """Name what is not done yet; waves before `memory.wave` were seen done."""
        ...


class ListedOperationSpec(OperationSpec):
    """Work without waves, on a list of topics or of partitions."""

    channel: Channel | None = None

    @abstractmethod
    def listed(self) -> Collection[str | TopicPartition]:
        """Return the topics or partitions that the work is about."""

    @abstractmethod
    def open(self, state: ClusterState) -> tuple[str, ...]:
        """Name the topics or partitions that are not done."""

    def topics(self, _wave: int | None = None) -> set[str]:
        """Return every topic that the work names."""
        return {each if isinstance(each, str) else each.topic for each in self.listed()}

    def in_flight(self, observed: Observed, _memory: Memory) -> bool:
        """Whether anything was published: it is not taken back."""
        return bool(observed.steps)

    def tally(self, observed: Observed, _memory: Memory) -> Tally:
        """Count the partitions and bytes that are done."""
        total = len(self.listed())
        return Tally(total - len(self.open(observed.state)), total)

    def left_to_do(self, observed: Observed, _memory: Memory) -> tuple[str, ...]:
        """Name what is not done."""
        return self.open(observed.state)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One topic, or one of its partitions, and its progress.

    `detail` is what the cluster has where it is not done.
    """

    topic: str
    partition: int | None
    progress: Progress
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PlanHistory:
    """History of a plan in operations on record.

    It has their original replicas, and the partitions that they published. `cancelled`: the last of
    them was cancelled. `directories` are those of now, where the plan names some.
    """

    origin: Assignment = field(default_factory=dict)
    partitions: frozenset[TopicPartition] = frozenset()
    cancelled: bool = False
    directories: Directories = field(default_factory=Directories)


@dataclass(frozen=True, slots=True)
class PlanKind(Generic[P]):
    """Functions and types that operations need for one kind of plan.

    `scope` names the topics to read for `verify`, None for all. `spec_of` rebuilds the work from
    plan and record; `fields` are the fields of a record that the kind fills, of a work on a state;
    `verdicts` judges a plan by a state.
    """

    kind: OperationKind
    plan: type[P]
    scope: Callable[[P], set[str] | None]
    spec_of: Callable[[P, OperationRecord], OperationSpec]
    fields: Callable[[Any, ClusterState], dict[str, Any]]
    verdicts: Callable[[P, ClusterState, PlanHistory], Iterable[Verdict]]
