"""Rules on a RebalanceRequest.

These rules need the request and the inventory alone: contradictions, names, sizes, substitutes,
pins and racks. The planner checks them before it plans. Problems that only planning finds are
InfeasibleError with codes.INFEASIBLE, and `validate` does not report them: too few brokers or racks
for a replication factor, capacities, bytes that cannot be freed, and brokers to be emptied whose
partitions must stay.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.globs import matches
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.model import RackFloor, Racks
from kadmin.plan.rules.hours import check_hours
from kadmin.plan.rules.names import nearest, other_cluster
from kadmin.plan.rules.policy import futile
from kadmin.plan.rules.request_contradictions import contradictions
from kadmin.plan.rules.request_disks import named_disks, unknown_disks
from kadmin.plan.rules.request_patterns import unmatched_patterns, written_patterns
from kadmin.plan.rules.throttle import check_throttle
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Mapping, Sequence

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.diagnostics import Field
    from kadmin.plan.model import Pin, Policy, RebalanceRequest
    from kadmin.plan.rules.world import ClusterView

_BROKERS = ("spec", "brokers")


@dataclass(frozen=True, slots=True)
class RequestScope:
    """The part of a cluster that these rules read; the planner makes one from its arrays, too.

    `racks` covers every broker that is known, `alive` those that may receive replicas, `disks` the
    log directories of brokers that have several, or one. `partitions`
    and `reassigning` cover at least the pinned partitions. `unsized` counts the partitions whose
    size is unknown.
    """

    racks: Mapping[int, str | None]
    alive: Collection[int]
    topics: Sequence[str]
    partitions: Container[TopicPartition]
    reassigning: Container[TopicPartition]
    unsized: int
    disks: Mapping[int, Collection[str]]


def check_request(
    request: RebalanceRequest, world: ClusterView | None, policy: Policy | None
) -> Iterator[Diagnostic]:
    """Yield a request's problems: contradictions, and with an inventory those of `check_scope`."""
    if world is not None:
        yield from other_cluster(request, world.state.cluster_id)
    yield from futile(written_patterns(request))
    yield from _repeated_pins(request)
    yield from _substitutes(request)
    yield from contradictions(request)
    yield from check_throttle(request.throttle)
    yield from check_hours(request.hours, request.throttle)
    if world is not None:
        yield from check_scope(request, _scope_of(world))
        yield from unmatched_patterns(request, world.state.topics, policy)


def check_scope(request: RebalanceRequest, scope: RequestScope) -> Iterator[Diagnostic]:
    """Yield the problems of a request on a cluster."""
    yield from _unknown_names(request, scope)
    yield from unknown_disks(request, scope.racks.keys(), scope.disks)
    yield from _unsized(request, scope)
    yield from _ambiguous("replication_factor", request.replication_factor, scope.topics)
    yield from _ambiguous("broker_sets", request.broker_sets, scope.topics)
    yield from _racks(request, scope)
    yield from _dead_substitutes(request, scope)
    yield from _pins(request, scope)


def _unknown_names(request: RebalanceRequest, scope: RequestScope) -> Iterator[Diagnostic]:
    """Yield every broker and pinned partition of the request that the inventory does not have."""
    next_step = (
        f"its brokers are {name_some(sorted(scope.racks), most=10)}"
        if scope.racks
        else "it has no brokers"
    )
    for field, broker in _named_brokers(request):
        if broker not in scope.racks:
            message = f"the inventory has no broker {broker}"
            yield Diagnostic(codes.UNKNOWN_BROKER, message, next_step, broker=broker, field=field)
    for index, pin in enumerate(request.pins):
        if pin.partition not in scope.partitions:
            message, topic = f"the inventory has no partition {pin.partition}", pin.partition.topic
            near = None if topic in scope.topics else nearest(topic, scope.topics)
            yield Diagnostic(
                codes.UNKNOWN_PARTITION,
                message,
                None if near is None else f"did you mean {near}?",
                partition=pin.partition,
                field=_pin(index, "topic"),
            )


def _scope_of(world: ClusterView) -> RequestScope:
    state = world.state
    return RequestScope(
        racks=world.racks,
        alive=state.brokers,
        topics=tuple(state.topics),
        partitions=state.assignment,
        reassigning=world.in_flight,
        unsized=world.unsized,
        disks={
            broker: [disk.path for disk in disks] for broker, disks in world.facts.disks.items()
        },
    )


def _named_brokers(request: RebalanceRequest) -> Iterator[tuple[Field, int]]:
    for name, ids in (
        ("drain", request.drain),
        ("no_receive", request.no_receive),
        ("never_lead", request.never_lead),
    ):
        yield from (((*_BROKERS, name, index), broker) for index, broker in enumerate(ids))
    for old, new in request.substitute.items():
        yield _substitute(old), old
        yield _substitute(old), new
    yield from (((*_BROKERS, "weights", str(broker)), broker) for broker in request.weights)
    for pattern, ids in request.broker_sets.items():
        yield from (
            (("spec", "broker_sets", pattern, index), broker) for index, broker in enumerate(ids)
        )
    for number, pin in enumerate(request.pins):
        yield from (
            (_pin(number, "replicas", index), broker) for index, broker in enumerate(pin.replicas)
        )
    if request.free is not None:
        yield ("spec", "free", "broker"), request.free.broker_id
    yield from ((path, broker) for path, broker, _ in named_disks(request))


def _repeated_pins(request: RebalanceRequest) -> Iterator[Diagnostic]:
    times = Counter(pin.partition for pin in request.pins)
    seen = set()
    for number, pin in enumerate(request.pins):
        if pin.partition in seen:
            message = f"{pin.partition} is pinned {times[pin.partition]} times"
            yield Diagnostic(
                codes.DUPLICATE_PARTITION, message, "keep one of them", field=_pin(number)
            )
        seen.add(pin.partition)
        for index, broker in enumerate(pin.replicas):
            if broker in request.drain:
                message = f"{pin.partition} is pinned to broker {broker}, which is to be drained"
                yield Diagnostic(
                    codes.CONTRADICTION, message, field=_pin(number, "replicas", index)
                )


def _substitutes(request: RebalanceRequest) -> Iterator[Diagnostic]:
    for old, new in request.substitute.items():
        if old == new:
            yield Diagnostic(
                codes.CONTRADICTION,
                f"broker {old} cannot take its own place",
                field=_substitute(old),
            )
        elif new in request.drain or new in request.substitute:
            message = (
                f"broker {new} is to take the place of broker {old}, and is to be emptied itself"
            )
            yield Diagnostic(codes.CONTRADICTION, message, field=_substitute(old))


def _unsized(request: RebalanceRequest, scope: RequestScope) -> Iterator[Diagnostic]:
    limits = request.limits
    by_limits = limits.max_bytes is not None or limits.max_bytes_in_per_broker is not None
    if scope.unsized and (request.free is not None or by_limits):
        name = "limits" if request.free is None else "free"
        have = "1 partition has" if scope.unsized == 1 else f"{scope.unsized} partitions have"
        next_step = command("snapshot", "--out", "DIR", "--sizes", "log-dirs.json")
        message = f"spec.{name} counts bytes, but {have} no size_bytes in the inventory"
        yield Diagnostic(codes.SIZE_UNKNOWN, message, next_step, field=("spec", name))


def _ambiguous(
    name: str, values: Mapping[str, object], topics: Sequence[str]
) -> Iterator[Diagnostic]:
    """Report patterns with different values that match one topic.

    The first topic of two patterns is named.
    """
    chosen: dict[str, str] = {}
    met: set[tuple[str, str]] = set()
    for pattern, value in values.items():
        for topic in (each for each in topics if matches(each, pattern)):
            other = chosen.setdefault(topic, pattern)
            if values[other] != value and (other, pattern) not in met:
                met.add((other, pattern))
                message = f"spec.{name}: topic {topic} matches both {other} and {pattern}"
                next_step = f"{name_some([values[other], value])} cannot both hold"
                yield Diagnostic(
                    codes.CONTRADICTION, message, next_step, field=("spec", name, pattern)
                )


def _racks(request: RebalanceRequest, scope: RequestScope) -> Iterator[Diagnostic]:
    floor = request.racks.at_least if isinstance(request.racks, RackFloor) else 0
    if not floor and request.racks is not Racks.STRICT:
        return
    usable, mode = _usable(request, scope), f"{{at_least: {floor}}}" if floor else "strict"
    without = sorted(broker for broker in usable if scope.racks[broker] is None)
    known = {rack for broker in usable if (rack := scope.racks[broker]) is not None}
    if known and without:
        message = f"racks: {mode}, but no rack is known of brokers {name_some(without)}"
        next_step = "set broker.rack on them, or spec.racks: relaxed"
        yield Diagnostic(codes.RACK_UNKNOWN, message, next_step, field=("spec", "racks"))
    elif usable and len(known) < floor:
        on = count(len(known), "rack")
        message = f"racks: {mode}, but the brokers that may hold replicas are on {on}"
        next_step = "add brokers of another rack, or set spec.racks: relaxed"
        yield Diagnostic(codes.TOO_FEW_RACKS, message, next_step, field=("spec", "racks"))


def _usable(request: RebalanceRequest, scope: RequestScope) -> set[int]:
    """Return the brokers that may hold replicas."""
    return set(scope.alive) - set(request.drain) - set(request.substitute)


def _dead_substitutes(request: RebalanceRequest, scope: RequestScope) -> Iterator[Diagnostic]:
    may_receive = _usable(request, scope) - set(request.no_receive)
    others = (
        f"choose one of brokers {name_some(sorted(may_receive), most=10)}, or "
        if may_receive
        else ""
    )
    for old, new in request.substitute.items():
        if old in scope.racks and new in scope.racks and new not in may_receive:
            message = (
                f"broker {new} cannot take the place of {old}: it is dead, drained or may not "
                "receive"
            )
            next_step = f"{others}drain {old} instead"
            yield Diagnostic(
                codes.CANNOT_SUBSTITUTE, message, next_step, broker=new, field=_substitute(old)
            )


def _pins(request: RebalanceRequest, scope: RequestScope) -> Iterator[Diagnostic]:
    for number, pin in enumerate(request.pins):
        exists = pin.partition in scope.partitions and all(
            broker in scope.racks for broker in pin.replicas
        )
        if exists and (reason := _why_not_pinned(pin, request, scope)):
            why, way_out = reason
            message, next_step = (
                f"the pin of {pin.partition} {why}",
                f"{way_out}, or leave the pin out",
            )
            yield Diagnostic(
                codes.CANNOT_PIN,
                message,
                next_step,
                partition=pin.partition,
                field=_pin(number, "replicas"),
            )


def _why_not_pinned(
    pin: Pin, request: RebalanceRequest, scope: RequestScope
) -> tuple[str, str] | None:
    """Return the reason that a pin cannot be kept, and the change to the request that allows it."""
    if not set(pin.replicas) <= (usable := _usable(request, scope)):
        brokers = name_some(sorted(usable), most=10) or "none now"
        return (
            "names a broker that is dead or to be emptied",
            f"choose brokers that may hold replicas ({brokers})",
        )
    if (first := pin.replicas[0]) in request.never_lead:
        way_out = f"put another broker first, remove {first} from spec.brokers.never_lead"
        return "puts a broker first that is never to lead", way_out
    if request.racks is Racks.STRICT and _shares_a_rack(pin.replicas, request, scope):
        way_out = "choose brokers of different racks, set spec.racks: relaxed"
        return "has two replicas on one rack, and racks are strict", way_out
    if isinstance(request.racks, RackFloor):
        found, least = {scope.racks[broker] for broker in pin.replicas}, request.racks.at_least
        if len(found) < min(least, len(pin.replicas)):
            way_out = "choose brokers of more racks, set spec.racks: relaxed"
            return f"is on {count(len(found), 'rack')}, and racks is at_least {least}", way_out
    if pin.partition in scope.reassigning:
        way_out = "take another snapshot when the reassignment is done"
        return "cannot be kept: the partition is being reassigned", way_out
    return None


def _shares_a_rack(replicas: Replicas, request: RebalanceRequest, scope: RequestScope) -> bool:
    """Whether two of these share a rack.

    Racks do not count where the usable brokers have none, or all have one.
    """
    if all(scope.racks[broker] is None for broker in _usable(request, scope)):
        return False
    places = {broker: rack if rack is not None else broker for broker, rack in scope.racks.items()}
    return len(set(places.values())) > 1 and len({places[broker] for broker in replicas}) < len(
        replicas
    )


def _pin(number: int, *rest: str | int) -> Field:
    return ("spec", "pins", number, *rest)


def _substitute(old: int) -> Field:
    return (*_BROKERS, "substitute", str(old))


def missing_everywhere(found: Sequence[Sequence[Diagnostic]]) -> tuple[Diagnostic, ...]:
    """Join the diagnostics of each cluster of a fleet.

    A name is unknown only where no cluster has it, and so is a pattern.
    """
    if len(found) == 1:
        return tuple(found[0])
    unknown = {
        codes.UNKNOWN_BROKER,
        codes.UNKNOWN_PARTITION,
        codes.UNMATCHED_PATTERN,
        codes.NO_SUCH_LOG_DIR,
    }
    nowhere = set.intersection(
        *({_name(each) for each in one if each.code in unknown} for one in found)
    )
    joined: dict[object, Diagnostic] = {}
    for each in (each for one in found for each in one):
        if each.code not in unknown:
            joined[each] = each
        elif _name(each) in nowhere:
            joined[_name(each)] = replace(each, next_step=None)
    return tuple(joined.values())


def _name(diagnostic: Diagnostic) -> tuple[str, Field]:
    return diagnostic.code, (*diagnostic.field, diagnostic.broker or 0)
