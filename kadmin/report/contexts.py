"""Answers of `context list`, `show` and `check`; secrets are shown by their references only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.answers.contexts import ContextsAnswer, ListedContext, RightsAnswer, SignalAnswer
from kadmin.cluster.names import escaped, one_line
from kadmin.contexts.settings import Source
from kadmin.errors import UnreachableError
from kadmin.plan.signals import readable_amount
from kadmin.report.fleet import failure_answer, failure_lines
from kadmin.report.text import NOTHING, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.contexts.model import Contexts, NamedContext
    from kadmin.contexts.settings import Setting
    from kadmin.contexts.signals import SignalReading
    from kadmin.insight.diagnosis.rights import RightsFound

_MOST = 4_096


def contexts_text(contexts: Contexts) -> str:
    """Show one row for each context."""
    rows = [
        (
            each.name,
            each.address,
            "yes" if each.name == contexts.current else NOTHING,
            each.protect.value,
        )
        for each in contexts.contexts.values()
    ]
    return table(("context", "address", "current", "protect"), rows) if rows else "no contexts"


def contexts_answer(contexts: Contexts, file: str) -> ContextsAnswer:
    """Answer `context list`."""
    listed = (
        ListedContext(
            each.name, each.address, each.name == contexts.current, each.protect, each.description
        )
        for each in contexts.contexts.values()
    )
    return ContextsAnswer(file, contexts.current, tuple(listed))


def context_text(settings: Sequence[Setting]) -> str:
    """Show every value with its origin."""
    rows = [(each.name, _shown(each), _origin(each)) for each in settings]
    return table(("setting", "value", "from"), rows)


def rights_text(context: NamedContext, found: RightsFound, signals: Sequence[SignalReading]) -> str:
    """Show kadmin's principal, missing rights with the commands that grant them, and signals."""
    who = "" if found.principal is None else f" as {found.principal}"
    lines = [
        (
            f"{context.name}: reached {context.address}{who}; cluster "
            f"{found.cluster_id or 'without an id'}"
        )
    ]
    lines.append(
        "no right is missing" if not found.missing else f"missing rights: {len(found.missing)}"
    )
    for each in found.missing:
        lines += wrapped(f"- {each.right}, for {each.needed_for}", indent="  ")
        lines.append(f"  next: {each.remedy}")
    for unchecked in found.unchecked:
        lines += wrapped(f"not checked: {unchecked}", indent="  ")
    for signal in signals:
        lines += _signal_lines(signal)
    return "\n".join(lines)


def rights_answer(
    context: NamedContext, found: RightsFound, signals: Sequence[SignalReading]
) -> RightsAnswer:
    """Answer `context check`."""
    return RightsAnswer(
        context.name,
        context.address,
        found.cluster_id,
        found.principal,
        found.missing,
        tuple(escaped(each, _MOST) for each in found.unchecked),
        tuple(map(_signal_answer, signals)),
    )


def _signal_answer(signal: SignalReading) -> SignalAnswer:
    if isinstance(signal.result, UnreachableError):
        return SignalAnswer(signal.name, None, signal.unit, failure_answer(signal.result))
    return SignalAnswer(signal.name, signal.result, signal.unit, None)


def _signal_lines(signal: SignalReading) -> list[str]:
    if isinstance(signal.result, UnreachableError):
        return failure_lines(signal.result)
    return [f"signal {signal.name}: {readable_amount(signal.result, signal.unit)}"]


def _shown(setting: Setting) -> str:
    if setting.value is None:
        return NOTHING
    return f"({setting.value})" if setting.secret else one_line(setting.value)


def _origin(setting: Setting) -> str:
    if setting.source is Source.DEFAULT:
        return setting.source.value
    return f"{setting.source.value}: {setting.origin}"
