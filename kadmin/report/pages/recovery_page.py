"""The page of a proposed recovery, for those who decide together: ways without a loss first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.next_step import command
from kadmin.report.pages import page
from kadmin.report.pages.html import render
from kadmin.report.recovery import copies_of, loss_of
from kadmin.report.text import NOTHING, UNKNOWN
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.plan.recovery import OfflinePartition, RecoveryProposal


def recovery_page(proposal: RecoveryProposal, unknown: Sequence[str], source: str) -> str:
    """Return the page as HTML."""
    plan, offline = proposal.plan, proposal.offline
    facts = (
        ("Plan", source),
        ("Cluster", plan.header.cluster_id or UNKNOWN),
        ("Looked at", plan.looked_at or UNKNOWN),
    )
    return render(
        page.Page(
            title="Partitions without a leader",
            kind="Recovery",
            facts=tuple((key, one_line(value)) for key, value in facts),
            notices=tuple(_notices(proposal, unknown)),
            cards=_cards(proposal),
            charts=(),
            sections=(_section(offline),),
        )
    )


def _notices(proposal: RecoveryProposal, unknown: Sequence[str]) -> list[page.Notice]:
    notices = [
        page.Notice(
            f"Start broker {broker}: it alone gives a leader back to "
            f"{count(number, 'partition')}, without a loss.",
            page.Tone.GOOD,
        )
        for broker, number in list(proposal.starts.items())[:5]
    ]
    if proposal.plan.partitions:
        notices.append(
            page.Notice(
                "The plan elects leaders that lack records. It cannot be undone: a dead leader "
                "that returns deletes what the new one lacks.",
                page.Tone.WARN,
                str(command("apply", "PLAN")),
            )
        )
    notices += [page.Notice(f"Unknown: {one_line(each)}.", page.Tone.WARN) for each in unknown]
    return notices


def _cards(proposal: RecoveryProposal) -> tuple[page.Card, ...]:
    entries = proposal.plan.partitions
    losing = [each.losing for each in entries]
    known = [each.records for each in losing if each is not None and each.records is not None]
    least = f"{sum(known):,}" if known else UNKNOWN
    return (
        page.Card("Without a leader", f"{len(proposal.offline):,}", "partitions"),
        page.Card("In the plan", f"{len(entries):,}", "partitions"),
        page.Card(
            "Records lost, at least",
            least,
            f"unknown for {count(len(entries) - len(known), 'partition')}",
            page.Tone.BAD if entries else page.Tone.NONE,
        ),
    )


def _section(offline: Sequence[OfflinePartition]) -> page.Section:
    columns = (
        page.PageColumn("Partition", numeric=False, whole=True),
        page.PageColumn("Replicas", numeric=False),
        page.PageColumn("Without a loss, start", numeric=False),
        page.PageColumn("Copies alive: end, bytes", numeric=False),
        page.PageColumn("Known to have reached", numeric=False, prose=True),
        page.PageColumn("The plan elects"),
        page.PageColumn("Records lost", numeric=False, prose=True),
    )
    rows = tuple(_row(each) for each in offline)
    lead = (
        "Ends are exact, as the brokers told them. Offsets are counted: markers of transactions, "
        "and records that compaction removed, count as well."
    )
    return page.Section("partitions", "Partitions", lead, page.PageTable(columns, rows))


def _row(each: OfflinePartition) -> tuple[page.PageCell, ...]:
    evidence, entry = each.evidence, each.entry
    sampled = () if evidence.sampled is None else (evidence.sampled,)
    reached = [f"{known.offset:,} {known.source}" for known in (*evidence.known, *sampled)]
    to_start = each.ways.brokers
    return (
        page.PageCell(str(each.partition), strong=True),
        page.PageCell(name_some(each.replicas, most=10)),
        page.PageCell(brokers_in_words(to_start) if to_start else NOTHING),
        page.PageCell(copies_of(each) or "none"),
        page.PageCell(one_line("; ".join(reached)) or UNKNOWN),
        page.PageCell(NOTHING if entry is None else str(entry.leader)),
        page.PageCell(loss_of(each) or each.impossible, tone=page.Tone.BAD),
    )
