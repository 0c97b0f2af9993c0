"""Documents as values: from what a schema has passed to the frozen plans of `kadmin.plan.model`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kadmin.cluster.model import TopicPartition
from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.plan.model import (
    DeletionLayout,
    DeletionPlan,
    Elect,
    ElectionPlan,
    FreeBytes,
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
)
from kadmin.plan.units import parse_duration, parse_percent, parse_rate, parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.cluster.model import Replicas
    from kadmin.plan.model import Document


def build(value: Mapping[str, Any]) -> tuple[Document, list[Diagnostic]]:
    """Return the document and the amounts that are impossible; where there are any, the document must not be used."""
    builder = _BUILDERS[value["kind"]]
    amounts = _Amounts()
    header = PlanHeader(**value.get("metadata", {}))
    return builder(header, value["spec"], amounts), amounts.bad


class _Amounts:
    """Reads amounts, and collects those that are impossible."""

    def __init__(self) -> None:
        self.bad: list[Diagnostic] = []

    def size(self, within: Mapping[str, Any], key: str, *path: str) -> int | None:
        """Return the bytes of an optional size."""
        return self._read(parse_size, within, key, path)

    def rate(self, within: Mapping[str, Any], key: str, *path: str) -> int | None:
        """Return the bytes per second of an optional rate."""
        return self._read(parse_rate, within, key, path)

    def duration(self, within: Mapping[str, Any], key: str, *path: str) -> int | None:
        """Return the seconds of an optional duration."""
        return self._read(parse_duration, within, key, path)

    def percent(self, text: str, *path: str) -> float:
        """Return the fraction that a percentage names."""
        try:
            return parse_percent(text)
        except ValueError as error:
            self.bad.append(Diagnostic(codes.MALFORMED, str(error), field=path))
            return 0.0

    def _read(
        self, parse: Callable[[str], int], within: Mapping[str, Any], key: str, path: tuple[str, ...]
    ) -> int | None:
        if key not in within:
            return None
        try:
            amount = parse(within[key])
        except ValueError as error:
            self.bad.append(Diagnostic(codes.MALFORMED, str(error), field=path))
            return None
        if amount == 0:
            self.bad.append(Diagnostic(codes.MALFORMED, f"{within[key]} would let nothing through", field=path))
        return amount


def _reassignment(header: PlanHeader, spec: Mapping[str, Any], amounts: _Amounts) -> ReassignmentPlan:
    allow = spec.get("allow", {})
    return ReassignmentPlan(
        header=header,
        reassignments=tuple(
            PartitionTarget(
                _partition(entry),
                tuple(entry["replicas"]),
                tuple(entry["current"]) if "current" in entry else None,
                entry.get("size_bytes"),
            )
            for entry in spec["partitions"]
        ),
        throttle=_throttle(spec.get("throttle"), amounts),
        limits=_limits(spec.get("waves", {}), amounts),
        elect=Elect(spec.get("elect", Elect.NONE)),
        allow_replication_factor_change=allow.get("replication_factor_change", False),
        allow_fewer_racks=allow.get("fewer_racks", False),
    )


def _throttle(throttle: Mapping[str, Any] | None, amounts: _Amounts) -> ThrottleSpec | None:
    if throttle is None:
        return None
    by = next(by for by in ThrottleBy if by in throttle)
    read = amounts.duration if by is ThrottleBy.FINISH_IN else amounts.rate
    return ThrottleSpec(by, read(throttle, by, "spec", "throttle", by) or 0)


def _limits(waves: Mapping[str, Any], amounts: _Amounts) -> WaveLimits:
    standard = WaveLimits()
    return WaveLimits(
        max_partitions=waves.get("max_partitions", standard.max_partitions),
        max_moves_per_broker=waves.get("max_moves_per_broker"),
        max_bytes=amounts.size(waves, "max_bytes", "spec", "waves", "max_bytes"),
        max_payload=amounts.size(waves, "max_payload", "spec", "waves", "max_payload") or standard.max_payload,
    )


def _election(header: PlanHeader, spec: Mapping[str, Any], _: _Amounts) -> ElectionPlan:
    return ElectionPlan(
        header=header,
        partitions=tuple(_partition(entry) for entry in spec.get("partitions", ())),
        topics=tuple(spec.get("topics", ())),
        all_partitions=spec.get("all", False),
    )


def _deletion(header: PlanHeader, spec: Mapping[str, Any], _: _Amounts) -> DeletionPlan:
    waivers = {f"allow_{name}": value for name, value in spec.get("allow", {}).items()}
    layout = DeletionLayout(spec.get("layout", DeletionLayout.CHILDREN))
    return DeletionPlan(header=header, topics=tuple(spec["topics"]), layout=layout, **waivers)


def _recreation(header: PlanHeader, spec: Mapping[str, Any], _: _Amounts) -> RecreationPlan:
    recipes = (
        TopicRecipe(
            entry["topic"],
            {number: tuple(ids) for number, ids in enumerate(entry["partitions"])},
            dict(entry.get("configs", {})),
        )
        for entry in spec["topics"]
    )
    return RecreationPlan(header, tuple(recipes))


def _policy(header: PlanHeader, spec: Mapping[str, Any], _: _Amounts) -> Policy:
    standard, deletion = Policy(), spec.get("deletion", {})
    return Policy(
        header=header,
        codes={code: Switch(switch) for code, switch in spec.get("codes", {}).items()},
        deny=tuple(deletion.get("deny", standard.deny)),
        allow=tuple(deletion.get("allow", standard.allow)),
        max_topics=deletion.get("max_topics"),
    )


def _request(header: PlanHeader, spec: Mapping[str, Any], amounts: _Amounts) -> RebalanceRequest:
    brokers, topics = spec.get("brokers", {}), spec.get("topics", {})
    standard = RebalanceRequest(header)
    tolerance = spec.get("tolerance", {}).get("bytes")
    return RebalanceRequest(
        header=header,
        drain=tuple(brokers.get("drain", ())),
        no_receive=tuple(brokers.get("no_receive", ())),
        never_lead=tuple(brokers.get("never_lead", ())),
        substitute={int(old): new for old, new in brokers.get("substitute", {}).items()},
        weights={int(broker): float(weight) for broker, weight in brokers.get("weights", {}).items()},
        include_topics=tuple(topics.get("include", standard.include_topics)),
        exclude_topics=tuple(topics.get("exclude", standard.exclude_topics)),
        replication_factor=dict(spec.get("replication_factor", {})),
        broker_sets={pattern: tuple(ids) for pattern, ids in spec.get("broker_sets", {}).items()},
        pins=tuple(Pin(_partition(pin), _replicas(pin)) for pin in spec.get("pins", ())),
        racks=Racks(spec.get("racks", standard.racks)),
        bytes_tolerance=(
            standard.bytes_tolerance if tolerance is None else amounts.percent(tolerance, "spec", "tolerance", "bytes")
        ),
        limits=_proposal_limits(spec.get("limits", {}), amounts),
        leaders_only=spec.get("leaders_only", False),
        free=_free(spec.get("free"), amounts),
    )


def _proposal_limits(limits: Mapping[str, Any], amounts: _Amounts) -> ProposalLimits:
    path = ("spec", "limits")
    return ProposalLimits(
        max_moves=limits.get("max_moves"),
        max_bytes=amounts.size(limits, "max_bytes", *path, "max_bytes"),
        max_bytes_in_per_broker=amounts.size(limits, "max_bytes_in_per_broker", *path, "max_bytes_in_per_broker"),
        max_order_changes=limits.get("max_order_changes"),
    )


def _free(free: Mapping[str, Any] | None, amounts: _Amounts) -> FreeBytes | None:
    if free is None:
        return None
    return FreeBytes(free["broker"], amounts.size(free, "bytes", "spec", "free", "bytes") or 0)


def _partition(entry: Mapping[str, Any]) -> TopicPartition:
    return TopicPartition(entry["topic"], entry["partition"])


def _replicas(entry: Mapping[str, Any]) -> Replicas:
    return tuple(entry["replicas"])


_BUILDERS: dict[str, Callable[[PlanHeader, Mapping[str, Any], _Amounts], Document]] = {
    "PartitionReassignment": _reassignment,
    "PreferredReplicaElection": _election,
    "TopicDeletion": _deletion,
    "TopicRecipe": _recreation,
    "RebalanceRequest": _request,
    "Policy": _policy,
}
