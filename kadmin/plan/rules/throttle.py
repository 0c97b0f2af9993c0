"""Rules on the throttle of a reassignment or a request."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.model import UNTHROTTLED, ThrottleBy
from kadmin.plan.rules.refusals import warning_or_error
from kadmin.plan.signals import limit_in
from kadmin.plan.units import format_rate
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.diagnostics import Severity
    from kadmin.plan.model import Policy, SignalLimit, ThrottleSpec
    from kadmin.plan.signals import KnownSignals

_WHILE = ("spec", "throttle", "while")


def check_throttle(
    throttle: ThrottleSpec | None, known: KnownSignals | None = None
) -> Iterator[Diagnostic]:
    """Yield the problems of the limits of signals.

    `known` are the signals of the cluster's context; None where they are not looked at.
    """
    if throttle is None:
        return
    if throttle.signals and throttle.most is None:
        yield _cannot_follow(throttle)
    if known is not None:
        for name, limit in sorted(throttle.signals.items()):
            yield from _unfit(name, limit, known)


def _cannot_follow(throttle: ThrottleSpec) -> Diagnostic:
    least, most, place = "10MB/s", "200MB/s", f"in place of {throttle.by}"
    if throttle.by is ThrottleBy.RATE:
        least, most = format_rate(max(throttle.amount // 5, 1)), format_rate(throttle.amount)
        place = "or another range"
    return Diagnostic(
        codes.CANNOT_FOLLOW,
        "spec.throttle.while needs a rate that can follow the signals, and this one is fixed",
        f"write rate: {{min: {least}, max: {most}}} {place}, or leave while out",
        field=_WHILE,
    )


def _unfit(name: str, limit: SignalLimit, known: KnownSignals) -> Iterator[Diagnostic]:
    field = (*_WHILE, name)
    if known.context is None:
        message = f"{name} is a signal of a context, and the cluster is named without one"
        step = command("context list") + ", then the command with --context NAME"
        yield Diagnostic(codes.UNKNOWN_SIGNAL, message, step, field=field)
        return
    shown = command("context show", known.context)
    if name not in known.units:
        close = difflib.get_close_matches(name, sorted(known.units), n=1)
        message = f"the context {known.context} has no signal {name}"
        if known.units:
            has = f"; it has {name_some(sorted(known.units))}"
            message += f" (did you mean {close[0]}?)" if close else has
        yield Diagnostic(codes.UNKNOWN_SIGNAL, message, shown, field=field)
        return
    try:
        limit_in(limit.below, known.units[name])
    except ValueError as error:
        message = f"the signal {name} cannot be compared: {error}"
        yield Diagnostic(codes.UNKNOWN_SIGNAL, message, shown, field=(*field, "below"))


def unthrottled_severity(throttle: ThrottleSpec | None, policy: Policy | None) -> Severity | None:
    """Return the severity of copies without a throttle, None where they are accepted.

    `throttle: none` in a plan waives the warning. A policy may forbid unthrottled copies even then,
    also to commands that act.
    """
    severity = warning_or_error(codes.UNTHROTTLED, policy)
    if throttle is not None and throttle.by is not ThrottleBy.NONE:
        return None
    return None if throttle == UNTHROTTLED and severity != "error" else severity
