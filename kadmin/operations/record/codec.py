"""The operation record as bytes: JSON, compressed where it is large.

Every store keeps the same bytes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kadmin.errors import NotCompletedError
from kadmin.insight.diagnosis.health import Health
from kadmin.next_step import command
from kadmin.operations.record.cordon import CordonRecord
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.loading import (
    load_answered,
    load_asked,
    load_assignment,
    load_author,
    load_changes,
    load_high_watermarks,
    load_holder,
    load_numbers,
    load_partition,
    load_partitions,
    load_recipe,
    load_stop_request,
    load_texts,
    load_throttle_request,
    require,
    require_any,
    require_rate,
)
from kadmin.operations.record.record import (
    KEPT_CHANGES,
    Author,
    Listing,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
    ThrottleRecord,
)
from kadmin.plan.model import write_throttle
from kadmin.schema.documents import write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.cluster.model import Assignment, TopicPartition
    from kadmin.next_step import NextStep
    from kadmin.operations.record.record import HighWatermark
    from kadmin.operations.record.stop_request import StopRequest
    from kadmin.operations.record.throttle_request import ThrottleRequest
    from kadmin.plan.directories import FirstDirectories
    from kadmin.plan.model import TopicRecipe
    from kadmin.plan.throttle import ConfigChanges

RECORD_VERSION = 3
"""The newest layout that is read; `min_reader` in a record or a step is the oldest layout that can
read it."""
BEFORE_INTENTS = 2
"""The layout of all but the steps with an intent."""
_MOST_CAUSE = 300
REPLACE_REQUEST = command("pause") + ", or " + command("cancel") + ", which ask anew"
REPLACE_THROTTLE_REQUEST = command("throttle set") + ", which asks anew"


class UndecodableError(NotCompletedError):
    """A value on record cannot be decoded. Its operation is left out; others are read."""


def encode_record(record: OperationRecord) -> bytes:
    """Return the whole record, compressed."""
    value = {
        "min_reader": BEFORE_INTENTS,
        "operation_id": record.operation_id,
        "kind": record.kind,
        "plan_text": record.plan_text,
        "plan_digest": record.plan_digest,
        "cluster_id": record.cluster_id,
        "created_at": record.created_at,
        "author": asdict(record.author),
        "origin": _dump_assignment(record.origin),
        "waves": record.waves,
        "targets": dump_partitions(record.targets),
        "recipes": [
            _dump_recipe(recipe, record.topic_ids.get(recipe.topic)) for recipe in record.recipes
        ],
        "health": None
        if record.health is None
        else _dump_health(record.health, record.high_watermarks),
        "throttle": record.throttle
        and {
            "rate": record.throttle.rate,
            "changes": dump_changes(record.throttle.changes),
            **_dump_asked(record.throttle),
        },
    }
    if record.unclean:
        value |= {"min_reader": RECORD_VERSION, "unclean": dict(sorted(record.unclean.items()))}
    if record.log_dirs:
        value |= {"min_reader": RECORD_VERSION, "log_dirs": _dump_log_dirs(record.log_dirs)}
    return zlib.compress(dump(value), level=9)


def decode_record(packed: bytes, operation_id: str) -> OperationRecord:
    """Decode a record; raises UndecodableError for a layout of a newer kadmin."""
    value = json.loads(zlib.decompress(packed))
    require_readable(value.pop("min_reader", RECORD_VERSION + 1), f"Operation {operation_id}")
    value["kind"] = OperationKind(value["kind"])
    value["author"] = load_author(value["author"])
    value["origin"] = load_assignment(value["origin"])
    value["targets"] = load_partitions(value["targets"])
    value["waves"] = tuple(load_numbers(wave) for wave in value["waves"])
    value["topic_ids"] = {
        each["topic"]: each["topic_id"] for each in value["recipes"] if each.get("topic_id")
    }
    value["recipes"] = tuple(load_recipe(recipe) for recipe in value["recipes"])
    value["high_watermarks"] = load_high_watermarks(value.get("health") or {})
    value["health"] = _load_health(value.get("health"))
    value["log_dirs"] = _load_log_dirs(value.get("log_dirs", ()))
    value["throttle"] = _load_throttle(value.get("throttle"))  # records before throttles have none
    require(str, *(value[name] for name in ("plan_text", "plan_digest", "created_at")))
    load_texts({"cluster_id": value["cluster_id"], **value["topic_ids"]})
    load_texts(value.get("unclean", {}))
    if value["operation_id"] != operation_id:
        raise ValueError(f"it is the record of operation {value['operation_id']!r}")
    return OperationRecord(**value)


def encode_status(status: OperationStatus, record: OperationRecord) -> bytes:
    """Encode the state with the fields of a listing: `history` reads one value per operation."""
    return dump(
        {
            **_dump_status(status),
            "min_reader": BEFORE_INTENTS,
            "kind": record.kind,
            "plan_digest": record.plan_digest,
            "created_at": record.created_at,
            "author": asdict(record.author),
            "file_digest": record.file_digest,
            "to_copy_bytes": record.to_copy_bytes,
            "plan_name": record.plan_name,
            "rolls_back": record.rolls_back,
        }
    )


def restate(data: bytes, status: OperationStatus) -> bytes:
    """Return an operation's data with another status, which is added to the changes on record."""
    value = json.loads(data)
    # Data of older versions have no changes.
    changes = [*value.get("changes", ()), _dump_status(status)]
    return dump({**value, **_dump_status(status), "changes": changes[-KEPT_CHANGES:]})


def decode_status(data: bytes) -> OperationStatus:
    """Decode the status of an operation; raises UndecodableError for a layout of a newer kadmin."""
    return _load_status(json.loads(data))


def decode_listing(operation_id: str, data: bytes) -> Listing:
    """Decode the status of an operation for a listing; raises as `decode_status` does."""
    value = json.loads(data)
    status = _load_status(value)
    require(str, value["plan_digest"], value["created_at"])
    require_any(str, *(value.get(name) for name in ("file_digest", "plan_name", "rolls_back")))
    require_any(int, value.get("to_copy_bytes"))
    return Listing(
        operation_id,
        OperationKind(value["kind"]),
        status,
        value["plan_digest"],
        value["created_at"],
        load_author(value["author"]),
        tuple(_load_status(change) for change in value.get("changes", ())),
        value.get("file_digest"),
        value.get("to_copy_bytes"),
        value.get("plan_name"),
        value.get("rolls_back"),
    )


def require_readable(min_reader: int, what: str) -> None:
    """Raise UndecodableError for a layout of a newer kadmin."""
    if min_reader > RECORD_VERSION:
        raise UndecodableError(
            f"{what} was written by another version of kadmin.",
            next_step="use the version that started it",
        )


def dump(value: object) -> bytes:
    """Encode a value as JSON; the same value gives the same bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _dump_assignment(assignment: Assignment) -> list[list[Any]]:
    return [[tp.topic, tp.partition, list(replicas)] for tp, replicas in sorted(assignment.items())]


def _dump_log_dirs(log_dirs: FirstDirectories) -> list[list[Any]]:
    return [
        [tp.topic, tp.partition, sorted(paths.items())] for tp, paths in sorted(log_dirs.items())
    ]


def _load_log_dirs(value: Sequence[Any]) -> FirstDirectories:
    found = {}
    for topic, number, paths in value:
        require(str, *(path for _, path in paths))
        found[load_partition(topic, number)] = dict(
            zip(
                load_numbers([broker for broker, _ in paths]),
                [path for _, path in paths],
                strict=True,
            )
        )
    return found


def dump_partitions(partitions: Sequence[TopicPartition]) -> list[list[Any]]:
    """Return partitions as JSON has them: topic and number."""
    return [[tp.topic, tp.partition] for tp in partitions]


def _dump_health(
    health: Health, high_watermarks: Mapping[TopicPartition, HighWatermark]
) -> dict[str, Any]:
    # Versions without high watermarks skip them here, and could not read a record that had them
    # beside.
    marks = [
        [tp.topic, tp.partition, each.offset, each.leader_epoch]
        for tp, each in sorted(high_watermarks.items())
    ]
    return {
        "high_watermarks": marks,
        "brokers": sorted(health.brokers),
        "offline": dump_partitions(sorted(health.offline)),
        "under_min_isr": dump_partitions(sorted(health.under_min_isr)),
        "lagging_controllers": sorted(health.lagging_controllers),
    }


def _load_health(value: dict[str, Any] | None) -> Health | None:
    if value is None:
        return None
    offline, short = (
        frozenset(load_partitions(value[key])) for key in ("offline", "under_min_isr")
    )
    late = frozenset(value.get("lagging_controllers", ()))  # records before KRaft mode have none
    return Health(
        frozenset(load_numbers(value["brokers"])), offline, short, frozenset(load_numbers(late))
    )


def _dump_recipe(recipe: TopicRecipe, topic_id: str | None) -> dict[str, Any]:
    replicas = sorted(recipe.replicas.items())
    return {
        "topic": recipe.topic,
        "replicas": replicas,
        "configs": dict(recipe.configs),
        "topic_id": topic_id,
    }


def _dump_status(status: OperationStatus) -> dict[str, Any]:
    return {
        **asdict(status),
        "answered": None if status.answered is None else _dump_request(status.answered),
    }


def _load_status(value: dict[str, Any]) -> OperationStatus:
    require_readable(value.get("min_reader", BEFORE_INTENTS), "The status of an operation")
    removed = value.get("throttle_removed", False)  # statuses of older versions do not say so
    leaves = value.get("leaves", False)
    state, by = OperationState(value["state"]), value.get("by", "")
    require(str, value["updated_at"], value["message"], by)
    require(bool, removed, leaves)
    return OperationStatus(
        state, value["updated_at"], value["message"], by, removed, load_answered(value), leaves
    )


def _load_throttle(value: dict[str, Any] | None) -> ThrottleRecord | None:
    if value is None:
        return None
    require_rate(value["rate"])
    return ThrottleRecord(value["rate"], load_changes(value["changes"]), *load_asked(value))


def _dump_asked(throttle: ThrottleRecord | ThrottleRequest) -> dict[str, Any]:
    """Return the keys of a throttle as it was asked for; older versions skip them in a record."""
    spec = {} if throttle.spec is None else {"spec": write_throttle(throttle.spec)}
    return spec if throttle.hours is None else {**spec, "hours": write(throttle.hours)}


def dump_throttle_request(request: ThrottleRequest) -> dict[str, Any]:
    """Return a request to change the throttle as JSON has it."""
    return {"rate": request.rate, "by": request.by, "at": request.at, **_dump_asked(request)}


def dump_changes(changes: ConfigChanges) -> dict[str, Any]:
    """Return changes of configs as JSON has them: by entity, then by key."""
    return {
        str(entity): {
            key: {"previous": change.previous, "ours": change.ours} for key, change in keys.items()
        }
        for entity, keys in changes.items()
    }


def encode_holder(holder: Holder) -> str:
    """Encode the holder of a lock."""
    return json.dumps(asdict(holder), sort_keys=True)


def decode_holder(text: str) -> Holder:
    """Decode the holder of a lock; an undecodable value gives an unknown holder."""
    try:
        return load_holder(json.loads(text))
    except (ValueError, LookupError, TypeError, RecursionError):
        return Holder(Author("unknown", "unknown", 0), "unknown", "unknown", 0.0)


def encode_request(request: StopRequest) -> bytes:
    """Encode a request to stop."""
    return dump(_dump_request(request))


def decode_request(data: bytes) -> StopRequest:
    """Decode a request to stop."""
    return load_stop_request(json.loads(data))


def _dump_request(request: StopRequest) -> dict[str, Any]:
    return {**asdict(request), "stop": request.stop.name}


def encode_throttle_request(request: ThrottleRequest) -> bytes:
    """Encode a request to change the throttle."""
    return dump(dump_throttle_request(request))


def decode_throttle_request(data: bytes) -> ThrottleRequest:
    """Decode a request to change the throttle."""
    return load_throttle_request(json.loads(data))


def encode_cordon(cordon: CordonRecord) -> bytes:
    """Encode a cordon on record."""
    return dump({"min_reader": RECORD_VERSION, **asdict(cordon)})


def decode_cordon(data: bytes) -> CordonRecord:
    """Decode a cordon on record; raises UndecodableError for a layout of a newer kadmin."""
    value = json.loads(data)
    require_readable(value.pop("min_reader"), "A cordon")
    cordon = CordonRecord(**value)
    require(str, cordon.by, cordon.at)
    require_any(str, cordon.before)
    return cordon


@contextmanager
def decoding(place: str, replaced_by: NextStep | None = None) -> Iterator[None]:
    """Raise UndecodableError, with the location of a value, for any error while it is decoded.

    `replaced_by` are the commands that write another value in its place.
    """
    try:
        yield
    except (
        zlib.error,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise UndecodableError(
            f"{place} cannot be decoded; another version of kadmin wrote it, or another program.",
            cause=f"{type(error).__name__}: {error}"[:_MOST_CAUSE],
            next_step=replaced_by
            or f"use that version of kadmin; if it is not needed, delete {place} by hand",
        ) from error
