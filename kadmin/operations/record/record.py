"""The operation record: everything that another machine needs to go on, with nothing but the ZooKeeper address.

Layout below kadmin's root (default `/kadmin`), in the cluster's own chroot::

    /kadmin/lock                         ephemeral; who is at work
    /kadmin/fence                        its version is the fencing token
    /kadmin/operations/<id>              the state, the only part that changes
    /kadmin/operations/<id>/request      what somebody elsewhere targets: pause, cancel; written without the lock
    /kadmin/operations/<id>/record/<k>   the record, compressed, cut in chunks, written once
    /kadmin/operations/<id>/steps/<n>    one per publish, born in the same multi as the admin node

The record is immutable: plan, digest, cluster, original replicas, waves. Order of trust: the cluster, the record, the
plan file.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from kadmin.cluster.model import TopicPartition
from kadmin.errors import NotCompletedError
from kadmin.insight.diagnosis.health import Health
from kadmin.plan.model import TopicRecipe
from kadmin.plan.throttle import ConfigChange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import Assignment
    from kadmin.plan.throttle import ConfigChanges

CHUNK_BYTES = 60 * 1024
RECORD_VERSION = 1


class OperationKind(StrEnum):
    """What an operation does."""

    REASSIGNMENT = "reassignment"
    ELECTION = "election"
    DELETION = "deletion"
    RECREATION = "recreation"
    HEAL = "heal"


class OperationState(StrEnum):
    """Where an operation stands. `paused` is resumed or cancelled; `cancelled` can only be rolled back.

    ::

        preparing ──> running ──> completed
            │           │  ^ └──> failed
            │           v  │
            │          paused ──> cancelled <── running
            └──> discarded
    """

    PREPARING = "preparing"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DISCARDED = "discarded"

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do; an unfinished operation blocks every other."""
        return self not in {OperationState.PREPARING, OperationState.RUNNING, OperationState.PAUSED}


@dataclass(frozen=True, slots=True)
class Author:
    """Who works from where: user, host and process id, for people to find each other."""

    user: str
    host: str
    pid: int


@dataclass(frozen=True, slots=True)
class ThrottleRecord:
    """The throttle of an operation: `rate` in bytes per second, and every config value before and with it."""

    rate: int
    changes: ConfigChanges


@dataclass(frozen=True, slots=True)
class OperationRecord:
    """The immutable part. `plan_text` is the plan as canonical JSON; `origin` the ordered replicas before any write.

    `waves` hold positions in the plan's list; `targets` the partitions of an election; `recipes` the topics that a
    deletion takes away or a recreation makes again; `health` is how the cluster was when the record was made.
    """

    operation_id: str
    kind: OperationKind
    plan_text: str
    plan_digest: str
    cluster_id: str | None
    created_at: str
    author: Author
    origin: Assignment
    waves: tuple[tuple[int, ...], ...] = ()
    targets: tuple[TopicPartition, ...] = ()
    recipes: tuple[TopicRecipe, ...] = ()
    health: Health | None = None
    throttle: ThrottleRecord | None = None


@dataclass(frozen=True, slots=True)
class OperationStatus:
    """The part that changes: state, when it changed last, and a sentence for people."""

    state: OperationState
    updated_at: str
    message: str = ""


class StepKind(StrEnum):
    """What a step published."""

    PROBE = "probe"
    WAVE = "wave"
    ELECTION = "election"
    DELETION = "deletion"
    CREATION = "creation"
    CANCEL = "cancel"
    CURE = "cure"


@dataclass(frozen=True, slots=True)
class Replaced:
    """A znode as it was before a cure, saved in the very write that replaced it."""

    path: str
    version: int
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Step:
    """One publish, on record because its admin node was born with it.

    `wave` is the index of the published wave; `partitions` name what the step asked for (elections) or took back
    (cancel), `topics` what a deletion took or a recreation made; `path` the node that was written; `replaced` what a
    cure put out of place.
    """

    number: int
    kind: StepKind
    path: str
    at: str
    wave: int | None = None
    partitions: tuple[TopicPartition, ...] = ()
    topics: tuple[str, ...] = ()
    replaced: Replaced | None = None


@dataclass(frozen=True, slots=True)
class Paths:
    """Where kadmin keeps its znodes, relative to the cluster's chroot."""

    root: str = "/kadmin"

    @property
    def lock(self) -> str:
        """The ephemeral node of whoever is at work."""
        return f"{self.root}/lock"

    @property
    def fence(self) -> str:
        """The node whose version is the fencing token."""
        return f"{self.root}/fence"

    @property
    def operations(self) -> str:
        """The parent of every operation."""
        return f"{self.root}/operations"

    def operation(self, operation_id: str) -> str:
        """Return the node that holds an operation's state."""
        return f"{self.operations}/{operation_id}"

    def request(self, operation_id: str) -> str:
        """Return the node that holds the target of somebody elsewhere."""
        return f"{self.operation(operation_id)}/request"

    def record(self, operation_id: str) -> str:
        """Return the parent of the record's chunks."""
        return f"{self.operation(operation_id)}/record"

    def steps(self, operation_id: str) -> str:
        """Return the parent of the step records."""
        return f"{self.operation(operation_id)}/steps"

    def step(self, operation_id: str, number: int) -> str:
        """Return one step record's path; a repeat of a publish that happened fails on this name."""
        return f"{self.steps(operation_id)}/{number:06d}"


def encode_record(record: OperationRecord) -> tuple[bytes, ...]:
    """Return the record as chunks of at most CHUNK_BYTES, in order."""
    value = {
        "version": RECORD_VERSION,
        "operation_id": record.operation_id,
        "kind": record.kind,
        "plan_text": record.plan_text,
        "plan_digest": record.plan_digest,
        "cluster_id": record.cluster_id,
        "created_at": record.created_at,
        "author": asdict(record.author),
        "origin": _dump_assignment(record.origin),
        "waves": record.waves,
        "targets": _dump_partitions(record.targets),
        "recipes": [
            {"topic": recipe.topic, "replicas": sorted(recipe.replicas.items()), "configs": dict(recipe.configs)}
            for recipe in record.recipes
        ],
        "health": None if record.health is None else _dump_health(record.health),
        "throttle": None if record.throttle is None else asdict(record.throttle),
    }
    packed = zlib.compress(_dump(value), level=9)
    return tuple(packed[start : start + CHUNK_BYTES] for start in range(0, len(packed), CHUNK_BYTES))


def decode_record(chunks: Sequence[bytes], operation_id: str) -> OperationRecord:
    """Put a record together again; raises NotCompletedError where it is of a newer kadmin."""
    value = json.loads(zlib.decompress(b"".join(chunks)))
    if value.pop("version") != RECORD_VERSION:
        raise NotCompletedError(
            f"Operation {operation_id} was written by another version of kadmin.",
            next_command="use the version of kadmin that started it",
        )
    value["kind"] = OperationKind(value["kind"])
    value["author"] = Author(**value["author"])
    value["origin"] = _load_assignment(value["origin"])
    value["targets"] = _load_partitions(value["targets"])
    value["waves"] = tuple(tuple(wave) for wave in value["waves"])
    value["recipes"] = tuple(_load_recipe(recipe) for recipe in value["recipes"])
    value["health"] = _load_health(value.get("health"))
    value["throttle"] = _load_throttle(value.get("throttle"))  # records before throttles have none
    return OperationRecord(**value)


def encode_status(status: OperationStatus, record: OperationRecord) -> bytes:
    """Encode the state with what a listing shows, so that `history` reads one znode per operation."""
    return _dump(
        {
            **asdict(status),
            "version": RECORD_VERSION,
            "kind": record.kind,
            "plan_digest": record.plan_digest,
            "created_at": record.created_at,
            "author": asdict(record.author),
        }
    )


def restate(data: bytes, status: OperationStatus) -> bytes:
    """Return an operation's znode with another status and all else as it was."""
    return _dump({**json.loads(data), **asdict(status)})


def decode_status(data: bytes) -> OperationStatus:
    """Decode the changing part of an operation."""
    value = json.loads(data)
    return OperationStatus(OperationState(value["state"]), value["updated_at"], value["message"])


@dataclass(frozen=True, slots=True)
class Listing:
    """One line of `history`."""

    operation_id: str
    kind: OperationKind
    status: OperationStatus
    plan_digest: str
    created_at: str
    author: Author


def decode_listing(operation_id: str, data: bytes) -> Listing:
    """Decode an operation's own znode for a listing."""
    value = json.loads(data)
    return Listing(
        operation_id,
        OperationKind(value["kind"]),
        decode_status(data),
        value["plan_digest"],
        value["created_at"],
        Author(**value["author"]),
    )


def encode_step(step: Step) -> bytes:
    """Encode a step record."""
    value = {**asdict(step), "partitions": _dump_partitions(step.partitions)}
    return _dump({**value, "replaced": None if step.replaced is None else _dump_replaced(step.replaced)})


def decode_step(data: bytes) -> Step:
    """Decode a step record."""
    value = json.loads(data)
    replaced = value.get("replaced")
    step = Step(**{**value, "kind": StepKind(value["kind"]), "topics": tuple(value["topics"])})
    return replace(
        step,
        partitions=_load_partitions(value["partitions"]),
        replaced=None if replaced is None else _load_replaced(replaced),
    )


def _dump(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _dump_assignment(assignment: Assignment) -> list[list[Any]]:
    return [[tp.topic, tp.partition, list(replicas)] for tp, replicas in sorted(assignment.items())]


def _load_assignment(value: list[list[Any]]) -> Assignment:
    return {TopicPartition(topic, number): tuple(replicas) for topic, number, replicas in value}


def _dump_partitions(partitions: Sequence[TopicPartition]) -> list[list[Any]]:
    return [[tp.topic, tp.partition] for tp in partitions]


def _load_partitions(value: list[list[Any]]) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(topic, number) for topic, number in value)


def _dump_health(health: Health) -> dict[str, Any]:
    return {
        "brokers": sorted(health.brokers),
        "offline": _dump_partitions(sorted(health.offline)),
        "under_min_isr": _dump_partitions(sorted(health.under_min_isr)),
    }


def _load_health(value: dict[str, Any] | None) -> Health | None:
    if value is None:
        return None
    short = frozenset(_load_partitions(value["under_min_isr"]))
    return Health(frozenset(value["brokers"]), frozenset(_load_partitions(value["offline"])), short)


def _load_recipe(value: dict[str, Any]) -> TopicRecipe:
    replicas = {number: tuple(ids) for number, ids in value["replicas"]}
    return TopicRecipe(value["topic"], replicas, value["configs"])


def _dump_replaced(replaced: Replaced) -> dict[str, Any]:
    packed = None if replaced.data is None else base64.b64encode(zlib.compress(replaced.data, level=9)).decode()
    return {"path": replaced.path, "version": replaced.version, "data": packed}


def _load_replaced(value: dict[str, Any]) -> Replaced:
    packed = value["data"]
    data = None if packed is None else zlib.decompress(base64.b64decode(packed))
    return Replaced(value["path"], value["version"], data)


def _load_throttle(value: dict[str, Any] | None) -> ThrottleRecord | None:
    if value is None:
        return None
    changes = {
        entity: {key: ConfigChange(**change) for key, change in keys.items()}
        for entity, keys in value["changes"].items()
    }
    return ThrottleRecord(value["rate"], changes)
