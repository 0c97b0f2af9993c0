"""What is wrong with a RebalanceRequest: contradictions in itself, and names that the inventory does not have."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kadmin.errors import name_some
from kadmin.plan import codes
from kadmin.plan.checks import Violation
from kadmin.plan.patterns import check_request_patterns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kadmin.cluster.model import Assignment
    from kadmin.plan.model import RebalanceRequest

    Field = tuple[str | int, ...]


def check_request(request: RebalanceRequest) -> tuple[Violation, ...]:
    """Find contradictions that need no inventory to see."""
    return (*check_request_patterns(request), *_pins(request), *_substitutes(request), *_leaders_only(request))


def unknown_in_request(
    request: RebalanceRequest, assignment: Assignment, broker_ids: Collection[int]
) -> tuple[Violation, ...]:
    """Name every broker and pinned partition of the request that the inventory does not have."""
    brokers = (
        Violation(
            codes.UNKNOWN_BROKER,
            f"the inventory has no broker {broker}",
            f"its brokers are {name_some(sorted(broker_ids), most=10)}",
            broker=broker,
            field=field,
        )
        for field, broker in _named_brokers(request)
        if broker not in broker_ids
    )
    pins = (
        Violation(
            codes.UNKNOWN_PARTITION, f"the inventory has no partition {pin.partition}", field=_pin(index, "topic")
        )
        for index, pin in enumerate(request.pins)
        if pin.partition not in assignment
    )
    return (*brokers, *pins)


def _named_brokers(request: RebalanceRequest) -> Iterator[tuple[Field, int]]:
    brokers = ("spec", "brokers")
    for name, ids in (("drain", request.drain), ("no_receive", request.no_receive), ("never_lead", request.never_lead)):
        yield from (((*brokers, name, index), broker) for index, broker in enumerate(ids))
    for old, new in request.substitute.items():
        yield (*brokers, "substitute", str(old)), old
        yield (*brokers, "substitute", str(old)), new
    yield from (((*brokers, "weights", str(broker)), broker) for broker in request.weights)
    for pattern, ids in request.broker_sets.items():
        yield from ((("spec", "broker_sets", pattern, index), broker) for index, broker in enumerate(ids))
    for number, pin in enumerate(request.pins):
        yield from ((_pin(number, "replicas", index), broker) for index, broker in enumerate(pin.replicas))
    if request.free is not None:
        yield ("spec", "free", "broker"), request.free.broker_id


def _pins(request: RebalanceRequest) -> Iterator[Violation]:
    times = Counter(pin.partition for pin in request.pins)
    seen = set()
    for number, pin in enumerate(request.pins):
        if pin.partition in seen:
            message = f"{pin.partition} is pinned {times[pin.partition]} times"
            yield Violation(codes.DUPLICATE_PARTITION, message, "keep one of them", field=_pin(number))
        seen.add(pin.partition)
        for index, broker in enumerate(pin.replicas):
            if broker in request.drain:
                message = f"{pin.partition} is pinned to broker {broker}, which is to be drained"
                yield Violation(codes.CONTRADICTION, message, field=_pin(number, "replicas", index))


def _substitutes(request: RebalanceRequest) -> Iterator[Violation]:
    for old, new in request.substitute.items():
        field = ("spec", "brokers", "substitute", str(old))
        if old == new:
            yield Violation(codes.CONTRADICTION, f"broker {old} cannot take its own place", field=field)
        elif new in request.drain or new in request.substitute:
            message = f"broker {new} is to take the place of broker {old}, and is to be emptied itself"
            yield Violation(codes.CONTRADICTION, message, field=field)


def _leaders_only(request: RebalanceRequest) -> Iterator[Violation]:
    if not request.leaders_only:
        return
    asked: dict[str, tuple[object, Field]] = {
        "brokers.drain": (request.drain, ("spec", "brokers", "drain")),
        "brokers.substitute": (request.substitute, ("spec", "brokers", "substitute")),
        "replication_factor": (request.replication_factor, ("spec", "replication_factor")),
        "free": (request.free, ("spec", "free")),
    }
    for name, (value, field) in asked.items():
        if value:
            message = f"leaders_only moves no data, and {name} cannot be had without"
            yield Violation(codes.CONTRADICTION, message, "leave one of the two out", field=field)


def _pin(number: int, *rest: str | int) -> Field:
    return ("spec", "pins", number, *rest)
