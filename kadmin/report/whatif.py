"""The predictions of `whatif` as text and JSON (schemas/answers/whatif-lose and whatif-plan)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kadmin.cluster.model import NO_LEADER
from kadmin.errors import count, name_some
from kadmin.report.text import SHOWN_ROWS, about, change, replicas, shortened, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.insight.predict.whatif import LeaderChange, Load, PlacedPartition, Prediction, SingleLoss

LOSS_FIGURES = ("Offline", "Refuse acks=all", "Unclean", "Leader changes", "Most leaders")


def loss_text(lost: Sequence[int], found: Prediction) -> str:
    """Show what a loss of brokers does, the worst first."""
    lossy = sum(each.lossy for each in found.changes)
    summary = (
        f"without {'broker' if len(lost) == 1 else 'brokers'} {name_some(lost)}: "
        f"{count(len(found.offline), 'partition')} offline, {_refuse(found)}, "
        f"{count(len(found.changes), 'leader change')}"
        f"{f', {lossy} of them unclean: records are lost' if lossy else ''}"
    )
    return "\n\n".join([summary, *_changes(found.changes), *_refusing(found.refusing), _loads(found)])


def loss_answer(lost: Sequence[int], found: Prediction) -> dict[str, Any]:
    """Answer `whatif lose`."""
    return {"lost": list(lost), **_prediction_answer(found)}


def plan_text(found: Prediction, before: Mapping[int, SingleLoss], after: Mapping[int, SingleLoss]) -> str:
    """Show leaders and loads after a plan, and the effect of losing each broker before and after it."""
    summary = (
        f"{count(len(found.changes), 'leader change')}, {count(len(found.offline), 'partition')} without a leader, "
        f"{_refuse(found)}"
    )
    refusing = _refusing(found.refusing)
    return "\n\n".join([summary, *_changes(found.changes), *refusing, _loads(found), _single_losses(before, after)])


def plan_answer(found: Prediction, before: Mapping[int, SingleLoss], after: Mapping[int, SingleLoss]) -> dict[str, Any]:
    """Answer `whatif plan`."""
    return {
        **_prediction_answer(found),
        "single_losses": [
            {"broker_id": broker, "before": _single_answer(before[broker]), "after": _single_answer(after[broker])}
            for broker in sorted(before)
        ],
        "worst_single_loss": {"before": worst(before), "after": worst(after)},
    }


def _refuse(found: Prediction) -> str:
    return count(len(found.refusing), "more refuses acks=all", "more refuse acks=all")


def _prediction_answer(found: Prediction) -> dict[str, Any]:
    return {
        "leader_changes": [
            {
                **asdict(each.partition),
                "leader": each.leader,
                "new_leader": each.new_leader,
                "unclean": each.lossy,
            }
            for each in found.changes
        ],
        "offline": [asdict(each) for each in found.offline],
        "under_min_isr": [
            {**asdict(each.partition), "isr": list(each.isr), "min_isr": each.min_isr} for each in found.refusing
        ],
        "brokers": [
            {"broker_id": broker, "before": asdict(before), "after": asdict(after) if after else None}
            for broker, before in sorted(found.before.items())
            for after in [found.after.get(broker)]
        ],
    }


def _changes(changes: Sequence[LeaderChange]) -> list[str]:
    worst = sorted(changes, key=lambda each: (each.new_leader != NO_LEADER, not each.lossy, each.partition))
    rows = [
        [each.partition, _leader(each.leader), f"{_leader(each.new_leader)}{' (unclean)' if each.lossy else ''}"]
        for each in worst[:SHOWN_ROWS]
    ]
    return [shortened(table(["partition", "leader", "new leader"], rows), len(worst))] if worst else []


def _leader(broker: int) -> str:
    return "none" if broker == NO_LEADER else str(broker)


def _refusing(refusing: Sequence[PlacedPartition]) -> list[str]:
    rows = [
        [str(each.partition), f"{len(each.isr)} ({replicas(each.isr)})" if each.isr else 0, each.min_isr]
        for each in refusing[:SHOWN_ROWS]
    ]
    return [shortened(table(["refuses acks=all", "in sync left", "min ISR"], rows), len(refusing))] if refusing else []


def _loads(found: Prediction) -> str:
    rows = [
        [broker, *map(change, _load_cells(found.before[broker]), _load_cells(after))]
        for broker, after in sorted(found.after.items())
    ]
    return table(["broker", "replicas", "leaders", "bytes", "leader bytes"], rows)


def _load_cells(load: Load) -> tuple[object, ...]:
    return load.replicas, load.leaders, about(load.size_bytes), about(load.leader_bytes)


def _single_losses(before: Mapping[int, SingleLoss], after: Mapping[int, SingleLoss]) -> str:
    rows = [
        [broker, *map(change, loss_figures(was), loss_figures(after[broker]))] for broker, was in sorted(before.items())
    ]
    lines = [table(["lose broker", *map(str.lower, LOSS_FIGURES)], rows)]
    if before:
        lines.append(f"worst single failure: broker {worst(before)} before the plan, broker {worst(after)} after it")
    return "\n".join(lines)


def loss_figures(loss: SingleLoss) -> tuple[int, ...]:
    """Return the figures of a loss in the order of LOSS_FIGURES."""
    return loss.offline, loss.refusing, loss.lossy, loss.leader_changes, loss.most_leaders


def worst(losses: Mapping[int, SingleLoss]) -> int | None:
    """Return the broker with the worst loss: most offline, then unclean, then refusing, then leaders on one broker."""
    return max(losses, key=lambda broker: _severity(losses[broker]), default=None)


def standing_out(losses: Mapping[int, SingleLoss]) -> frozenset[int]:
    """Return every broker with the worst loss; none where all losses are equally bad."""
    most = max(map(_severity, losses.values()), default=())
    found = frozenset(broker for broker, loss in losses.items() if _severity(loss) == most)
    return found if len(found) < len(losses) else frozenset()


def _severity(loss: SingleLoss) -> tuple[int, ...]:
    return loss.offline, loss.lossy, loss.refusing, loss.most_leaders


def _single_answer(loss: SingleLoss) -> dict[str, Any]:
    return {
        "leader_changes": loss.leader_changes,
        "offline": loss.offline,
        "under_min_isr": loss.refusing,
        "unclean": loss.lossy,
        "most_leaders": loss.most_leaders,
    }
