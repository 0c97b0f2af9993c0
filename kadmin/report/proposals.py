"""Proposed plans as text and JSON: elections, demotions, and rebalances with their figures."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kadmin.answers.partitions import Partition
from kadmin.answers.proposals import (
    BrokerLeaders,
    BrokerReplicas,
    DecommissionAnswer,
    DemotedPartition,
    DemotionAnswer,
    ElectionAnswer,
    ImpossibleElection,
    ImpossiblePartition,
    MaintenanceAnswer,
    ProposedRound,
)
from kadmin.cluster.names import one_line
from kadmin.next_step import command
from kadmin.plan.rules import racks_lost
from kadmin.report.disk_figures import disk_lines, disk_rows
from kadmin.report.text import NOTHING, SHOWN_ROWS, about, table
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kadmin.cluster.model import TopicPartition
    from kadmin.plan.demotion import DemotionProposal
    from kadmin.plan.drain import DecommissionProposal
    from kadmin.plan.election import ElectionProposal
    from kadmin.plan.model import MaintenancePlan

NOTHING_TO_DO = "nothing to do: the plan is empty"
RESOURCES = {"in": "network in", "out": "network out", "cpu": "CPU"}
"""Resources of brokers: their names in `spec.load` and figures, and those for people."""

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def election_text(proposal: ElectionProposal, path: Path) -> str:
    """Show the number of partitions in a proposed election, and those that cannot be elected."""
    lines = [f"{path}: {count(len(proposal.plan.partitions), 'partition')} to elect"]
    lines += [
        f"cannot be elected: {partition}: {reason}"
        for partition, reason in proposal.impossible[:SHOWN_ROWS]
    ]
    return "\n".join(lines)


def election_answer(proposal: ElectionProposal, path: Path) -> ElectionAnswer:
    """Answer `propose election`."""
    return ElectionAnswer(
        str(path),
        tuple(Partition(**asdict(each)) for each in proposal.plan.partitions),
        tuple(
            ImpossibleElection(**asdict(each), reason=reason)
            for each, reason in proposal.impossible
        ),
    )


def demotion_text(proposal: DemotionProposal, path: Path) -> str:
    """Show the leaders of each broker before and after, and the partitions that cannot change."""
    rows = [(broker, *counts) for broker, counts in proposal.leaders.items()]
    lines = [table(("broker", "leaders before", "leaders after"), rows)]
    lines += _impossible("cannot be demoted", proposal.impossible)
    which = brokers_in_words(proposal.brokers)
    entries = (
        f"{count(len(proposal.demoted), 'partition')} demoted from {which}, "
        f"{count(proposal.leader_changes, 'leader change')}"
    )
    lines.append(f"{entries if proposal.demoted else NOTHING_TO_DO} -> {path}")
    return "\n".join(lines)


def demotion_answer(proposal: DemotionProposal, path: Path) -> DemotionAnswer:
    """Answer `propose demotion`."""
    return DemotionAnswer(
        str(path),
        proposal.brokers,
        tuple(
            DemotedPartition(
                **asdict(each.partition), leader=each.leader, new_leader=each.new_leader
            )
            for each in proposal.demoted
        ),
        _impossible_partitions(proposal.impossible),
        proposal.leader_changes,
        tuple(BrokerLeaders(broker, *counts) for broker, counts in proposal.leaders.items()),
    )


def decommission_text(proposal: DecommissionProposal, path: Path) -> str:
    """Show the replicas of each broker before and after, and the partitions that cannot move."""
    plan = proposal.plan
    rows = [(broker, *counts) for broker, counts in proposal.replicas.items()]
    moves = f"{count(len(plan.reassignments), 'partition')} moved from"
    return "\n".join(
        [
            table(("broker", "replicas before", "replicas after"), rows),
            *_impossible("cannot be moved", tuple(proposal.impossible.items())),
            f"{moves} {brokers_in_words(plan.brokers)} -> {path}",
        ]
    )


def decommission_answer(proposal: DecommissionProposal, path: Path) -> DecommissionAnswer:
    """Answer `propose decommission`."""
    return DecommissionAnswer(
        str(path),
        proposal.plan.brokers,
        len(proposal.plan.reassignments),
        _impossible_partitions(proposal.impossible.items()),
        tuple(BrokerReplicas(broker, *counts) for broker, counts in proposal.replicas.items()),
    )


def _impossible(what: str, found: Sequence[tuple[TopicPartition, str]]) -> Iterator[str]:
    for partition, reason in found[:SHOWN_ROWS]:
        yield f"{what}: {partition}: {reason}"
    if len(found) > SHOWN_ROWS:
        yield f"{what}: {len(found) - SHOWN_ROWS:,} more"


def _impossible_partitions(
    found: Iterable[tuple[TopicPartition, str]],
) -> tuple[ImpossiblePartition, ...]:
    return tuple(ImpossiblePartition(**asdict(each), reason=reason) for each, reason in found)


def maintenance_text(plan: MaintenancePlan, path: Path) -> str:
    """Show the rounds of a maintenance, and its file."""
    rows = [
        (number, name_some(each.brokers, most=10), len(each.demotions))
        for number, each in enumerate(plan.rounds, start=1)
    ]
    shown = table(("round", "brokers", "partitions demoted"), rows)
    return f"{shown}\n{count(len(plan.rounds), 'round')} -> {path}"


def maintenance_answer(plan: MaintenancePlan, path: Path) -> MaintenanceAnswer:
    """Answer `propose maintenance`."""
    return MaintenanceAnswer(
        str(path),
        tuple(ProposedRound(each.brokers, len(each.demotions)) for each in plan.rounds),
    )


def proposals_text(
    figures: Sequence[Mapping[str, Any]],
    explained: Mapping[str, str],
    warnings: Sequence[str],
    inventory: Path,
    out: Path,
    *,
    throttled: bool,
) -> str:
    """Describe the plans in `out` by their figures.

    The schema is schemas/answers/figures.schema.json, one object per cluster. `throttled`: the
    request sets a throttle, or excludes one.
    """
    lines = [_fleet(figures)]
    if len(figures) == 1:
        lines = [
            table(("", "before", "after", "bound"), figure_rows(figures[0])),
            *_work(figures[0]),
        ]
        lines += _load_lines(figures[0].get("load", {}))
        lines += disk_lines(figures[0].get("disks", {}))
    lines += [f"warning: {warning}" for warning in warnings]
    worth = [each for each in figures if is_worth(each)]
    for each in figures:
        where = f"{each['cluster']}: " if each["cluster"] else ""
        lines += [
            f"warning: {where}{racks_lost(lost['partitions'], lost['before'], lost['after'])}"
            for lost in each["fewer_racks"]
            if is_worth(each)
        ]
        lines += [f"note: {where}{note}" for note in each["notes"]]
        lines += [] if is_worth(each) else [f"{where}{_not_worth(each['only_if'])}"]
    if not worth:
        return "\n".join(lines)
    if not throttled and any(each["moves"] for each in worth):
        lines.append(
            "warning: the plan copies without a throttle: set spec.throttle in the request, or "
            "use the rate that this suggests: "
            f"{command('validate', out, '--inventory', inventory)}"
        )
    lines += [f"{partition} {why}" for partition, why in explained.items()]
    entries = sum(each["reassignments"] for each in worth)
    lines.append(f"{NOTHING_TO_DO if entries == 0 else count(entries, 'reassignment')} -> {out}")
    return "\n".join(lines)


def is_worth(figures: Mapping[str, Any]) -> bool:
    """Whether the plan is written: it gains what spec.only_if asks, or that asks nothing."""
    return bool(figures.get("only_if", {"worth": True})["worth"])


def _not_worth(judged: Mapping[str, Any]) -> str:
    """Say that no plan is written, and what each resource would gain."""
    gains = [
        f"{title} gains {_percent(judged[name]['gain'])}, the least is "
        f"{_percent(judged[name]['least'])}"
        for name, title in RESOURCES.items()
        if name in judged
    ]
    return f"nothing worth moving, no plan is written: {'; '.join(gains)}"


def proposals_answer(
    figures: Sequence[Mapping[str, Any]], explained: Mapping[str, str], warnings: Sequence[str]
) -> dict[str, Any]:
    """Answer `propose rebalance`."""
    found = {"explained": explained, "warnings": warnings}
    return {"clusters": figures, **{name: value for name, value in found.items() if value}}


def figure_rows(figures: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return each figure as its name, before, after and bound.

    Empty where it has no meaning, NOTHING where unknown.
    """
    times = [figures[name] for name in ("before", "after", "bound")]
    return [
        ("replicas per broker", *(_range(each, "replicas") for each in times)),
        ("leaders per broker", *(_range(each, "leaders") for each in times)),
        ("bytes, max / mean", *(_ratio(each["bytes_max_over_mean"]) for each in times)),
        ("bytes, deviation / mean", *(_percent(each["bytes_cv"]) for each in times)),
        ("bytes led, max / mean", *(_ratio(each["leader_bytes_max_over_mean"]) for each in times)),
        ("replicas above their topic's share", *(str(each["topic_excess"]) for each in times)),
        (
            "leaders above their topic's share",
            *(str(each["topic_leader_excess"]) for each in times),
        ),
        ("rack violations", *(str(each["rack_violations"]) for each in times)),
        ("leaders after a loss, max / fair", *(_ratio(each["failover_share"]) for each in times)),
        *_load_rows(figures.get("load", {})),
        *disk_rows(figures.get("disks", {})),
        ("moves", "", str(figures["moves"]), _bound(figures, "moves_bound")),
        (
            "bytes to copy",
            "",
            _size(figures["moved_bytes"]),
            _bound(figures, "moved_bytes_bound", lambda least: "" if least == 0 else _size(least)),
        ),
        (
            "leader changes",
            "",
            str(figures["leader_changes"]),
            _bound(figures, "leader_changes_bound"),
        ),
    ]


def _bound(figures: Mapping[str, Any], name: str, shown: Callable[[Any], str] = str) -> str:
    """Return a bound on a figure of the plan; '' for a plan that limits cut, which has none."""
    return "" if figures["left_out"] else shown(figures[name])


def _load_rows(load: Mapping[str, Any]) -> list[tuple[str, ...]]:
    rows = []
    for name, title in RESOURCES.items():
        if name in load:
            found = load[name]
            rows.append(
                (
                    f"{title}, worst hour / fair",
                    *(_ratio(found[time]) for time in ("before", "after", "bound")),
                )
            )
            bare = (_ratio(found[f"{time}_unfloored"]) for time in ("before", "after", "bound"))
            rows.append((f"{title}, quiet hours too", *bare))
        if name in load.get("holdout", {}):
            found = load["holdout"][name]
            rows.append(
                (f"{title}, the week held out", _ratio(found["before"]), _ratio(found["after"]), "")
            )
    return rows + _zone_rows(load.get("zones", {}))


def _zone_rows(zones: Mapping[str, Any]) -> list[tuple[str, ...]]:
    rows = [
        (
            f"{name}, across zones a month",
            *(about(zones[name][time]) for time in ("before", "after")),
            "",
        )
        for name in ("replication", "producers", "consumers")
        if name in zones
    ]
    if zones:
        costs = (f"{zones['cost'][time]:,.2f}" for time in ("before", "after"))
        rows.append((f"across zones a month, {one_line(zones['currency'])}", *costs, ""))
    return rows


def _load_lines(load: Mapping[str, Any]) -> list[str]:
    """Return the worst hour of each resource after the plan.

    Also return the moves that evenness of load adds to it.
    """
    lines = []
    for name, title in RESOURCES.items():
        if name in load:
            worst = load[name]["worst"]
            day, hour = divmod(worst["hour"], 24)
            where = (
                f"{title}: broker {worst['broker_id']} on {_DAYS[day]} at {hour:02}:00 UTC is at"
            )
            alone = (
                f"; {worst['topic']}-{worst['partition']} alone is more than its part"
                if "topic" in worst
                else ""
            )
            lines.append(
                f"{where} {_ratio(load[name]['after'])} of its fair share, goal "
                f"{load[name]['goal']}{alone}"
            )
    if load:
        moves, changes = (
            count(load["extra_moves"], "move"),
            count(load["extra_leader_changes"], "leader change"),
        )
        lines.append(f"for load alone: {moves}, {changes}")
    return lines


def _work(figures: Mapping[str, Any]) -> list[str]:
    reordered = figures["order_changes"]
    parts = [
        "proved optimal: no plan as even moves less" if figures["proved_optimal"] else "",
        count(reordered, "entry that only reorders", "entries that only reorder")
        if reordered
        else "",
        f"{figures['left_out']} left out by limits" if figures["left_out"] else "",
    ]
    found = ", ".join(part for part in parts if part)
    return [found] if found else []


def _fleet(figures: Sequence[Mapping[str, Any]]) -> str:
    headers = (
        "cluster",
        "entries",
        "moves",
        "bound",
        "replicas",
        "leaders",
        "bytes max/mean",
        "after a loss",
    )
    rows = [
        (
            each["cluster"],
            each["reassignments"],
            each["moves"],
            _bound(each, "moves_bound"),
            _range(each["after"], "replicas"),
            _range(each["after"], "leaders"),
            _ratio(each["after"]["bytes_max_over_mean"]),
            _ratio(each["after"]["failover_share"]),
        )
        for each in figures
    ]
    used = [name for name in RESOURCES if any(name in each.get("load", {}) for each in figures)]
    loads = [
        [_ratio(each.get("load", {}).get(name, {}).get("after")) for name in used]
        for each in figures
    ]
    return table(
        (*headers, *(f"{RESOURCES[name]}, worst hour" for name in used)),
        [(*row, *load) for row, load in zip(rows, loads, strict=True)],
    )


def _range(figures: Mapping[str, Any], name: str) -> str:
    return f"{figures[f'{name}_min']} - {figures[f'{name}_max']}"


def _ratio(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"


def _size(value: int | None) -> str:
    return NOTHING if value is None else about(value)


def _percent(value: float | None) -> str:
    return NOTHING if value is None else f"{value * 100:.2f}%"
