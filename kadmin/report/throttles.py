"""Throttles as text for people and as JSON answers."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from kadmin.answers.throttles import (
    AuditAnswer,
    AuditFinding,
    ChangedThrottle,
    KeptThrottle,
    ThrottleChangesAnswer,
    ThrottlesAnswer,
    ThrottlesOfEntity,
)
from kadmin.plan.throttle import MAY_RETURN, RATES, is_broker
from kadmin.plan.units import readable_rate
from kadmin.report.text import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.operations.throttles.audit import AuditedThrottle, ThrottledEntity
    from kadmin.operations.throttles.by_hand import Planned, Written

_MOST_SHOWN = 60


def throttles_text(found: Sequence[ThrottledEntity], room: int | None = None) -> str:
    """Show every throttle, and whether its topic or broker exists; `room` is that of a terminal."""
    rows = [
        [each.entity, "yes" if each.present else "no", key, _value(key, value)]
        for each in found
        for key, value in sorted(each.values.items())
    ]
    shown = table(["entity", "exists", "throttle", "value"], rows, room)
    return f"{shown}\nnext: kadmin throttle audit" if rows else _NONE


def throttles_answer(found: Sequence[ThrottledEntity]) -> ThrottlesAnswer:
    """Answer `throttle show`."""
    return ThrottlesAnswer(
        tuple(ThrottlesOfEntity(each.entity, each.present, dict(sorted(each.values.items()))) for each in found)
    )


def audit_text(findings: Sequence[AuditedThrottle], room: int | None = None) -> str:
    """Show the origin of each throttle, and the command that removes it; `room` is that of a terminal."""
    rows = [
        [each.entity, each.key, _value(each.key, each.value), each.origin, each.operation_id or "-"]
        for each in findings
    ]
    commands = dict.fromkeys(f"next: {each.next_command}" for each in findings)
    shown = table(["entity", "throttle", "value", "origin", "operation"], rows, room)
    return "\n".join([shown, *commands]) if rows else _NONE


def audit_answer(findings: Sequence[AuditedThrottle]) -> AuditAnswer:
    """Answer `throttle audit`."""
    return AuditAnswer(tuple(AuditFinding(**asdict(each), next_command=each.next_command) for each in findings))


def changes_text(planned: Planned) -> str:
    """Show each change with the value before and after, and the restored values from before an operation."""
    rows = [
        [
            entity,
            key,
            "(not known)" if entity in planned.unseen else _value(key, change.previous),
            _value(key, change.ours),
        ]
        for entity, keys in sorted(planned.changes.items())
        for key, change in sorted(keys.items())
    ]
    restored = [
        f"{entity} {key} is restored to its value before operation {operation_id}: "
        f"{_value(key, planned.changes[entity][key].ours)}; to remove that as well: kadmin throttle clear"
        for (entity, key), operation_id in sorted(planned.restored.items())
    ]
    return "\n".join([table(["entity", "throttle", "before", "after"], rows), *restored])


def written_text(written: Written, *, by_api: bool) -> str:
    """Show the changes made, and a warning that brokers in KRaft mode may restore a removed rate."""
    planned = written.planned
    if not planned.changes:
        return "nothing to do"
    kept = [f"not changed, because another client changed it at the same time: {each}" for each in written.kept]
    removed = any(
        change.ours is None for entity, keys in planned.changes.items() if is_broker(entity) for change in keys.values()
    )
    note = [MAY_RETURN] if by_api and removed else []
    return "\n".join([changes_text(planned), *kept, *note, *_next(written)])


def _next(written: Written) -> list[str]:
    # The error that follows names the next command.
    return [] if written.left is not None else ["next: kadmin throttle show"]


def written_answer(written: Written) -> ThrottleChangesAnswer:
    """Answer `throttle set` and `throttle clear`."""
    planned = written.planned
    changes = [
        ChangedThrottle(
            entity,
            key,
            change.previous,
            change.ours,
            seen=entity not in planned.unseen,
            restored_from=planned.restored.get((entity, key)),
        )
        for entity, keys in sorted(planned.changes.items())
        for key, change in sorted(keys.items())
    ]
    return ThrottleChangesAnswer(
        tuple(changes), tuple(KeptThrottle(each.entity, each.key, each.value) for each in written.kept)
    )


_NONE = "no throttles"


def _value(key: str, value: str | None) -> str:
    if value is None:
        return "(none)"
    if key in RATES and value.isascii() and value.isdigit():
        return readable_rate(int(value))
    return value if len(value) <= _MOST_SHOWN else f"{value[:_MOST_SHOWN]}... (all of it with -o json)"
