"""Whether brokers may be stopped, as text and JSON (schemas/answers/broker-check)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kadmin.answers.brokers import Obstacle, StopAnswer
from kadmin.answers.partitions import Partition
from kadmin.cluster.names import INTERNAL_TOPICS, escaped
from kadmin.insight.predict.stop import StopReason
from kadmin.report.text import NOTHING, SHOWN_ROWS, replicas, shortened, table, wrapped
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.insight.predict.stop import StopObstacle, StopVerdict

STOP_COLUMNS = ("brokers", "safe to stop", "why not")
_WORDS = {
    StopReason.OFFLINE: "makes it offline",
    StopReason.UNCLEAN: "loses records",
    StopReason.UNDER_MIN_ISR: "under min ISR",
    StopReason.MOVE_IN_FLIGHT: "move in flight",
    StopReason.QUORUM: "quorum",
    StopReason.UNKNOWN: "unknown",
}


def stop_text(found: StopVerdict) -> str:
    """Show whether brokers may be stopped, and each obstacle."""
    named = brokers_in_words(found.brokers)
    head = f"{named} may be stopped" if found.safe else f"{named}: not now: {found.why_not}"
    lines = wrapped(head, "  ")
    if found.no_worse:
        lines += wrapped(
            f"no worse: {count(len(found.no_worse), 'partition')} offline or refusing acks=all "
            f"already: {name_some(found.no_worse)}",
            "  ",
        )
    return "\n\n".join(["\n".join(lines), *obstacles_text(found.obstacles)])


def obstacles_text(obstacles: Sequence[StopObstacle]) -> list[str]:
    """Show obstacles as a table, the worst first, and name the internal topics among them."""
    if not obstacles:
        return []
    order = list(StopReason)
    worst = sorted(
        obstacles, key=lambda each: (each.partition is not None, order.index(each.reason))
    )
    rows = [
        [
            NOTHING if each.partition is None else each.partition,
            _WORDS[each.reason],
            _in_sync(each),
            NOTHING if each.min_isr is None else each.min_isr,
            escaped(each.because),
        ]
        for each in worst[:SHOWN_ROWS]
    ]
    headers = ["partition", "stopping", "in sync left", "min ISR", "because"]
    internal = Counter(
        each.partition.topic
        for each in obstacles
        if each.partition is not None and each.partition.topic in INTERNAL_TOPICS
    )
    named = name_some(f"{topic} ({number:,})" for topic, number in sorted(internal.items()))
    shown = shortened(table(headers, rows), len(obstacles))
    return [shown, *(["\n".join(wrapped(f"internal topics among them: {named}"))] if named else [])]


def _in_sync(obstacle: StopObstacle) -> str:
    if obstacle.isr is None:
        return NOTHING
    return f"{len(obstacle.isr)} ({replicas(obstacle.isr)})" if obstacle.isr else "0"


def stop_rows(found: StopVerdict) -> list[tuple[object, ...]]:
    """Return the verdict as rows of STOP_COLUMNS."""
    names = name_some(found.brokers)
    return [(names, "yes" if found.safe else "no", found.why_not or NOTHING)]


def stop_answer(found: StopVerdict, margin: int, unavailable: Sequence[str]) -> StopAnswer:
    """Answer `broker check --stop`."""
    return StopAnswer(
        found.brokers,
        margin,
        found.safe,
        obstacles_answer(found.obstacles),
        tuple(Partition(each.topic, each.partition) for each in found.no_worse),
        tuple(map(escaped, unavailable)),
    )


def obstacles_answer(obstacles: Sequence[StopObstacle]) -> tuple[Obstacle, ...]:
    """Answer with obstacles."""
    return tuple(
        Obstacle(
            each.reason,
            None if each.partition is None else each.partition.topic,
            None if each.partition is None else each.partition.partition,
            each.isr,
            each.min_isr,
            escaped(each.because),
        )
        for each in obstacles
    )
