"""Changes of single brokers as text and JSON: cordons and registrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.answers.brokers import CordonAnswer, RecordedCordon, UnregisteredAnswer
from kadmin.cluster.names import one_line
from kadmin.plan.cordon import CORDON
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from kadmin.operations.cordons import BrokerCordon, CordonChange


def cordon_text(change: CordonChange) -> str:
    """Show the cordon of a broker after a change."""
    before, after = change.before, change.after
    if after == before:
        return f"nothing to do: {_state(before)}"
    if after is None:
        return (
            f"the cordon of broker {before.broker_id} was taken off at the controller\n"
            "the broker is not alive, so its config cannot be read; Kafka refuses lists with the "
            "broker until it is back"
        )
    lines = [_state(after)]
    if change.in_flight:
        lines.append(
            f"not stopped by the cordon: {count(len(change.in_flight), 'move')} onto it in flight, "
            f"{name_some(change.in_flight)}"
        )
    return "\n".join(lines)


def _state(found: BrokerCordon) -> str:
    own = "has no value of its own" if found.own is None else f"is {one_line(found.own)!r}"
    recorded = "" if found.recorded is None else f", cordoned {one_line(str(found.recorded))}"
    if found.is_cordoned:
        return f"broker {found.broker_id} is cordoned{recorded or ', not by kadmin'}"
    return f"broker {found.broker_id} is not cordoned: {CORDON} {own}"


def cordon_answer(change: CordonChange) -> CordonAnswer:
    """Answer `broker cordon` and `broker uncordon`."""
    after = change.after
    recorded = None if after is None else after.recorded
    return CordonAnswer(
        change.before.broker_id,
        None if after is None else after.is_cordoned,
        after != change.before,
        change.before.own,
        None if after is None else after.own,
        None if recorded is None else RecordedCordon(recorded.by, recorded.at, recorded.before),
        tuple(map(str, change.in_flight)),
    )


def unregistered_text(broker_id: int) -> str:
    """Say that a broker was unregistered."""
    return f"broker {broker_id} is not registered any more"


def unregistered_answer(broker_id: int) -> UnregisteredAnswer:
    """Answer `broker unregister`."""
    return UnregisteredAnswer(broker_id)
