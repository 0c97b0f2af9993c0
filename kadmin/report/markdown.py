"""What a plan would do, in Markdown: for a comment on the pull request that brings it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kadmin.plan.units import format_size
from kadmin.report.text import change, count, replicas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.operations.decide.examine import Examination
    from kadmin.plan.diff import PlanDiff

MOST_ROWS = 50
"""Of each list: a comment on GitHub may have 65,536 characters."""
_SPECIAL = frozenset("\\`*_{}[]<>#|~&")
_LINK = re.compile(r"(?i)(www|:)(?=\.|//)")
_BACKTICKS = re.compile("`+")


def examination_markdown(name: str, examination: Examination) -> str:
    """Return a comment: the verdict first, then what stops the plan, the warnings, and the change in numbers."""
    blocks = [f"### kadmin: {code(name)}", _verdict(examination)]
    if examination.refusals:
        rows = [[e.exit_code, cell(e.message), cell(e.next_command or "")] for e in examination.refusals]
        blocks.append(_table(["exit code", "what stops it", "next"], rows))
    if examination.warnings:
        warnings = [f"- **warning**: {cell(warning)}" for warning in examination.warnings[:MOST_ROWS]]
        blocks.append("\n".join(warnings) + _more(examination.warnings))
    if examination.change is not None and examination.change.pending:
        blocks += _change(examination.change)
    elif examination.targets:
        names = [[code(target)] for target in examination.targets]
        blocks.append(_folded("what it would touch", ["name"], names))
    return "\n\n".join(blocks) + "\n"


def cell(text: str) -> str:
    """Return text that stands in a Markdown table as it is: no markup, no links, no line breaks."""
    plain = "".join(f"\\{char}" if char in _SPECIAL else char for char in _plain(text))
    return _LINK.sub(r"\1\\", plain)


def code(text: str) -> str:
    """Return a name as a code span that stands in a table, too: there GitHub links nothing and calls nobody."""
    plain = _plain(text).replace("|", "\\|")
    fence = "`" * (1 + max(map(len, _BACKTICKS.findall(plain)), default=0))
    return f"{fence} {plain} {fence}" if "`" in plain else f"{fence}{plain}{fence}"


def _plain(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _verdict(examination: Examination) -> str:
    if examination.refusals:
        return "`kadmin apply` would be **refused**."
    if examination.work is None:
        return "Nothing to do."
    if examination.change is not None:
        found = examination.change
        size = "bytes unknown" if found.moved_bytes is None else format_size(found.moved_bytes)
        copies = count(found.replicas_added, "replica")
        return (
            f"**{count(len(found.pending), 'partition')}** to reassign in {count(len(found.waves), 'wave')}, "
            f"{copies} to copy, {size}."
        )
    lost = "" if examination.lost_bytes is None else f", {format_size(examination.lost_bytes)} would be destroyed"
    return f"{count(len(examination.targets), 'name')} to touch{lost}."


def _change(found: PlanDiff) -> list[str]:
    brokers = [
        [
            broker,
            change(load.replicas, found.after[broker].replicas),
            change(load.leaders, found.after[broker].leaders),
            change(_size(load.size_bytes), _size(found.after[broker].size_bytes)),
        ]
        for broker, load in sorted(found.before.items())
        if load != found.after[broker]
    ]
    waves = [
        [wave.index + 1, len(wave.reassignments), len(wave.payload), _size(wave.moved_bytes)] for wave in found.waves
    ]
    partitions = [
        [code(str(target.partition)), replicas(target.current), replicas(target.replicas), _size(target.size_bytes)]
        for target in found.pending
    ]
    return [
        _table(["broker", "replicas", "preferred leaders", "bytes"], brokers[:MOST_ROWS]) + _more(brokers),
        _folded("waves", ["wave", "partitions", "payload bytes", "bytes"], waves),
        _folded("partitions", ["partition", "current", "target", "bytes"], partitions),
    ]


def _folded(title: str, headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    shown = _table(headers, rows[:MOST_ROWS]) + _more(rows)
    return f"<details><summary>{len(rows)} {title}</summary>\n\n{shown}\n\n</details>"


def _more(listed: Sequence[object]) -> str:
    rest = len(listed) - MOST_ROWS
    return f"\n\n... and {rest} more" if rest > 0 else ""


def _table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join("| " + " | ".join(str(each) for each in line) + " |" for line in lines)


def _size(size_bytes: int | None) -> str:
    return "?" if size_bytes is None else format_size(size_bytes)
