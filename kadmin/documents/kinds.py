"""The kinds of documents: one table of fields for each, by which plans are built and written."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kadmin.cluster.model import TopicPartition
from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.plan.model import (
    UNTHROTTLED,
    CpuWeights,
    DeletionLayout,
    DeletionPlan,
    Elect,
    ElectionPlan,
    FreeBytes,
    HoursOfLoad,
    LoadSpec,
    PartitionTarget,
    Pin,
    PlanHeader,
    Policy,
    ProposalLimits,
    Racks,
    ReassignmentPlan,
    RebalanceRequest,
    RecreationPlan,
    Switch,
    ThrottleBy,
    ThrottleSpec,
    TopicRecipe,
    WaveLimits,
    WaveOrder,
    ZonePrices,
)
from kadmin.plan.units import (
    format_duration,
    format_percent,
    format_rate,
    format_size,
    format_surplus,
    parse_duration,
    parse_percent,
    parse_rate,
    parse_size,
    parse_surplus,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.plan.model import Document

    _Convert: TypeAlias = Callable[[Any], Any]


class _Field(NamedTuple):
    """One field below `spec`: the plan's attribute, the path, and how the value is read and written.

    The attribute `limits.max_moves` is that of an inner value (_INNER). A field that is absent leaves the attribute its
    default. `read` raises ValueError for an impossible amount; a value that `write` makes None is left out.
    """

    attribute: str
    path: str
    read: _Convert
    write: _Convert


def build(value: Mapping[str, Any]) -> tuple[Document | None, list[Diagnostic]]:
    """Return the document of a value that its schema allows, or None and the amounts that are impossible."""
    plan = _PLANS[value["kind"]]
    attributes: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    bad = []
    for field in _FIELDS[plan]:
        steps = field.path.split(".")
        found = value["spec"]
        for step in steps:
            found = found.get(step) if isinstance(found, dict) else None
        if found is None:
            continue
        outer, _, name = field.attribute.partition(".")
        try:
            (inner.setdefault(outer, {}) if name else attributes)[name or outer] = field.read(found)
        except ValueError as error:
            bad.append(Diagnostic(codes.MALFORMED, str(error), field=("spec", *steps)))
    if bad:
        return None, bad
    attributes |= {outer: _INNER[plan, outer](**values) for outer, values in inner.items()}
    return plan(PlanHeader(**value.get("metadata", {})), **attributes), []


def to_value(document: Document) -> dict[str, Any]:
    """Return a document as JSON's types: fields in the order of the schema, defaults left out where harmless.

    Fields that bound or change an execution (wave limits, `order`, `elect`, `layout`, `more_than`) are always written,
    so that a plan means the same under a version of kadmin with other defaults.
    """
    spec: dict[str, Any] = {}
    for field in _FIELDS[type(document)]:
        value: Any = document
        for name in field.attribute.split("."):
            value = None if value is None else getattr(value, name)
        if value is not None and (written := field.write(value)) is not None:
            *outer, last = field.path.split(".")
            within = spec
            for step in outer:
                within = within.setdefault(step, {})
            within[last] = written
    head: dict[str, Any] = {"apiVersion": "kadmin/v1", "kind": _NAMES[type(document)]}
    labels = dict(sorted(document.header.labels.items())) or None
    metadata = {name: getattr(document.header, name) for name in ("name", "cluster_id", "description")}
    present = {name: each for name, each in {**metadata, "labels": labels}.items() if each is not None}
    # Only an election of nothing writes no field.
    return {**head, **({"metadata": present} if present else {}), "spec": spec or {"partitions": []}}


def kind_name(plan: type[Document]) -> str:
    """Return the name of a kind of document, as `kind` has it."""
    return _NAMES[plan]


def _read_partition(entry: Mapping[str, Any]) -> TopicPartition:
    return TopicPartition(entry["topic"], entry["partition"])


def _write_partition(partition: TopicPartition) -> dict[str, Any]:
    return {"topic": partition.topic, "partition": partition.partition}


def _read_target(entry: Mapping[str, Any]) -> PartitionTarget:
    current = tuple(entry["current"]) if "current" in entry else None
    return PartitionTarget(_read_partition(entry), tuple(entry["replicas"]), current, entry.get("size_bytes"))


def _write_target(target: PartitionTarget) -> dict[str, Any]:
    current = {} if target.current is None else {"current": list(target.current)}
    size = {} if target.size_bytes is None else {"size_bytes": target.size_bytes}
    return {**_write_partition(target.partition), **current, "replicas": list(target.replicas), **size}


def _read_recipe(entry: Mapping[str, Any]) -> TopicRecipe:
    replicas = {number: tuple(ids) for number, ids in enumerate(entry["partitions"])}
    return TopicRecipe(entry["topic"], replicas, dict(entry.get("configs", {})))


def _write_recipe(recipe: TopicRecipe) -> dict[str, Any]:
    configs = {"configs": dict(sorted(recipe.configs.items()))} if recipe.configs else {}
    partitions = [list(recipe.replicas[number]) for number in sorted(recipe.replicas)]
    return {"topic": recipe.topic, "partitions": partitions, **configs}


def _read_pin(entry: Mapping[str, Any]) -> Pin:
    return Pin(_read_partition(entry), tuple(entry["replicas"]))


def _write_pin(pin: Pin) -> dict[str, Any]:
    return {**_write_partition(pin.partition), "replicas": list(pin.replicas)}


_CPU = {"in": "bytes_in", "out": "bytes_out", "requests": "requests"}
"""The fields of spec.load.cpu and the attributes of CpuWeights."""


def _read_cpu(weights: Mapping[str, Any]) -> CpuWeights:
    return CpuWeights(**{_CPU[name]: float(weight) for name, weight in weights.items()})


def _write_cpu(weights: CpuWeights) -> dict[str, float]:
    return {name: value for name, attribute in _CPU.items() if (value := getattr(weights, attribute))}


def _read_zones(zones: Mapping[str, Any]) -> ZonePrices:
    return ZonePrices(**zones)


def _write_zones(zones: ZonePrices) -> dict[str, Any]:
    return {name: value for name, value in asdict(zones).items() if value or name == "price_per_gb"}


def _positive(parse: Callable[[str], int], text: str) -> int:
    if (amount := parse(text)) == 0:
        raise ValueError(f"{text} would let nothing through")
    return amount


def _throttle(by: ThrottleBy) -> _Field:
    parse, write = (parse_duration, format_duration) if by is ThrottleBy.FINISH_IN else (parse_rate, format_rate)
    return _Field(
        "throttle",
        f"throttle.{by}",
        lambda text: ThrottleSpec(by, _positive(parse, text)),
        lambda throttle: write(throttle.amount) if throttle.by is by else None,
    )


_THROTTLE = (
    # The word `none` is tried before the three mappings; for a mapping it reads None.
    _Field(
        "throttle",
        "throttle",
        lambda value: UNTHROTTLED if value == ThrottleBy.NONE else None,
        lambda throttle: str(throttle.by) if throttle == UNTHROTTLED else None,
    ),
    *(_throttle(by) for by in ThrottleBy if by is not ThrottleBy.NONE),
)


def _as_is(value: Any) -> Any:  # noqa: ANN401 - any value
    return value


def _optional(read: _Convert, write: _Convert) -> tuple[_Convert, _Convert]:
    """Leave out a value that is empty or False."""
    return read, lambda value: write(value) if value else None


def _entries(read: _Convert, write: _Convert) -> tuple[_Convert, _Convert]:
    return lambda entries: tuple(map(read, entries)), lambda values: list(map(write, values))


def _mapping(
    key: Callable[[str], Any], read: _Convert, write: _Convert, order: _Convert = list
) -> tuple[_Convert, _Convert]:
    return _optional(
        lambda values: {key(name): read(each) for name, each in values.items()},
        lambda values: {str(name): write(each) for name, each in order(values.items())},
    )


_PLAIN = (_as_is, _as_is)
_FLAG = _optional(bool, bool)
_LIST = (tuple, list)
_SOME = _optional(tuple, list)
_SIZE = (partial(_positive, parse_size), format_size)
_SURPLUS = (parse_surplus, format_surplus)
_GUARDS = ("internal", "protected", "active_consumers", "offline_replicas", "deletion_disabled", "unchecked_guards")

_FIELDS: dict[type, tuple[_Field, ...]] = {
    ReassignmentPlan: (
        *_THROTTLE,
        _Field("limits.max_partitions", "waves.max_partitions", *_PLAIN),
        _Field("limits.max_moves_per_broker", "waves.max_moves_per_broker", *_PLAIN),
        _Field("limits.max_bytes", "waves.max_bytes", *_SIZE),
        _Field("limits.max_payload", "waves.max_payload", *_SIZE),
        # Left out where it is the default: plans that older versions wrote keep their digests.
        _Field("order", "order", WaveOrder, lambda order: None if order is WaveOrder.SHORTEST else str(order)),
        _Field("elect", "elect", Elect, str),
        _Field("allow_replication_factor_change", "allow.replication_factor_change", *_FLAG),
        _Field("allow_fewer_racks", "allow.fewer_racks", *_FLAG),
        _Field("allow_without_source", "allow.without_source", *_FLAG),
        _Field("allow_topics_deleted", "allow.topics_deleted", *_FLAG),
        _Field("reassignments", "partitions", *_entries(_read_target, _write_target)),
    ),
    ElectionPlan: (
        _Field("all_partitions", "all", *_FLAG),
        _Field("topics", "topics", *_SOME),
        _Field("partitions", "partitions", *_optional(*_entries(_read_partition, _write_partition))),
    ),
    DeletionPlan: (
        _Field("topics", "topics", *_LIST),
        _Field("layout", "layout", DeletionLayout, str),
        *(_Field(f"allow_{guard}", f"allow.{guard}", *_FLAG) for guard in _GUARDS),
        _Field("allow_more_than", "allow.more_than", *_PLAIN),
    ),
    RecreationPlan: (_Field("recipes", "topics", *_entries(_read_recipe, _write_recipe)),),
    Policy: (
        _Field("codes", "codes", *_mapping(str, Switch, str, sorted)),
        _Field("deny", "deletion.deny", *_LIST),
        _Field("allow", "deletion.allow", *_LIST),
        _Field("max_topics", "deletion.max_topics", *_PLAIN),
    ),
    RebalanceRequest: (
        _Field("drain", "brokers.drain", *_SOME),
        _Field("no_receive", "brokers.no_receive", *_SOME),
        _Field("never_lead", "brokers.never_lead", *_SOME),
        _Field("substitute", "brokers.substitute", *_mapping(int, int, int, sorted)),
        _Field("weights", "brokers.weights", *_mapping(int, float, float, sorted)),
        _Field("include_topics", "topics.include", *_LIST),
        _Field("exclude_topics", "topics.exclude", *_LIST),
        _Field("replication_factor", "replication_factor", *_mapping(str, int, int)),
        _Field("broker_sets", "broker_sets", *_mapping(str, tuple, list)),
        _Field("pins", "pins", *_optional(*_entries(_read_pin, _write_pin))),
        _Field("racks", "racks", Racks, str),
        _Field("bytes_tolerance", "tolerance.bytes", parse_percent, format_percent),
        _Field("limits.max_moves", "limits.max_moves", *_PLAIN),
        _Field("limits.max_bytes", "limits.max_bytes", *_SIZE),
        _Field("limits.max_bytes_in_per_broker", "limits.max_bytes_in_per_broker", *_SIZE),
        _Field("limits.max_order_changes", "limits.max_order_changes", *_PLAIN),
        _Field("limits.load_moves", "limits.load_moves", *_SURPLUS),
        _Field("limits.load_leader_changes", "limits.load_leader_changes", *_SURPLUS),
        _Field("leaders_only", "leaders_only", *_PLAIN),
        _Field("free.broker_id", "free.broker", *_PLAIN),
        _Field("free.size_bytes", "free.bytes", *_SIZE),
        _Field("load.folder", "load.from", *_PLAIN),
        _Field("load.most_in", "load.in", float, float),
        _Field("load.most_out", "load.out", float, float),
        _Field("load.cpu", "load.cpu", _read_cpu, _write_cpu),
        _Field("load.hours", "load.hours", HoursOfLoad, str),
        _Field("load.zones", "load.zones", _read_zones, _write_zones),
        *_THROTTLE,
    ),
}

_INNER = {
    (ReassignmentPlan, "limits"): WaveLimits,
    (RebalanceRequest, "limits"): ProposalLimits,
    (RebalanceRequest, "free"): FreeBytes,
    (RebalanceRequest, "load"): LoadSpec,
}
_PLANS: dict[str, type[Document]] = {
    "PartitionReassignment": ReassignmentPlan,
    "PreferredReplicaElection": ElectionPlan,
    "TopicDeletion": DeletionPlan,
    "TopicRecipe": RecreationPlan,
    "RebalanceRequest": RebalanceRequest,
    "Policy": Policy,
}
_NAMES = {plan: name for name, plan in _PLANS.items()}
