"""What the loop observes, remembers, and may be told to do. Values only; `decide` maps the first two to the last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.errors import KadminError
    from kadmin.operations.record.record import OperationState, Step
    from kadmin.operations.record.request import StopRequest
    from kadmin.plan.model import DeletionLayout, DeletionPlan, Elect, PartitionTarget, RecreationPlan, TopicRecipe

PICKUP_WARNING_S = 5.0
PICKUP_DEADLINE_S = 10.0
PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S = 30.0
ELECTION_BATCH = 500
ELECTION_ATTEMPTS = 3
PUBLISH_ATTEMPTS = 3
STALLED_S = 60.0
HEALTH_POLL_S = 5.0


@dataclass(frozen=True, slots=True)
class ReassignmentWork:
    """A reassignment as recorded: waves of targets whose `current` is filled in, and when to elect."""

    waves: tuple[tuple[PartitionTarget, ...], ...]
    targets: tuple[PartitionTarget, ...]
    elect: Elect


@dataclass(frozen=True, slots=True)
class ElectionWork:
    """An election as recorded: every partition that the plan names."""

    targets: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class DeletionWork:
    """A deletion as recorded."""

    plan: DeletionPlan


@dataclass(frozen=True, slots=True)
class RecreationWork:
    """A recreation as recorded."""

    plan: RecreationPlan


Work: TypeAlias = ReassignmentWork | ElectionWork | DeletionWork | RecreationWork


@dataclass(frozen=True, slots=True)
class Observed:
    """One look at the cluster: the admin nodes were read before the topics, the step records after them.

    An admin node seen absent therefore means that what the topics show is the controller's last word on it.
    """

    state: ClusterState
    steps: tuple[Step, ...]
    request: StopRequest | None = None


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
    `epoch_changed_at` when it saw the controller change. `listening` holds the admin paths proved to be watched by
    the controller of `epoch`; `probe` is this run's unanswered probe; `attempts` counts publishes since the last one
    that went through. `sight` is a digest of the topics looked at, `changed_at` when it last changed; `health` the
    last answer of the health gate.
    """

    wave: int = 0
    epoch: int | None = None
    epoch_changed_at: float | None = None
    last_step: int = 0
    step_seen_at: float = 0.0
    listening: frozenset[str] = field(default_factory=frozenset)
    probe: Step | None = None
    attempts: int = 0
    sight: int = 0
    changed_at: float = 0.0
    health: HealthSeen | None = None


@dataclass(frozen=True, slots=True)
class AskListening:
    """Find out whether the controller watches `path` before anything of value is written there."""

    path: str


@dataclass(frozen=True, slots=True)
class AskHealth:
    """Read the whole cluster and compare its health with the one on record, before the next wave."""


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
class Advance:
    """The wave is done, seen on the cluster; look at the next."""

    wave: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do but look again. `pending` counts what is not done yet; `reason` is for people."""

    reason: str
    pending: int


@dataclass(frozen=True, slots=True)
class Finish:
    """Leave the loop: with the operation in `state` (running: it can be resumed) and, unless it succeeded, an error."""

    state: OperationState
    message: str
    error: KadminError | None = None


Publish: TypeAlias = PublishWave | PublishElection | PublishDeletion | PublishTopic
Action: TypeAlias = AskListening | AskHealth | Publish | Advance | Wait | Finish
