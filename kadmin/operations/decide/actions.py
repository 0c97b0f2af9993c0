"""Observations, memory and actions of the loop that runs an operation: values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import (
    CreationStep,
    DeletionStep,
    ElectionStep,
    GrowthStep,
    LogDirsStep,
    ProbeStep,
    UncleanElectionStep,
    WaveStep,
)
from kadmin.plan.directories import Directories

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.capabilities import Capabilities
    from kadmin.cluster.model import Assignment, ClusterState, PartitionState, TopicPartition
    from kadmin.errors import KadminError
    from kadmin.operations.events import LostRecords
    from kadmin.operations.record.steps import Channel, Errand, Step
    from kadmin.operations.record.stop_request import StopRequest
    from kadmin.plan.copied import OnDisk, Sizes
    from kadmin.plan.model import (
        DecommissionPlan,
        DeletionLayout,
        PartitionTarget,
        TopicGrowth,
        TopicRecipe,
    )
    from kadmin.plan.pairs import AtOnce
    from kadmin.plan.throttle import ConfigChanges

PICKUP_WARNING_S = 5.0
PICKUP_DEADLINE_S = 10.0
PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S = 30.0
ELECTION_BATCH = 500
ELECTION_ATTEMPTS = 3
PUBLISH_ATTEMPTS = 3
STALLED_S = 60.0
HEALTH_POLL_S = 5.0
STOP_POLL_S = 5.0


@dataclass(frozen=True, slots=True)
class Observed:
    """The cluster as read once: pending requests before the topics, steps after them.

    Where a request is absent, what the topics show is therefore final. `steps` are those that
    published something. `capabilities` are those of the way to the cluster. `sizes` and `on_disk`
    are the copies' bytes by the brokers, empty where those were not asked; `directories` are where
    the replicas are for which the plan names log directories.
    """

    state: ClusterState
    steps: tuple[Step, ...]
    capabilities: Capabilities
    request: StopRequest | None = None
    sizes: Sizes = field(default_factory=dict)
    on_disk: OnDisk = field(default_factory=dict)
    directories: Directories = field(default_factory=Directories)


@dataclass(frozen=True, slots=True)
class HealthSeen:
    """The answer of the health gate before `wave`, at `at`.

    It is trouble that is new since the operation began.
    """

    wave: int
    at: float
    trouble: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StopSeen:
    """The answer of the gate to whether these brokers may be stopped, which counts until `until`.

    It counts while the brokers are alive that were `alive` when it was asked. `why_not` is empty
    where they may. `refusing` are the partitions on these brokers that refuse acks=all, or are
    offline, without the stop.
    """

    brokers: frozenset[int]
    alive: frozenset[int]
    until: float
    why_not: str
    refusing: tuple[TopicPartition, ...] = ()


@dataclass(frozen=True, slots=True)
class EmptySeen:
    """What keeps brokers from being empty, which counts until `until`: nothing, or one of these.

    `landed` are the waves of another round, for partitions that they are replicas of; `why_not`
    everything else, in words.
    """

    until: float
    landed: tuple[tuple[PartitionTarget, ...], ...]
    why_not: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """State that one run of the loop keeps between observations.

    Times are seconds of a monotonic clock. `wave` is the first wave not yet seen done.
    `step_seen_at` is when this run first saw the latest step; `epoch_changed_at` when it saw the
    controller change. `listening` holds the channels that the controller of `epoch` is proved to
    watch; `probe` is this run's unanswered probe; `attempts` counts publishes since the last one
    that went through. `ends_since` is the time of the first reading with nothing left to do, while
    a request is unanswered. `fingerprint` is a digest of the topics read, `changed_at` when it last
    changed; `health`, `stop` and `empty` the last answers of the gates; `errands` those that this
    run has confirmed. `states` are the partitions as read last; `without_source` those with no
    replica alive and in sync, with the brokers of their last ISR; `led_again` those that have a
    leader again, and whether it is one of these. `at_once` are the partitions that may be copied at
    once from one broker to another, None without a limit.
    """

    wave: int = 0
    epoch: int | None = None
    epoch_changed_at: float | None = None
    last_step: int = 0
    step_seen_at: float = 0.0
    listening: frozenset[Channel] = field(default_factory=frozenset)
    probe: ProbeStep | None = None
    attempts: int = 0
    ends_since: float | None = None
    fingerprint: int = 0
    changed_at: float = 0.0
    health: HealthSeen | None = None
    stop: StopSeen | None = None
    empty: EmptySeen | None = None
    errands: frozenset[Errand] = field(default_factory=frozenset)
    states: Mapping[TopicPartition, PartitionState] = field(default_factory=dict)
    without_source: Mapping[TopicPartition, frozenset[int]] = field(default_factory=dict)
    led_again: Mapping[TopicPartition, bool] = field(default_factory=dict)
    at_once: AtOnce | None = None


@dataclass(frozen=True, slots=True)
class AskListening:
    """Check that the controller watches the channel, before a request is written there."""

    channel: Channel


@dataclass(frozen=True, slots=True)
class AskHealth:
    """Before the next wave, compare the cluster's health with the one on record.

    Compare its disks with `waves` to come.
    """

    waves: tuple[tuple[PartitionTarget, ...], ...]


@dataclass(frozen=True, slots=True)
class AskStop:
    """Ask whether these brokers may be stopped, while partitions keep `margin` replicas more.

    `alive` are the brokers that are alive; the answer does not count for others.
    """

    brokers: frozenset[int]
    margin: int
    alive: frozenset[int]


@dataclass(frozen=True, slots=True)
class AskEmpty:
    """Ask what the brokers of a decommission still hold."""

    plan: DecommissionPlan


@dataclass(frozen=True, slots=True)
class PlanRound:
    """Put the waves of another round of a decommission on record."""

    waves: tuple[tuple[PartitionTarget, ...], ...]


@dataclass(frozen=True, slots=True)
class RunErrand:
    """Confirm an errand on these brokers: done already, or done now and seen."""

    errand: Errand
    brokers: frozenset[int]


@dataclass(frozen=True, slots=True)
class NoteGone:
    """Put on record that brokers were seen stopped in this stage, and set the throttle."""

    wave: int
    brokers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """Write a harmless request on the channel, which a controller that sees it finishes at once."""

    channel: Channel


@dataclass(frozen=True, slots=True)
class PublishWave:
    """Publish these targets of one wave.

    `by_api`: through the brokers' API, where the controller has a store of requests, too.
    """

    wave: int
    targets: tuple[PartitionTarget, ...]
    by_api: bool = False


@dataclass(frozen=True, slots=True)
class PublishLogDirs:
    """Ask a broker to have replicas of one wave in these log directories.

    `present` are those in which they are, of those that the broker has.
    """

    wave: int
    broker_id: int
    log_dirs: Mapping[TopicPartition, str]
    present: Mapping[TopicPartition, str]
    topic_ids: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class PublishElection:
    """Ask the controller to elect the preferred leaders of these partitions.

    `unclean`: the first living replica of each, in sync or not, through the brokers' API.
    """

    partitions: tuple[TopicPartition, ...]
    unclean: bool = False


@dataclass(frozen=True, slots=True)
class ForceLeaders:
    """Let the first replica of each target lead, in sync or not, where brokers serve no request.

    Lists, the configs of their topics and another controller, which elects, are one write.
    """

    targets: tuple[PartitionTarget, ...]
    configs: ConfigChanges


@dataclass(frozen=True, slots=True)
class RestoreConfigs:
    """Give topics the values back that these changes found; on record once they are there."""

    configs: ConfigChanges


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
class PublishGrowth:
    """Add partitions to a topic."""

    growth: TopicGrowth


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Return partitions in flight to their original ordered replicas; () where those are unknown.

    `by_api`: through the brokers' API, as they were started; no pending request is needed.
    """

    origin: Assignment
    by_api: bool = False


@dataclass(frozen=True, slots=True)
class Advance:
    """The wave is done; go on with the next."""

    wave: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Read again later; `warning` is shown on its own line.

    `for_person`: for a person, who may take any time.
    """

    reason: str
    warning: str | None = None
    for_person: bool = False


@dataclass(frozen=True, slots=True)
class Finish:
    """End the loop with the operation in `state` and, unless it succeeded, an error.

    An operation that is running can be resumed. `lost_records` were there when the operation began,
    and are gone at its end.
    """

    state: OperationState
    message: str
    error: KadminError | None = None
    lost_records: tuple[LostRecords, ...] = ()


def failed(error: KadminError) -> Finish:
    """Finish a failed operation."""
    return Finish(OperationState.FAILED, error.message, error)


def unfinished(error: KadminError) -> Finish:
    """Finish with the operation still running on record, so that it can be resumed."""
    return Finish(OperationState.RUNNING, error.message, error)


Publish: TypeAlias = (
    Probe
    | PublishWave
    | PublishLogDirs
    | PublishElection
    | ForceLeaders
    | PublishDeletion
    | PublishTopic
    | PublishGrowth
)
Action: TypeAlias = (
    AskListening
    | AskHealth
    | AskStop
    | AskEmpty
    | PlanRound
    | RunErrand
    | NoteGone
    | RestoreConfigs
    | Publish
    | TakeBack
    | Advance
    | Wait
    | Finish
)


def step_of(action: Publish, number: int, at: str) -> tuple[Step, int]:
    """Return the step that records a publish, and how many partitions or topics it affects."""
    step: Step
    match action:
        case Probe():
            step, affected = ProbeStep(number, at, action.channel), 0
        case PublishWave():
            step, affected = WaveStep(number, at, action.wave), len(action.targets)
        case PublishLogDirs(wave, broker_id, log_dirs, present, topic_ids):
            step = LogDirsStep(number, at, wave, broker_id, log_dirs, present, topic_ids)
            affected = len(log_dirs)
        case PublishElection():
            kind = UncleanElectionStep if action.unclean else ElectionStep
            step, affected = kind(number, at, action.partitions), len(action.partitions)
        case ForceLeaders():
            partitions = tuple(each.partition for each in action.targets)
            step, affected = UncleanElectionStep(number, at, partitions), len(partitions)
        case PublishDeletion():
            step, affected = DeletionStep(number, at, action.topics), len(action.topics)
        case PublishTopic():
            step, affected = CreationStep(number, at, (action.recipe.topic,)), 1
        case PublishGrowth():
            step, affected = GrowthStep(number, at, (action.growth.topic,)), 1
    return step, affected
