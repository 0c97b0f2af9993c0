"""What the loop observes, remembers and does. Values only; each kind of work maps the first two to the last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kadmin.cluster.model import Assignment, ClusterState, TopicPartition
    from kadmin.errors import KadminError
    from kadmin.operations.record.record import Channel, OperationKind, OperationRecord, OperationState, Step
    from kadmin.operations.record.stop_request import StopRequest
    from kadmin.plan.model import DeletionLayout, PartitionTarget, TopicRecipe
    from kadmin.plan.progress import Progress

P = TypeVar("P")

PICKUP_WARNING_S = 5.0
PICKUP_DEADLINE_S = 10.0
PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S = 30.0
ELECTION_BATCH = 500
ELECTION_ATTEMPTS = 3
PUBLISH_ATTEMPTS = 3
STALLED_S = 60.0
HEALTH_POLL_S = 5.0


@dataclass(frozen=True, slots=True)
class Observed:
    """One look at the cluster: pending requests were read before the topics, the steps after them.

    A request seen absent therefore means that what the topics show is final. `unchanged_means_rejected` is the
    back-end's: whether a finished request that left a partition unchanged was rejected.
    """

    state: ClusterState
    steps: tuple[Step, ...]
    request: StopRequest | None = None
    unchanged_means_rejected: bool = True


@dataclass(frozen=True, slots=True)
class HealthSeen:
    """What the health gate before `wave` saw at `at`: trouble that is new since the operation began."""

    wave: int
    at: float
    trouble: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """What one run of the loop has learned so far. Times are seconds of a monotonic clock.

    `wave` is the first wave not yet seen done. `step_seen_at` is when this run first saw the latest step;
    `epoch_changed_at` when it saw the controller change. `listening` holds the channels that the controller of `epoch`
    is proved to watch; `probe` is this run's unanswered probe; `attempts` counts publishes since the last one that
    went through. `fingerprint` is a digest of the topics read, `changed_at` when it last changed; `health` the last
    answer of the health gate.
    """

    wave: int = 0
    epoch: int | None = None
    epoch_changed_at: float | None = None
    last_step: int = 0
    step_seen_at: float = 0.0
    listening: frozenset[Channel] = field(default_factory=frozenset)
    probe: Step | None = None
    attempts: int = 0
    fingerprint: int = 0
    changed_at: float = 0.0
    health: HealthSeen | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Partitions (of a deletion: topics) done of all; bytes None where a size is unknown."""

    done: int
    total: int
    done_bytes: int | None = None
    total_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class AskListening:
    """Find out whether the controller would see a request on the channel, before one is written there."""

    channel: Channel


@dataclass(frozen=True, slots=True)
class AskHealth:
    """Read the whole cluster and compare its health with the one on record, before the next wave."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Write a harmless request on the channel, which a controller that sees it finishes at once."""

    channel: Channel


@dataclass(frozen=True, slots=True)
class PublishWave:
    """Publish these targets of one wave."""

    wave: int
    targets: tuple[PartitionTarget, ...]


@dataclass(frozen=True, slots=True)
class PublishElection:
    """Ask the controller to elect the preferred leaders of these partitions."""

    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class PublishDeletion:
    """Ask the controller to delete these topics, in the layout that the plan names."""

    topics: tuple[str, ...]
    layout: DeletionLayout


@dataclass(frozen=True, slots=True)
class PublishTopic:
    """Create a topic as its recipe says."""

    recipe: TopicRecipe


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Return partitions in flight to their original ordered replicas."""

    origin: Assignment


@dataclass(frozen=True, slots=True)
class Advance:
    """The wave is done, seen on the cluster; look at the next."""

    wave: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Look again later. `pending` counts what is not done yet; `warning` is worth a line of its own."""

    reason: str
    pending: int = 0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """Leave the loop: with the operation in `state` (running: it can be resumed) and, unless it succeeded, an error."""

    state: OperationState
    message: str
    error: KadminError | None = None


Publish: TypeAlias = Probe | PublishWave | PublishElection | PublishDeletion | PublishTopic
Action: TypeAlias = AskListening | AskHealth | Publish | Advance | Wait | Finish


class Work(Protocol):
    """What an operation has to do, as recorded. One class for each kind of operation."""

    @property
    def channel(self) -> Channel | None:
        """The channel that the controller must watch before the first publish."""
        ...

    def topics(self, wave: int | None = None) -> set[str]:
        """Return every topic that the work names, or those that must be read while `wave` is under way."""
        ...

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action; `observed` holds at least the topics of wave `memory.wave`."""
        ...

    def in_flight(self, observed: Observed, memory: Memory) -> bool:
        """Whether the cluster is at work on something of this, which a request to stop must not leave behind."""
        ...

    def tally(self, observed: Observed, memory: Memory) -> Tally:
        """Count what is done; waves before `memory.wave` were seen done."""
        ...

    def left_to_do(self, observed: Observed, memory: Memory) -> tuple[str, ...]:
        """Name what is not done yet; waves before `memory.wave` were seen done."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """One topic, or one of its partitions, and how far it is; `detail` says what was seen where it is not done."""

    topic: str
    partition: int | None
    progress: Progress
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """What operations on record did with a plan: their original replicas, and the partitions that they published."""

    origin: Assignment = field(default_factory=dict)
    partitions: frozenset[TopicPartition] = frozenset()


@dataclass(frozen=True, slots=True)
class PlanKind(Generic[P]):
    """What operations ask of a kind of plan.

    `scope` names the topics to read for `verify`, None for all. `work_of` rebuilds the work from plan and record;
    `fields` are the fields of a record that the kind fills, of a work on a state; `verdicts` judges a plan by a state.
    """

    kind: OperationKind
    plan: type[P]
    scope: Callable[[P], set[str] | None]
    work_of: Callable[[P, OperationRecord], Work]
    fields: Callable[[Any, ClusterState], dict[str, Any]]
    verdicts: Callable[[P, ClusterState, Published], Iterable[Verdict]]
