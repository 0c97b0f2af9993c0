"""Asks a cluster whether brokers of a maintenance may be stopped now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.insight.predict.stop import judge_stop
from kadmin.operations.decide.actions import StopSeen
from kadmin.operations.reading.stop import read_stops

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import AskStop


def see_stop(context: Context, asked: AskStop) -> StopSeen:
    """Return the judgement on a new reading of the whole cluster."""
    found = judge_stop(read_stops(context).evidence, asked.brokers, asked.margin)
    return StopSeen(asked.brokers, context.clock.now(), found.why_not)
