"""Steps of an operation on record: one for each publish, and one for each change of the throttle.

The record of a step is written together with its request or before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.operations.record.throttle_request import ThrottleRequest
    from kadmin.plan.model import PartitionTarget
    from kadmin.plan.signals import SignalValue
    from kadmin.plan.throttle import ConfigChanges


class Channel(StrEnum):
    """A kind of request to the controller."""

    REASSIGNMENT = "reassignment"
    ELECTION = "election"


class StepKind(StrEnum):
    """The kind of a step."""

    PROBE = "probe"
    THROTTLE = "throttle"
    WAVE = "wave"
    LOG_DIRS = "log directories"
    ELECTION = "election"
    UNCLEAN_ELECTION = "unclean election"
    DELETION = "deletion"
    CREATION = "creation"
    GROWTH = "growth"
    CANCEL = "cancel"
    REPAIR = "repair"
    GONE = "gone"
    DRAIN = "drain"
    ERRAND = "errand"
    CONFIG = "config"


class Errand(StrEnum):
    """A change of brokers as a whole, which an operation makes."""

    CORDON = "cordon"
    UNCORDON = "uncordon"
    UNREGISTER = "unregister"


@dataclass(frozen=True, slots=True)
class Replaced:
    """A znode that a repair replaced, saved in the same write: path, version and data.

    `deleted`: whether nothing took its place; None in records that do not say so.
    """

    path: str
    version: int
    data: bytes | None
    deleted: bool | None = None


class Sending(StrEnum):
    """The outcome of a request to brokers, which is sent after its step is on record."""

    UNANSWERED = "unanswered"
    """It may have been sent, and no answer came: it may be applied at any later time."""
    ANSWERED = "answered"
    """It was applied, but for the partitions that were refused."""
    NOT_APPLIED = "not applied"
    """It was not sent, or was refused as a whole: nothing of it will be applied."""


@dataclass(frozen=True, slots=True)
class Intent:
    """A request to reassign partitions, on record before it is sent.

    `targets` are ordered replicas by partition, None to end its reassignment; `topic_ids` and
    `leader_epochs` are those that were read before.
    """

    targets: Mapping[TopicPartition, Replicas | None]
    topic_ids: Mapping[str, str | None] = field(default_factory=dict)
    leader_epochs: Mapping[TopicPartition, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ThrottleChange:
    """A change of the throttle while the operation runs.

    It has the new rate, and the values that it adds or replaces. `request` asked for it; a rate
    that follows the clients changes without one. One change may take several steps; all but the
    last have no request. `why` says what made the rate follow the clients or the hours, `signals`
    are those that were seen then.
    """

    rate: int
    changes: ConfigChanges
    request: ThrottleRequest | None
    why: str = ""
    signals: tuple[SignalValue, ...] = ()


@dataclass(frozen=True, slots=True)
class StepOnRecord:
    """One step.

    `sending` is the outcome of a request that is sent after its step, None where both are one
    write.
    """

    kind: ClassVar[StepKind]
    number: int
    at: str
    sending: Sending | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class ProbeStep(StepOnRecord):
    """A probe of a channel.

    It is a harmless request, which a controller that watches the channel finishes at once.
    """

    kind = StepKind.PROBE
    channel: Channel


@dataclass(frozen=True, slots=True)
class ThrottleStep(StepOnRecord):
    """A change of the throttle on record; without `throttle`, a write of configs."""

    kind = StepKind.THROTTLE
    throttle: ThrottleChange | None = None


@dataclass(frozen=True, slots=True)
class ReassigningStep(StepOnRecord):
    """A request to reassign partitions.

    It has the reasons for refused ones, and the `intent` of a request to brokers.
    """

    refused: Mapping[TopicPartition, str] = field(default_factory=dict, kw_only=True)
    intent: Intent | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class WaveStep(ReassigningStep):
    """A publish of the wave at index `wave`."""

    kind = StepKind.WAVE
    wave: int


@dataclass(frozen=True, slots=True)
class CancelStep(ReassigningStep):
    """A return of partitions to their original replicas."""

    kind = StepKind.CANCEL
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class ElectionStep(StepOnRecord):
    """An election of preferred leaders.

    `refused` are the partitions that the cluster refused, with its reasons.
    """

    kind = StepKind.ELECTION
    partitions: tuple[TopicPartition, ...]
    refused: Mapping[TopicPartition, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UncleanElectionStep(ElectionStep):
    """An election of the first living replica of each partition, in sync or not."""

    kind = StepKind.UNCLEAN_ELECTION


@dataclass(frozen=True, slots=True)
class TopicStep(StepOnRecord):
    """A change of whole topics.

    `refused_topics` are the topics that the cluster refused, with its reasons.
    """

    topics: tuple[str, ...]
    refused_topics: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeletionStep(TopicStep):
    """A deletion of topics."""

    kind = StepKind.DELETION


@dataclass(frozen=True, slots=True)
class CreationStep(TopicStep):
    """A creation of topics."""

    kind = StepKind.CREATION


@dataclass(frozen=True, slots=True)
class ConfigStep(TopicStep):
    """Topics whose configs of before are there again, after an unclean election that set them."""

    kind = StepKind.CONFIG


@dataclass(frozen=True, slots=True)
class GrowthStep(TopicStep):
    """A request for more partitions of topics."""

    kind = StepKind.GROWTH


@dataclass(frozen=True, slots=True)
class LogDirsStep(StepOnRecord):
    """A request to a broker to have replicas of the wave at index `wave` in log directories.

    `present` are the directories in which they were; a replica that the broker did not have is not
    in it: the broker remembers the wanted one. `topic_ids` are those that were read before,
    `refused` the reasons for refused replicas.
    """

    kind = StepKind.LOG_DIRS
    wave: int
    broker_id: int
    log_dirs: Mapping[TopicPartition, str]
    present: Mapping[TopicPartition, str] = field(default_factory=dict)
    topic_ids: Mapping[str, str | None] = field(default_factory=dict)
    refused: Mapping[TopicPartition, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GoneStep(StepOnRecord):
    """Brokers that were seen stopped in the stage at index `wave` of a maintenance."""

    kind = StepKind.GONE
    wave: int
    brokers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DrainStep(StepOnRecord):
    """A further round of a decommission, before its waves are published.

    `waves` move what landed on the brokers meanwhile; `current` is the list before.
    """

    kind = StepKind.DRAIN
    waves: tuple[tuple[PartitionTarget, ...], ...]

    @property
    def targets(self) -> tuple[PartitionTarget, ...]:
        """The targets of its waves, in order."""
        return tuple(target for wave in self.waves for target in wave)


@dataclass(frozen=True, slots=True)
class ErrandStep(StepOnRecord):
    """An errand, before its request."""

    kind = StepKind.ERRAND
    errand: Errand
    brokers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HealStep(StepOnRecord):
    """A repair; `replaced` is the replaced znode, None for a move of the controller."""

    kind = StepKind.REPAIR
    replaced: Replaced | None = None


Step: TypeAlias = (
    ProbeStep
    | ThrottleStep
    | WaveStep
    | LogDirsStep
    | CancelStep
    | ElectionStep
    | UncleanElectionStep
    | DeletionStep
    | CreationStep
    | GrowthStep
    | HealStep
    | GoneStep
    | DrainStep
    | ErrandStep
    | ConfigStep
)


def published_by(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps whose request was sent to the controller, or may have been.

    Throttle steps are left out.
    """
    return tuple(
        step
        for step in steps
        if not isinstance(step, ThrottleStep) and step.sending is not Sending.NOT_APPLIED
    )


def waves_of(steps: Iterable[Step]) -> list[int]:
    """Return the indices of the published waves, in order of the steps."""
    return [step.wave for step in steps if isinstance(step, WaveStep)]


def stages_of(steps: Iterable[Step]) -> list[int]:
    """Return the indices of the waves, and of a maintenance's stages, that steps belong to."""
    return [step.wave for step in steps if isinstance(step, WaveStep | LogDirsStep | GoneStep)]


def log_dirs_of(steps: Iterable[Step]) -> tuple[LogDirsStep, ...]:
    """Return the requests for log directories, in order."""
    return tuple(step for step in steps if isinstance(step, LogDirsStep))


def drains_of(steps: Iterable[Step]) -> tuple[DrainStep, ...]:
    """Return the further rounds of a decommission, in order."""
    return tuple(step for step in steps if isinstance(step, DrainStep))


def cordoned_by(steps: Iterable[Step]) -> frozenset[int]:
    """Return the brokers that these steps cordoned, and did not uncordon since."""
    found: frozenset[int] = frozenset()
    for step in steps:
        if isinstance(step, ErrandStep):
            brokers = frozenset(step.brokers)
            found = found | brokers if step.errand is Errand.CORDON else found - brokers
    return found


def intents(steps: Iterable[Step]) -> Iterator[tuple[ReassigningStep, Intent]]:
    """Yield each step that has an intent on record, with its intent."""
    for step in steps:
        if isinstance(step, ReassigningStep) and step.intent is not None:
            yield step, step.intent


def returned_by(steps: Iterable[Step]) -> frozenset[TopicPartition]:
    """Return the partitions that cancelling steps returned to their original replicas."""
    return frozenset(
        each for step in steps if isinstance(step, CancelStep) for each in step.partitions
    )


def elected_uncleanly(steps: Iterable[Step]) -> frozenset[TopicPartition]:
    """Return the partitions that unclean elections named."""
    return frozenset(
        each for step in steps if isinstance(step, UncleanElectionStep) for each in step.partitions
    )


def refused_by_cluster(steps: Iterable[Step]) -> Mapping[TopicPartition, str]:
    """Return the partitions that the cluster refused, each with its last reason."""
    asked = (step for step in steps if isinstance(step, ReassigningStep | ElectionStep))
    return {partition: reason for step in asked for partition, reason in step.refused.items()}
