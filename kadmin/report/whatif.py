"""The predictions of `whatif` as text and JSON (schemas/answers/whatif-lose and whatif-plan)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kadmin.answers.partitions import Partition
from kadmin.answers.whatif import (
    ChangedLeader,
    LossAnswer,
    LossCounts,
    PlanEffectsAnswer,
    PredictedBroker,
    RefusingPartition,
    SingleLossChange,
    SingleLossCounts,
    UnknownPartition,
    WorstLoss,
)
from kadmin.cluster.model import NO_LEADER
from kadmin.insight.predict.losses import Bound
from kadmin.report.stops import obstacles_answer, obstacles_text
from kadmin.report.text import (
    SHOWN_ROWS,
    UNKNOWN,
    about,
    change,
    replicas,
    shortened,
    table,
    wrapped,
)
from kadmin.schema.shapes import ABSENT
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.insight.predict.losses import (
        LeaderChange,
        Load,
        LossFigures,
        PlacedPartition,
        Prediction,
        SingleLoss,
    )
    from kadmin.insight.predict.stop import StopObstacle

LOSS_FIGURES = ("Offline", "Refuse acks=all", "Unclean", "Leader changes", "Most leaders")


def loss_text(
    lost: Sequence[int], found: Prediction, obstacles: Sequence[StopObstacle] = ()
) -> str:
    """Show the effects of a loss of brokers, the worst first, then what --fail-on found."""
    lossy = found.figures.lossy
    summary = (
        f"without {brokers_in_words(lost)}: "
        f"{counted(found.figures.offline, 'partition')} offline{_already(found)}, "
        f"{_refuse(found)}, {counted(found.figures.leader_changes, 'leader change')}"
        f"{f', {lossy} of them unclean: records are lost' if lossy.most else ''}"
    )
    lists = [*_named_apart(found), *_changes(found.changes), *_refusing(found.refusing)]
    return "\n\n".join([summary, *lists, _loads(found), *obstacles_text(obstacles)])


def loss_answer(
    lost: Sequence[int], found: Prediction, obstacles: Sequence[StopObstacle] | None
) -> LossAnswer:
    """Answer `whatif lose`; `obstacles` are None without --fail-on."""
    failed = ABSENT if obstacles is None else obstacles_answer(obstacles)
    return LossAnswer(tuple(lost), **_prediction(found), obstacles=failed)


def plan_text(
    found: Prediction, before: Mapping[int, SingleLoss], after: Mapping[int, SingleLoss]
) -> str:
    """Show leaders and loads after a plan, and each broker's loss before and after it."""
    summary = (
        f"{counted(found.figures.leader_changes, 'leader change')}, "
        f"{counted(found.figures.offline, 'partition')} without a leader{_already(found)}, "
        f"{_refuse(found)}"
    )
    lists = [*_named_apart(found), *_changes(found.changes), *_refusing(found.refusing)]
    return "\n\n".join([summary, *lists, _loads(found), _single_losses(before, after)])


def plan_answer(
    found: Prediction, before: Mapping[int, SingleLoss], after: Mapping[int, SingleLoss]
) -> PlanEffectsAnswer:
    """Answer `whatif plan`."""
    losses = (
        SingleLossChange(broker, _single_answer(before[broker]), _single_answer(after[broker]))
        for broker in sorted(before)
    )
    worst_loss = WorstLoss(worst(before), worst(after))
    return PlanEffectsAnswer(
        **_prediction(found), single_losses=tuple(losses), worst_single_loss=worst_loss
    )


def counted(bound: Bound, noun: str, nouns: str | None = None) -> str:
    """Write a number, or its bounds, with a noun: `1 partition`, `0 to 12 partitions`."""
    least = "" if bound.least == bound.most else f"{bound.least:,} to "
    return least + count(bound.most, noun, nouns)


def _refuse(found: Prediction) -> str:
    return counted(found.figures.refusing, "more refuses acks=all", "more refuse acks=all")


def _already(found: Prediction) -> str:
    return f" and {len(found.already_offline):,} offline already" if found.already_offline else ""


def _named_apart(found: Prediction) -> list[str]:
    """Name the partitions that are offline already, and those whose outcome is unknown."""
    lines = (
        wrapped(f"offline already: {name_some(found.already_offline)}")
        if found.already_offline
        else []
    )
    affected = [each for each in found.unknown if each.affected]
    rest = len(found.unknown) - len(affected)
    lines += _unknown_names("the leader", [each.partition for each in affected if each.leader])
    lines += _unknown_names(
        "whether acks=all is refused", [each.partition for each in affected if each.refusal]
    )
    if rest:
        lines += wrapped(f"unknown, but unaffected: the leader of {count(rest, 'more partition')}")
    return ["\n".join(lines)] if lines else []


def _unknown_names(what: str, partitions: Sequence[TopicPartition]) -> list[str]:
    if not partitions:
        return []
    return wrapped(
        f"unknown: {what} of {count(len(partitions), 'partition')}: {name_some(partitions)}"
    )


def _prediction(found: Prediction) -> dict[str, Any]:
    """Return the fields of PredictionAnswer."""
    return {
        "leader_changes": tuple(
            ChangedLeader(
                **asdict(each.partition),
                leader=each.leader,
                new_leader=each.new_leader,
                unclean=each.lossy,
            )
            for each in found.changes
        ),
        "unknown": tuple(
            UnknownPartition(
                **asdict(each.partition),
                affected=each.affected,
                leader=each.leader,
                acks_all=each.refusal,
            )
            for each in found.unknown
        ),
        "at_most": _at_most(found.figures),
        "offline": tuple(Partition(**asdict(each)) for each in found.offline),
        "already_offline": tuple(Partition(**asdict(each)) for each in found.already_offline),
        "under_min_isr": tuple(
            RefusingPartition(**asdict(each.partition), isr=each.isr or (), min_isr=each.min_isr)
            for each in found.refusing
        ),
        "brokers": tuple(
            PredictedBroker(broker, before, found.after.get(broker))
            for broker, before in sorted(found.before.items())
        ),
    }


def _changes(changes: Sequence[LeaderChange]) -> list[str]:
    worst = sorted(
        changes, key=lambda each: (each.new_leader != NO_LEADER, not each.lossy, each.partition)
    )
    rows = [
        [
            each.partition,
            _leader(each.leader),
            f"{_leader(each.new_leader)}{' (unclean)' if each.lossy else ''}",
        ]
        for each in worst[:SHOWN_ROWS]
    ]
    return (
        [shortened(table(["partition", "leader", "new leader"], rows), len(worst))] if worst else []
    )


def _leader(broker: int | None) -> str:
    if broker is None:
        return UNKNOWN
    return "none" if broker == NO_LEADER else str(broker)


def _refusing(refusing: Sequence[PlacedPartition]) -> list[str]:
    rows = [
        [each.partition, f"{len(each.isr)} ({replicas(each.isr)})" if each.isr else 0, each.min_isr]
        for each in refusing[:SHOWN_ROWS]
    ]
    return (
        [shortened(table(["refuses acks=all", "in sync left", "min ISR"], rows), len(refusing))]
        if refusing
        else []
    )


def _loads(found: Prediction) -> str:
    rows = [
        [broker, *map(change, _load_cells(found.before[broker]), _load_cells(after))]
        for broker, after in sorted(found.after.items())
    ]
    return table(["broker", "replicas", "leaders", "bytes", "leader bytes"], rows)


def _load_cells(load: Load) -> tuple[object, ...]:
    leaders = UNKNOWN if load.leaders is None else load.leaders
    return load.replicas, leaders, about(load.size_bytes), about(load.leader_bytes)


def _single_losses(before: Mapping[int, SingleLoss], after: Mapping[int, SingleLoss]) -> str:
    rows = [
        [broker, *map(_figure_change, loss_figures(was), loss_figures(after[broker]))]
        for broker, was in sorted(before.items())
    ]
    lines = [table(["lose broker", *map(str.lower, LOSS_FIGURES)], rows)]
    if before:
        lines.append(
            f"worst single failure: broker {worst(before)} before the plan, broker {worst(after)} "
            "after it"
        )
    return "\n".join(lines)


def _figure_change(was: Bound | None, now: Bound | None) -> str:
    return change(*(UNKNOWN if each is None else each for each in (was, now)))


def loss_figures(loss: SingleLoss) -> tuple[Bound | None, ...]:
    """Return the figures of a loss in the order of LOSS_FIGURES; None: unknown."""
    found, most = loss.figures, loss.most_leaders
    leaders = None if most is None else Bound(most, most)
    return found.offline, found.refusing, found.lossy, found.leader_changes, leaders


def worst(losses: Mapping[int, SingleLoss]) -> int | None:
    """Return the broker with the worst loss.

    It has the most offline, then unclean, then refusing, then leaders on one broker. Unknown
    effects count as if they happened.
    """
    return max(losses, key=lambda broker: _severity(losses[broker]), default=None)


def standing_out(losses: Mapping[int, SingleLoss]) -> frozenset[int]:
    """Return every broker with the worst loss; none where all losses are equally bad."""
    most = max(map(_severity, losses.values()), default=())
    found = frozenset(broker for broker, loss in losses.items() if _severity(loss) == most)
    return found if len(found) < len(losses) else frozenset()


def _severity(loss: SingleLoss) -> tuple[int, ...]:
    found = loss.figures
    return found.offline.most, found.lossy.most, found.refusing.most, loss.most_leaders or 0


def _single_answer(loss: SingleLoss) -> SingleLossCounts:
    found = loss.figures
    return SingleLossCounts(
        found.leader_changes.least,
        found.offline.least,
        found.refusing.least,
        found.lossy.least,
        loss.most_leaders,
        _at_most(found),
    )


def _at_most(figures: LossFigures) -> LossCounts:
    return LossCounts(
        figures.leader_changes.most, figures.offline.most, figures.refusing.most, figures.lossy.most
    )
