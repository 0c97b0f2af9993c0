"""The operation record as bytes: JSON, compressed where it is large. Every store keeps the same bytes."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, get_args

from kadmin.errors import NotCompletedError
from kadmin.insight.diagnosis.health import Health
from kadmin.next_step import command
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.loading import (
    load_answered,
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
from kadmin.operations.record.steps import Channel, Intent, Replaced, Sending, Step, StepKind, ThrottleChange

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.cluster.model import Assignment, Replicas, TopicPartition
    from kadmin.next_step import NextStep
    from kadmin.operations.record.record import HighWatermark
    from kadmin.operations.record.stop_request import StopRequest
    from kadmin.operations.record.throttle_request import ThrottleRequest
    from kadmin.plan.model import TopicRecipe
    from kadmin.plan.throttle import ConfigChanges

RECORD_VERSION = 3
"""The newest layout that is read; `min_reader` in a record or a step is the oldest layout that can read it."""
_BEFORE_INTENTS = 2
"""The layout of all but the steps with an intent."""
_OF_KINDS: dict[str, Any] = {
    **dict.fromkeys(("wave", "channel", "replaced", "throttle", "intent")),
    "partitions": (),
    "topics": (),
    "refused": {},
    "refused_topics": {},
}
"""The fields that only steps of some kinds have, with the values that others are written with."""
_MOST_CAUSE = 300
REPLACE_REQUEST = command("pause") + ", or " + command("cancel") + ", which ask anew"
REPLACE_THROTTLE_REQUEST = command("throttle set") + ", which asks anew"


class UndecodableError(NotCompletedError):
    """A value on record cannot be decoded. Its operation is left out; others are read."""


def encode_record(record: OperationRecord) -> bytes:
    """Return the whole record, compressed."""
    value = {
        "min_reader": _BEFORE_INTENTS,
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
        "recipes": [_dump_recipe(recipe, record.topic_ids.get(recipe.topic)) for recipe in record.recipes],
        "health": None if record.health is None else _dump_health(record.health, record.high_watermarks),
        "throttle": record.throttle
        and {"rate": record.throttle.rate, "changes": _dump_changes(record.throttle.changes)},
    }
    return zlib.compress(_dump(value), level=9)


def decode_record(packed: bytes, operation_id: str) -> OperationRecord:
    """Decode a record; raises UndecodableError for a layout of a newer kadmin."""
    value = json.loads(zlib.decompress(packed))
    _require_readable(value.pop("min_reader", RECORD_VERSION + 1), f"Operation {operation_id}")
    value["kind"] = OperationKind(value["kind"])
    value["author"] = load_author(value["author"])
    value["origin"] = load_assignment(value["origin"])
    value["targets"] = load_partitions(value["targets"])
    value["waves"] = tuple(load_numbers(wave) for wave in value["waves"])
    value["topic_ids"] = {each["topic"]: each["topic_id"] for each in value["recipes"] if each.get("topic_id")}
    value["recipes"] = tuple(load_recipe(recipe) for recipe in value["recipes"])
    value["high_watermarks"] = load_high_watermarks(value.get("health") or {})
    value["health"] = _load_health(value.get("health"))
    value["throttle"] = _load_throttle(value.get("throttle"))  # records before throttles have none
    require(str, *(value[name] for name in ("plan_text", "plan_digest", "created_at")))
    load_texts({"cluster_id": value["cluster_id"], **value["topic_ids"]})
    if value["operation_id"] != operation_id:
        raise ValueError(f"it is the record of operation {value['operation_id']!r}")
    return OperationRecord(**value)


def encode_status(status: OperationStatus, record: OperationRecord) -> bytes:
    """Encode the state with the fields of a listing, so that `history` reads one value per operation."""
    return _dump(
        {
            **_dump_status(status),
            "min_reader": _BEFORE_INTENTS,
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
    changes = [*value.get("changes", ()), _dump_status(status)]  # data of older versions have no changes
    return _dump({**value, **_dump_status(status), "changes": changes[-KEPT_CHANGES:]})


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


def encode_step(step: Step) -> bytes:
    """Encode a step record, which has the fields of every kind."""
    given = _OF_KINDS | {each.name: getattr(step, each.name) for each in fields(step)}
    value = {
        **{name: given[name] for name in ("number", "at", "wave", "topics", "channel")},
        "kind": step.kind,
        "partitions": _dump_partitions(given["partitions"]),
        "replaced": None if given["replaced"] is None else _dump_replaced(given["replaced"]),
        "refused": [[tp.topic, tp.partition, reason] for tp, reason in sorted(given["refused"].items())],
        "throttle": None if given["throttle"] is None else _dump_throttle_change(given["throttle"]),
    }
    if step.sending is not None:
        value |= {
            "min_reader": RECORD_VERSION,
            "sending": step.sending,
            "intent": None if given["intent"] is None else _dump_intent(given["intent"]),
            "refused_topics": dict(sorted(given["refused_topics"].items())),
        }
    return _dump(value)


def decode_step(data: bytes) -> Step:
    """Decode a step record; raises UndecodableError for a layout of a newer kadmin."""
    value = json.loads(data)
    _require_readable(value.pop("min_reader", _BEFORE_INTENTS), "A step on record")
    if odd := value.keys() - {*_OF_KINDS, "number", "kind", "at", "sending"}:
        raise ValueError(f"no step has {', '.join(sorted(odd))}")
    kind, sending, intent = StepKind(value["kind"]), value.get("sending"), value.get("intent")
    channel, replaced, throttle = value["channel"], value["replaced"], value.get("throttle")
    require(int, value["number"], *((value["wave"],) if kind is StepKind.WAVE else ()))
    require(str, value["at"], *value["topics"], *(reason for _, _, reason in value["refused"]))
    require_any(int, value["wave"])
    given = {
        **value,
        "partitions": load_partitions(value["partitions"]),
        "topics": tuple(value["topics"]),
        "channel": None if channel is None and kind is not StepKind.PROBE else Channel(channel),
        "replaced": None if replaced is None else _load_replaced(replaced),
        "refused": {load_partition(topic, number): reason for topic, number, reason in value["refused"]},
        "refused_topics": load_texts(value.get("refused_topics", {})),
        "throttle": None if throttle is None else _load_throttle_change(throttle),
        "sending": None if sending is None else Sending(sending),
        "intent": None if intent is None else _load_intent(intent),
    }
    step = next(each for each in get_args(Step) if each.kind is kind)
    decoded: Step = step(**{each.name: given[each.name] for each in fields(step)})
    return decoded


def _require_readable(min_reader: int, what: str) -> None:
    if min_reader > RECORD_VERSION:
        raise UndecodableError(
            f"{what} was written by another version of kadmin.", next_step="use the version that started it"
        )


def _dump(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _dump_assignment(assignment: Assignment) -> list[list[Any]]:
    return [[tp.topic, tp.partition, list(replicas)] for tp, replicas in sorted(assignment.items())]


def _dump_partitions(partitions: Sequence[TopicPartition]) -> list[list[Any]]:
    return [[tp.topic, tp.partition] for tp in partitions]


def _dump_health(health: Health, high_watermarks: Mapping[TopicPartition, HighWatermark]) -> dict[str, Any]:
    # Versions without high watermarks skip them here, and could not read a record that had them beside.
    marks = [[tp.topic, tp.partition, each.offset, each.leader_epoch] for tp, each in sorted(high_watermarks.items())]
    return {
        "high_watermarks": marks,
        "brokers": sorted(health.brokers),
        "offline": _dump_partitions(sorted(health.offline)),
        "under_min_isr": _dump_partitions(sorted(health.under_min_isr)),
        "lagging_controllers": sorted(health.lagging_controllers),
    }


def _load_health(value: dict[str, Any] | None) -> Health | None:
    if value is None:
        return None
    offline, short = (frozenset(load_partitions(value[key])) for key in ("offline", "under_min_isr"))
    late = frozenset(value.get("lagging_controllers", ()))  # records before KRaft mode have none
    return Health(frozenset(load_numbers(value["brokers"])), offline, short, frozenset(load_numbers(late)))


def _dump_recipe(recipe: TopicRecipe, topic_id: str | None) -> dict[str, Any]:
    replicas = sorted(recipe.replicas.items())
    return {"topic": recipe.topic, "replicas": replicas, "configs": dict(recipe.configs), "topic_id": topic_id}


def _dump_replaced(replaced: Replaced) -> dict[str, Any]:
    packed = None if replaced.data is None else _pack(replaced.data)
    return {"path": replaced.path, "version": replaced.version, "data": packed, "deleted": replaced.deleted}


def _load_replaced(value: dict[str, Any]) -> Replaced:
    packed = value["data"]
    data = None if packed is None else _unpack(packed)
    require(str, value["path"])
    require(int, value["version"])
    return Replaced(value["path"], value["version"], data, value.get("deleted"))


def _dump_status(status: OperationStatus) -> dict[str, Any]:
    return {**asdict(status), "answered": None if status.answered is None else _dump_request(status.answered)}


def _load_status(value: dict[str, Any]) -> OperationStatus:
    _require_readable(value.get("min_reader", _BEFORE_INTENTS), "The status of an operation")
    removed = value.get("throttle_removed", False)  # statuses of older versions do not say so
    state, by = OperationState(value["state"]), value.get("by", "")
    require(str, value["updated_at"], value["message"], by)
    require(bool, removed)
    return OperationStatus(state, value["updated_at"], value["message"], by, removed, load_answered(value))


def _load_throttle(value: dict[str, Any] | None) -> ThrottleRecord | None:
    if value is None:
        return None
    require_rate(value["rate"])
    return ThrottleRecord(value["rate"], load_changes(value["changes"]))


def _dump_changes(changes: ConfigChanges) -> dict[str, Any]:
    return {
        str(entity): {key: {"previous": change.previous, "ours": change.ours} for key, change in keys.items()}
        for entity, keys in changes.items()
    }


def _dump_throttle_change(change: ThrottleChange) -> dict[str, Any]:
    # Lists of replicas are long and repeat themselves.
    request = None if change.request is None else asdict(change.request)
    return {"rate": change.rate, "changes": _pack(_dump(_dump_changes(change.changes))), "request": request}


def _load_throttle_change(value: dict[str, Any]) -> ThrottleChange:
    request = None if value["request"] is None else load_throttle_request(value["request"])
    require_rate(value["rate"])
    return ThrottleChange(value["rate"], load_changes(json.loads(_unpack(value["changes"]))), request)


def _dump_intent(intent: Intent) -> str:
    targets = [
        [tp.topic, tp.partition, None if replicas is None else list(replicas), intent.leader_epochs.get(tp)]
        for tp, replicas in sorted(intent.targets.items())
    ]
    return _pack(_dump({"targets": targets, "topic_ids": dict(intent.topic_ids)}))


def _load_intent(packed: str) -> Intent:
    value = json.loads(_unpack(packed))
    targets: dict[TopicPartition, Replicas | None] = {}
    epochs = {}
    for topic, number, replicas, epoch in value["targets"]:
        partition = load_partition(topic, number)
        targets[partition] = None if replicas is None else load_numbers(replicas)
        require_any(int, epoch)
        if epoch is not None:
            epochs[partition] = epoch
    return Intent(targets, load_texts(value["topic_ids"]), epochs)


def _pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, level=9)).decode()


def _unpack(packed: str) -> bytes:
    return zlib.decompress(base64.b64decode(packed))


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
    return _dump(_dump_request(request))


def decode_request(data: bytes) -> StopRequest:
    """Decode a request to stop."""
    return load_stop_request(json.loads(data))


def _dump_request(request: StopRequest) -> dict[str, Any]:
    return {**asdict(request), "stop": request.stop.name}


def encode_throttle_request(request: ThrottleRequest) -> bytes:
    """Encode a request to change the throttle."""
    return _dump(asdict(request))


def decode_throttle_request(data: bytes) -> ThrottleRequest:
    """Decode a request to change the throttle."""
    return load_throttle_request(json.loads(data))


@contextmanager
def decoding(place: str, replaced_by: NextStep | None = None) -> Iterator[None]:
    """Raise UndecodableError, with the location of a value, for any error while it is decoded.

    `replaced_by` are the commands that write another value in its place.
    """
    try:
        yield
    except (zlib.error, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UndecodableError(
            f"{place} cannot be decoded; another version of kadmin wrote it, or another program.",
            cause=f"{type(error).__name__}: {error}"[:_MOST_CAUSE],
            next_step=replaced_by or f"use that version of kadmin; if it is not needed, delete {place} by hand",
        ) from error
