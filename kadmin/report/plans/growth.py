"""Proposed growths as text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.answers.growth import GrownTopic, GrowthAnswer, UngrownTopic
from kadmin.next_step import command, text_of
from kadmin.report.kinds import LASTING
from kadmin.report.plans.answer import changed_brokers
from kadmin.report.plans.rows import growth_table
from kadmin.report.text import SHOWN_ROWS, change, shortened, table
from kadmin.wording import count

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.plan.growth import GrowthProposal


def growth_text(proposal: GrowthProposal, path: Path) -> str:
    """Show the topics and brokers before and after, and the topics that do not grow."""
    plan = proposal.plan
    left = [f"not grown: {topic}: {why}" for topic, why in proposal.impossible.items()]
    lines = [shortened("\n".join(left[:SHOWN_ROWS]), len(left))] if left else []
    if not plan.topics:
        return "\n".join([*lines, f"nothing to do: the plan is empty -> {path}"])
    rows = [
        [each.topic, change(each.current, each.current + len(each.new_partitions))]
        for each in plan.topics
    ]
    topics = shortened(table(("topic", "partitions"), rows[:SHOWN_ROWS]), len(rows))
    done = f"{count(len(proposal.new.assignment), 'partition')} to add -> {path}"
    readers = text_of(command("consumers disturbed", str(path)))
    return "\n".join(
        [
            topics,
            "",
            table(*growth_table(proposal.new)),
            *lines,
            done,
            LASTING,
            f"their readers: {readers}",
        ]
    )


def growth_answer(proposal: GrowthProposal, path: Path) -> GrowthAnswer:
    """Answer `propose growth`."""
    return GrowthAnswer(
        str(path),
        tuple(
            GrownTopic(each.topic, each.current, each.current + len(each.new_partitions))
            for each in proposal.plan.topics
        ),
        tuple(UngrownTopic(*each) for each in proposal.impossible.items()),
        changed_brokers(proposal.new),
    )
