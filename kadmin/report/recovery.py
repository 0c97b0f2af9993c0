"""A proposed recovery as text and JSON: who is to be started, then the loss of each partition."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from kadmin.answers.recovery import (
    BrokerToStart,
    LeaderlessPartition,
    LivingCopy,
    ReachedOffset,
    RecoveryAnswer,
)
from kadmin.cluster.names import one_line
from kadmin.plan.model import Losing
from kadmin.report.text import NOTHING, SHOWN_ROWS, about, table
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kadmin.plan.recovery import KnownEnd, OfflinePartition, RecoveryProposal


def recovery_text(proposal: RecoveryProposal, unknown: Sequence[str], path: Path) -> str:
    """Show the ways without a loss first, then what the plan would lose."""
    offline = proposal.offline
    lines = [f"{count(len(offline), 'partition')} without a leader"]
    lines += [
        f"start broker {broker}: it alone gives a leader back to {count(number, 'partition')}, "
        "without a loss"
        for broker, number in list(proposal.starts.items())[:SHOWN_ROWS]
    ]
    planned = [each for each in offline if each.entry is not None]
    if planned:
        lines.append("what the plan does instead, and loses:")
        heads = ("partition", "leader", "copies that are alive: end, bytes", "records lost")
        lines.append(table(heads, [_row(each) for each in planned[:SHOWN_ROWS]]))
        if len(planned) > SHOWN_ROWS:
            lines.append(f"{len(planned) - SHOWN_ROWS:,} more in {path}")
    left_out = [each for each in offline if each.entry is None]
    lines += [
        f"not in the plan: {each.partition}: {each.impossible}" for each in left_out[:SHOWN_ROWS]
    ]
    lines += list(_beyond(planned))[:SHOWN_ROWS]
    lines += [f"unknown: {one_line(each)}" for each in unknown]
    what = count(len(planned), "partition") if planned else "nothing to do"
    return "\n".join([*lines, f"{what} -> {path}"])


def recovery_answer(
    proposal: RecoveryProposal, unknown: Sequence[str], path: Path
) -> RecoveryAnswer:
    """Answer `propose recovery`."""
    return RecoveryAnswer(
        str(path),
        proposal.plan.looked_at or "",
        tuple(BrokerToStart(broker, number) for broker, number in proposal.starts.items()),
        tuple(map(_partition, proposal.offline)),
        tuple(unknown),
    )


def loss_of(found: OfflinePartition) -> str:
    """Return the records that the plan loses of a partition, '' where it is not in the plan."""
    entry = found.entry
    if entry is None or entry.replicas is not None:
        return "" if entry is None else "all"
    losing = entry.losing or Losing()
    if losing.at_most is not None:
        return f"{losing.at_most:,}, if none was written after the sample"
    return "unknown" if losing.records is None else f"at least {losing.records:,}"


def copies_of(found: OfflinePartition) -> str:
    """Return the living copies: `3: 350, 94.4 kB; 2: unknown`."""
    ends, sizes = found.evidence.ends, found.evidence.sizes
    return "; ".join(
        f"{broker}: {f'{ends[broker]:,}' if broker in ends else 'unknown'}"
        + (f", {about(sizes[broker])}" if broker in sizes else "")
        for broker in found.alive
    )


def _row(found: OfflinePartition) -> tuple[str, str, str, str]:
    entry = found.entry
    leader = NOTHING if entry is None else str(entry.leader)
    return str(found.partition), leader, copies_of(found) or "none is alive", loss_of(found)


def _beyond(planned: Sequence[OfflinePartition]) -> Iterator[str]:
    """Name the groups that committed offsets beyond the end of the chosen leader's log."""
    for each in planned:
        leader = None if each.entry is None else each.entry.leader
        end = None if leader is None else each.evidence.ends.get(leader)
        for known in each.evidence.known:
            if end is not None and known.offset > end:
                yield (
                    f"{each.partition}: offset {known.offset:,} was {one_line(known.source)}, "
                    f"beyond the new end: reset it to {end:,} before producers write"
                )


def _partition(found: OfflinePartition) -> LeaderlessPartition:
    entry, evidence = found.entry, found.evidence
    losing = None if entry is None else entry.losing
    return LeaderlessPartition(
        **asdict(found.partition),
        replicas=found.replicas,
        awaited=found.ways.clean,
        last_leaders=found.ways.last,
        copies=tuple(
            LivingCopy(broker, evidence.ends.get(broker), evidence.sizes.get(broker))
            for broker in found.alive
        ),
        known=tuple(map(_reached, evidence.known)),
        sampled=None if evidence.sampled is None else _reached(evidence.sampled),
        leader=None if entry is None else entry.leader,
        records_lost=None if losing is None else losing.records,
        records_lost_at_most=None if losing is None else losing.at_most,
        impossible=found.impossible or None,
    )


def _reached(known: KnownEnd) -> ReachedOffset:
    return ReachedOffset(known.offset, known.source)
