"""Rules of making topics again: config first, then the topic znode, both in one step; one topic per step.

========================================================  =============================================
seen, per topic                                           meaning
========================================================  =============================================
there, every partition with a leader, step on record      done
there, no step on record                                  somebody else's: Finish, busy
there, step on record                                     Wait for leaders; past the deadline Finish
absent, step on record                                    deleted again: Finish
absent, being deleted                                     Wait
absent                                                    to be published, in the plan's order
========================================================  =============================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import BusyError, NotCompletedError, name_some
from kadmin.operations.decide.actions import PUBLISH_ATTEMPTS, Finish, PublishTopic, Wait
from kadmin.operations.decide.common import changing, overdue
from kadmin.operations.record.record import OperationState, StepKind
from kadmin.plan.recreation import is_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.operations.decide.actions import Action, Memory, Observed, RecreationWork
    from kadmin.plan.model import TopicRecipe


def decide_recreation(work: RecreationWork, observed: Observed, memory: Memory, now: float) -> Action:
    """Decide the next action; `observed` holds the recipes' topics, as far as they are there."""
    state, recipes = observed.state, work.plan.recipes
    made = {topic for step in observed.steps if step.kind is StepKind.CREATION for topic in step.topics}
    foreign = [recipe.topic for recipe in recipes if recipe.topic in state.topics and recipe.topic not in made]
    if foreign:
        return _somebody_elses(foreign)
    gone = [recipe.topic for recipe in recipes if recipe.topic in made and recipe.topic not in state.topics]
    if gone:
        return _deleted_again(gone)
    wanted = [recipe for recipe in recipes if recipe.topic not in made]
    if wanted:
        return _make(wanted, observed, memory)
    without = [recipe.topic for recipe in recipes if not is_whole(recipe, state)]
    if not without:
        return Finish(OperationState.COMPLETED, f"{len(recipes)} topics made again, empty")
    return _leaderless(without) if overdue(memory, now) else Wait("the controller chooses leaders", len(without))


def _make(wanted: Sequence[TopicRecipe], observed: Observed, memory: Memory) -> Action:
    if wanted[0].topic in observed.state.admin.deletions:
        return Wait(f"{wanted[0].topic} is still being deleted", len(wanted))
    if observed.state.controller is None:
        return Wait("the cluster has no controller right now", len(wanted))
    return changing() if memory.attempts >= PUBLISH_ATTEMPTS else PublishTopic(wanted[0])


def _somebody_elses(topics: Sequence[str]) -> Finish:
    return Finish(
        OperationState.FAILED,
        f"somebody else made {name_some(topics)}",
        BusyError(
            f"{name_some(topics)} came to be meanwhile, not by this operation; nothing of it was touched.",
            cause="a producer or consumer asked for it and the brokers create topics, or another tool did",
            next_command="kafka-topics --alter, or delete it and run kadmin recreate again",
        ),
    )


def _deleted_again(topics: Sequence[str]) -> Finish:
    return Finish(
        OperationState.FAILED,
        f"deleted again: {name_some(topics)}",
        NotCompletedError(f"{name_some(topics)} was made, and somebody deleted it.", next_command="kadmin history"),
    )


def _leaderless(topics: Sequence[str]) -> Finish:
    return Finish(
        OperationState.RUNNING,
        f"no leaders yet: {name_some(topics)}",
        NotCompletedError(
            f"The controller has not chosen leaders for {name_some(topics)} within the deadline.",
            cause="the topic znodes are there; a controller that is alive takes them up",
            next_command="kadmin doctor, then kadmin resume",
        ),
    )
