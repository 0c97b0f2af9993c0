"""The steps of an operation as bytes, with the values and requests that a step keeps."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_args

from kadmin.operations.record.codec import (
    BEFORE_INTENTS,
    RECORD_VERSION,
    dump,
    dump_changes,
    dump_partitions,
    dump_throttle_request,
    require_readable,
)
from kadmin.operations.record.loading import (
    load_changes,
    load_numbers,
    load_partition,
    load_partitions,
    load_texts,
    load_throttle_request,
    require,
    require_any,
    require_rate,
)
from kadmin.operations.record.steps import (
    Channel,
    Errand,
    Intent,
    LogDirsStep,
    Replaced,
    Sending,
    Step,
    StepKind,
    ThrottleChange,
)
from kadmin.plan.model import PartitionTarget
from kadmin.plan.signals import SignalValue

if TYPE_CHECKING:
    from kadmin.cluster.model import Replicas, TopicPartition

_OF_KINDS: dict[str, Any] = {
    **dict.fromkeys(("wave", "channel", "replaced", "throttle", "intent", "broker_id")),
    "errand": None,
    "log_dirs": {},
    "present": {},
    "topic_ids": {},
    "partitions": (),
    "topics": (),
    "brokers": (),
    "waves": (),
    "refused": {},
    "refused_topics": {},
}
"""The fields that only steps of some kinds have, with the values that others are written with."""


def encode_step(step: Step) -> bytes:
    """Encode a step record, which has the fields of every kind."""
    given = _OF_KINDS | {each.name: getattr(step, each.name) for each in fields(step)}
    value = {
        **{name: given[name] for name in ("number", "at", "wave", "topics", "channel")},
        "kind": step.kind,
        "partitions": dump_partitions(given["partitions"]),
        "replaced": None if given["replaced"] is None else _dump_replaced(given["replaced"]),
        "refused": [
            [tp.topic, tp.partition, reason] for tp, reason in sorted(given["refused"].items())
        ],
        "throttle": None if given["throttle"] is None else _dump_throttle_change(given["throttle"]),
    }
    if newer := {name: given[name] for name in ("brokers", "errand") if given[name]}:
        value |= {"min_reader": RECORD_VERSION, **newer}
    if step.kind in {StepKind.UNCLEAN_ELECTION, StepKind.CONFIG, StepKind.GROWTH}:
        value |= {"min_reader": RECORD_VERSION}
    if given["waves"]:
        waves = [[_dump_target(each) for each in wave] for wave in given["waves"]]
        value |= {"min_reader": RECORD_VERSION, "waves": waves}
    if isinstance(step, LogDirsStep):
        value |= {
            "min_reader": RECORD_VERSION,
            "broker_id": step.broker_id,
            "log_dirs": _dump_log_dirs(step),
        }
    if step.sending is not None:
        value |= {
            "min_reader": RECORD_VERSION,
            "sending": step.sending,
            "intent": None if given["intent"] is None else _dump_intent(given["intent"]),
            "refused_topics": dict(sorted(given["refused_topics"].items())),
        }
    return dump(value)


def decode_step(data: bytes) -> Step:
    """Decode a step record; raises UndecodableError for a layout of a newer kadmin."""
    value = json.loads(data)
    require_readable(value.pop("min_reader", BEFORE_INTENTS), "A step on record")
    if odd := value.keys() - {*_OF_KINDS, "number", "kind", "at", "sending"}:
        raise ValueError(f"no step has {', '.join(sorted(odd))}")
    kind, sending, intent = StepKind(value["kind"]), value.get("sending"), value.get("intent")
    channel, replaced, throttle = value["channel"], value["replaced"], value.get("throttle")
    staged = kind in {StepKind.WAVE, StepKind.GONE, StepKind.LOG_DIRS}
    brokers, errand = load_numbers(value.get("brokers", [])), value.get("errand")
    require(int, value["number"], *((value["wave"],) if staged else ()))
    require(int, *((value.get("broker_id"),) if kind is StepKind.LOG_DIRS else ()))
    require(str, value["at"], *value["topics"], *(reason for _, _, reason in value["refused"]))
    require_any(int, value["wave"])
    given = {
        **value,
        "partitions": load_partitions(value["partitions"]),
        "topics": tuple(value["topics"]),
        "brokers": brokers,
        "errand": None if errand is None and kind is not StepKind.ERRAND else Errand(errand),
        "waves": tuple(tuple(map(_load_target, wave)) for wave in value.get("waves", ())),
        "channel": None if channel is None and kind is not StepKind.PROBE else Channel(channel),
        "replaced": None if replaced is None else _load_replaced(replaced),
        "refused": {
            load_partition(topic, number): reason for topic, number, reason in value["refused"]
        },
        "refused_topics": load_texts(value.get("refused_topics", {})),
        "throttle": None if throttle is None else _load_throttle_change(throttle),
        **_load_log_dirs(value.get("log_dirs")),
        "broker_id": value.get("broker_id"),
        "sending": None if sending is None else Sending(sending),
        "intent": None if intent is None else _load_intent(intent),
    }
    step = next(each for each in get_args(Step) if each.kind is kind)
    decoded: Step = step(**{each.name: given[each.name] for each in fields(step)})
    return decoded


def _dump_target(target: PartitionTarget) -> list[Any]:
    partition = target.partition
    return [partition.topic, partition.partition, target.replicas, target.current]


def _load_target(value: Any) -> PartitionTarget:  # noqa: ANN401 - JSON
    topic, number, replicas, current = value
    return PartitionTarget(
        load_partition(topic, number), load_numbers(replicas), load_numbers(current)
    )


def _dump_log_dirs(step: LogDirsStep) -> str:
    replicas = [
        [tp.topic, tp.partition, path, step.present.get(tp)]
        for tp, path in sorted(step.log_dirs.items())
    ]
    return _pack(dump({"replicas": replicas, "topic_ids": dict(step.topic_ids)}))


def _load_log_dirs(packed: str | None) -> dict[str, Any]:
    if packed is None:
        return {"log_dirs": {}, "present": {}, "topic_ids": {}}
    value = json.loads(_unpack(packed))
    log_dirs, present = {}, {}
    for topic, number, path, before in value["replicas"]:
        partition = load_partition(topic, number)
        require(str, path)
        require_any(str, before)
        log_dirs[partition] = path
        if before is not None:
            present[partition] = before
    return {
        "log_dirs": log_dirs,
        "present": present,
        "topic_ids": load_texts(value["topic_ids"]),
    }


def _dump_replaced(replaced: Replaced) -> dict[str, Any]:
    packed = None if replaced.data is None else _pack(replaced.data)
    return {
        "path": replaced.path,
        "version": replaced.version,
        "data": packed,
        "deleted": replaced.deleted,
    }


def _load_replaced(value: dict[str, Any]) -> Replaced:
    packed = value["data"]
    data = None if packed is None else _unpack(packed)
    require(str, value["path"])
    require(int, value["version"])
    return Replaced(value["path"], value["version"], data, value.get("deleted"))


def _dump_throttle_change(change: ThrottleChange) -> dict[str, Any]:
    # Lists of replicas are long and repeat themselves.
    request = None if change.request is None else dump_throttle_request(change.request)
    return {
        "rate": change.rate,
        "changes": _pack(dump(dump_changes(change.changes))),
        "request": request,
        **({"why": change.why} if change.why else {}),
        **({"signals": list(map(_dump_signal, change.signals))} if change.signals else {}),
    }


def _load_throttle_change(value: dict[str, Any]) -> ThrottleChange:
    request = None if value["request"] is None else load_throttle_request(value["request"])
    why = value.get("why", "")
    require_rate(value["rate"])
    require(str, why)
    return ThrottleChange(
        value["rate"],
        load_changes(json.loads(_unpack(value["changes"]))),
        request,
        why,
        tuple(_load_signal(*each) for each in value.get("signals", ())),
    )


def _dump_signal(signal: SignalValue) -> list[Any]:
    # Four digits are more than a picture shows.
    limit, value = (
        None if each is None else float(f"{each:.4g}") for each in (signal.limit, signal.value)
    )
    return [signal.name, signal.unit, limit, value]


def _load_signal(name: str, unit: str | None, limit: float, value: float | None) -> SignalValue:
    require(str, name)
    require_any(str, unit)
    require_any(float, value)
    require(float, limit)
    return SignalValue(name, unit, limit, value)


def _dump_intent(intent: Intent) -> str:
    targets = [
        [
            tp.topic,
            tp.partition,
            None if replicas is None else list(replicas),
            intent.leader_epochs.get(tp),
        ]
        for tp, replicas in sorted(intent.targets.items())
    ]
    return _pack(dump({"targets": targets, "topic_ids": dict(intent.topic_ids)}))


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
