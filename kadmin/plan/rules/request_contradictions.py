"""Rules on fields of a RebalanceRequest that contradict each other, whatever the cluster."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.plan.model import RebalanceRequest

_DISKS = ("spec", "disks")
_ROUNDING = 1e-9


def contradictions(request: RebalanceRequest) -> Iterator[Diagnostic]:
    """Yield the fields of which one asks for what another one excludes."""
    yield from _moves_nothing(request)
    yield from _emptied_with_weight(request)
    yield from _no_load(request)
    yield from _zone_shares(request)


def _moves_nothing(request: RebalanceRequest) -> Iterator[Diagnostic]:
    """Report fields beside `leaders_only`, `free` and `only` that ask for more than these do."""
    moving: dict[str, object] = {
        "brokers.drain": request.drain,
        "brokers.substitute": request.substitute,
        "brokers.weights": request.weights,
        "replication_factor": request.replication_factor,
        "broker_sets": request.broker_sets,
        "pins": request.pins,
        "even": request.even,
        "disks.failed": request.disks.failed,
    }
    inside = {"disks.drain": request.disks.drain, "only": request.only}
    leading = {
        "leaders_only": request.leaders_only,
        "brokers.never_lead": request.never_lead,
        "free": request.free,
        "load": request.load,
    }
    given = {
        "spec.leaders_only moves no data": (
            request.leaders_only,
            {**moving, **inside, "free": request.free},
        ),
        "spec.free moves replicas of one broker": (
            request.free is not None,
            {**moving, **inside, "load": request.load},
        ),
        "spec.only moves replicas between the disks of a broker": (
            request.only is not None,
            {**moving, **leading},
        ),
    }
    for does, (asked, others) in given.items():
        for other in (name for name, value in others.items() if asked and value):
            message, field = f"{does}, and spec.{other} asks for more", ("spec", *other.split("."))
            yield Diagnostic(codes.CONTRADICTION, message, "leave one of the two out", field=field)


def _zone_shares(request: RebalanceRequest) -> Iterator[Diagnostic]:
    """Report parts of clients that add up to more than 1 over the zones."""
    zones = None if request.load is None else request.load.zones
    for name in ("producers", "consumers") if zones is not None else ():
        total = math.fsum(getattr(zones, name).values())
        if total > 1 + _ROUNDING:
            message = f"spec.load.zones.{name} are {total:.4g} in all"
            next_step = (
                "give the part of clients in each zone: 0.5 is half of them, and all together are "
                "1 at most"
            )
            yield Diagnostic(
                codes.CONTRADICTION, message, next_step, field=("spec", "load", "zones", name)
            )


def _no_load(request: RebalanceRequest) -> Iterator[Diagnostic]:
    """Report fields about load balancing in a request without `spec.load`."""
    for name in ("load_moves", "load_leader_changes"):
        if request.load is None and getattr(request.limits, name) is not None:
            message = (
                f"spec.limits.{name} limits the moves for spec.load, and there is no spec.load"
            )
            next_step = (
                "name the folder of a load history in spec.load.from, or leave the limit out"
            )
            yield Diagnostic(
                codes.CONTRADICTION, message, next_step, field=("spec", "limits", name)
            )
    if request.load is None and request.only_if is not None:
        message = "spec.only_if is about the gain of spec.load, and there is no spec.load"
        next_step = "name the folder of a load history in spec.load.from, or leave only_if out"
        yield Diagnostic(codes.CONTRADICTION, message, next_step, field=("spec", "only_if"))


def _emptied_with_weight(request: RebalanceRequest) -> Iterator[Diagnostic]:
    """Yield the log directories that are to be emptied and have a weight."""
    for broker, paths in sorted(request.disks.drain.items()):
        for path in paths:
            if path in request.disks.weights.get(broker, {}):
                message = f"log directory {path} of broker {broker} is to be emptied, with a weight"
                field = (*_DISKS, "weights", str(broker), path)
                yield Diagnostic(
                    codes.CONTRADICTION, message, "leave one of the two out", field=field
                )
