"""Throttles as text for people and as JSON answers."""

from __future__ import annotations

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
from kadmin.next_step import command
from kadmin.operations.record.record import OperationKind
from kadmin.plan.throttle import MAY_RETURN, RATES, describe_entities
from kadmin.plan.throttle_words import rate_in_words, throttle_in_words
from kadmin.report.kinds import words_of
from kadmin.report.text import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.next_step import Naming
    from kadmin.operations.execute.catch_up import CatchUpPreview
    from kadmin.operations.throttles.audit import AuditedThrottle, ThrottledEntity
    from kadmin.operations.throttles.by_hand import Planned, Written

_MOST_SHOWN = 60


def throttles_text(
    found: Sequence[ThrottledEntity], width: int | None = None, named: Naming = str
) -> str:
    """Show every throttle, and whether its topic or broker exists.

    `width` is that of a terminal.
    """
    rows = [
        [str(each.entity), "yes" if each.present else "no", key, _value(key, value)]
        for each in found
        for key, value in sorted(each.values.items())
    ]
    shown = table(["entity", "exists", "throttle", "value"], rows, width)
    return f"{shown}\nnext: {named(command('throttle audit'))}" if rows else _NONE


def throttles_answer(found: Sequence[ThrottledEntity]) -> ThrottlesAnswer:
    """Answer `throttle show`."""
    return ThrottlesAnswer(
        tuple(
            ThrottlesOfEntity(str(each.entity), each.present, dict(sorted(each.values.items())))
            for each in found
        )
    )


def audit_text(
    findings: Sequence[AuditedThrottle], width: int | None = None, named: Naming = str
) -> str:
    """Show the origin of each throttle, and the command that removes it.

    `width` is that of a terminal.
    """
    rows = [
        [
            str(each.entity),
            each.key,
            _value(each.key, each.value),
            each.origin,
            each.operation_id or "-",
        ]
        for each in findings
    ]
    commands = dict.fromkeys(f"next: {named(each.next_step)}" for each in findings)
    shown = table(["entity", "throttle", "value", "origin", "operation"], rows, width)
    return "\n".join([shown, *commands]) if rows else _NONE


def catch_up_text(found: CatchUpPreview) -> str:
    """Show a catch-up before it begins: the replicas to catch up, and the throttle."""
    broker, spec = found.work.broker, found.throttle.spec
    replicas = words_of(OperationKind.CATCH_UP).targets(len(found.work.targets))
    away = "" if broker in found.state.brokers else ", which is not alive: it is waited for"
    on = describe_entities(found.throttle.values)
    return (
        f"{replicas} on broker {broker}{away}\n"
        f"throttle: {throttle_in_words(spec, on=on)}, removed when every replica is in sync"
    )


def audit_answer(findings: Sequence[AuditedThrottle]) -> AuditAnswer:
    """Answer `throttle audit`."""
    return AuditAnswer(
        tuple(
            AuditFinding(
                str(each.entity),
                each.key,
                each.value,
                each.origin,
                each.operation_id,
                each.runner,
                str(each.next_step),
            )
            for each in findings
        )
    )


def changes_text(planned: Planned, named: Naming = str) -> str:
    """Show each change with the value before and after, and values restored from an operation."""
    rows = [
        [
            str(entity),
            key,
            "(not known)" if entity in planned.unseen else _value(key, change.previous),
            _value(key, change.ours),
        ]
        for entity, keys in sorted(planned.changes.items())
        for key, change in sorted(keys.items())
    ]
    restored = [
        f"{entity} {key} is restored to its value before operation {operation_id}: "
        f"{_value(key, planned.changes[entity][key].ours)}; to remove that as well: "
        f"{named(command('throttle clear'))}"
        for (entity, key), operation_id in sorted(planned.restored.items())
    ]
    return "\n".join([table(["entity", "throttle", "before", "after"], rows), *restored])


def written_text(written: Written, named: Naming = str, *, by_api: bool) -> str:
    """Show the changes made, and warn that brokers in KRaft mode may restore a removed rate."""
    planned = written.planned
    if not planned.changes and written.request is None:
        return "nothing to do"
    kept = [
        f"not changed, because another client changed it at the same time: {each}"
        for each in written.kept
    ]
    removed = any(
        change.ours is None
        for entity, keys in planned.changes.items()
        if entity.broker_id is not None
        for change in keys.values()
    )
    note = [MAY_RETURN] if by_api and removed else []
    changes = [changes_text(planned, named)] if planned.changes else [_SAME_RATES]
    # Of what is left, the error that follows names the next command.
    following = [] if written.left is not None else [f"next: {named(command('throttle show'))}"]
    return "\n".join([*changes, *kept, *note, *following])


def written_answer(written: Written) -> ThrottleChangesAnswer:
    """Answer `throttle set` and `throttle clear`."""
    planned = written.planned
    changes = [
        ChangedThrottle(
            str(entity),
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
        tuple(changes),
        tuple(KeptThrottle(str(each.entity), each.key, each.value) for each in written.kept),
    )


_NONE = "no throttles"
_SAME_RATES = "it is on record; no config changes now"


def _value(key: str, value: str | None) -> str:
    if value is None:
        return "(none)"
    if key in RATES and value.isascii() and value.isdigit():
        return rate_in_words(int(value))
    return (
        value if len(value) <= _MOST_SHOWN else f"{value[:_MOST_SHOWN]}... (all of it with -o json)"
    )
