"""Rules of a growth: one topic per step, in the plan's order. What was added stays.

==========================================  ==================================================
seen, per topic                             meaning
==========================================  ==================================================
the new partitions, each with a leader      done, whoever added them
the new partitions                          Wait for leaders; past the deadline Finish
absent, or another topic of the same name   stale: Finish
other partitions than before, not the new   stale: Finish
as before, refused with a reason            Finish: failed
as before, step without an answer           past the deadline to be published again
as before, step on record                   Wait until it shows; past the deadline Finish
as before                                   to be published
==========================================  ==================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, StalePlanError
from kadmin.insight.diagnosis.health import health_of
from kadmin.next_step import command
from kadmin.operations.decide.actions import Finish, PublishGrowth, Wait, failed, unfinished
from kadmin.operations.decide.common import AskedTopics, before_request, overdue, refused_topics
from kadmin.operations.decide.spec import ListedOperationSpec, PlanKind, Verdict
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import GrowthStep
from kadmin.plan.growth import is_reached, new_partitions_of
from kadmin.plan.model import GrowthPlan, TopicRecipe
from kadmin.plan.progress import Progress
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.decide.examination import Examination
    from kadmin.operations.decide.spec import PlanHistory
    from kadmin.plan.model import TopicGrowth
    from kadmin.plan.rules import ClusterView


@dataclass(frozen=True, slots=True)
class GrowthWork(ListedOperationSpec):
    """A growth as recorded: the topics as they were before, and their ids where they have some.

    Partitions are added directly, without a channel.
    """

    plan: GrowthPlan
    recipes: tuple[TopicRecipe, ...] = ()
    topic_ids: Mapping[str, str] = field(default_factory=dict)

    def listed(self) -> tuple[TopicPartition, ...]:
        """Return the new partitions."""
        return tuple(self.plan.assignment)

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action of the growth."""
        state, late = observed.state, overdue(memory, now)
        asked = AskedTopics(GrowthStep, observed.steps)
        left = [growth for growth in self.plan.topics if not self._is_grown(growth, state)]
        if other := [growth.topic for growth in left if not self._is_as_before(growth, state)]:
            return _changed_by_others(other)
        # Where a request was not answered, a later one may be refused because the first was done.
        refused = {
            growth.topic: asked.refused[growth.topic]
            for growth in left
            if growth.topic in asked.refused and (late or growth.topic not in asked.unanswered)
        }
        if refused:
            again = command("apply", "FILE")
            return refused_topics("add partitions to", refused, again)
        if left:
            return self._grow(left[0], asked, observed, memory, late=late)
        if without := self.open(state):
            return _leaderless(without) if late else Wait("the controller chooses leaders")
        return Finish(OperationState.COMPLETED, self.added_in_words(state))

    def open(self, state: ClusterState) -> tuple[str, ...]:
        """Name the new partitions that are absent or have no leader."""
        return tuple(
            str(partition)
            for growth in self.plan.topics
            for partition in growth.assignment
            if not self._is_grown(growth, state) or not _is_led(partition, state)
        )

    def added_in_words(self, state: ClusterState) -> str:
        """Return how many partitions were added: `2 of 5 partitions added`."""
        growths = [growth for growth in self.plan.topics if self._is_grown(growth, state)]
        added, total = sum(len(each.assignment) for each in growths), len(self.listed())
        many = count(total, "partition")
        return f"{many} added" if added == total else f"{added} of {many} added"

    def _is_grown(self, growth: TopicGrowth, state: ClusterState) -> bool:
        return is_reached(growth, state) and self._is_same(growth.topic, state)

    def _is_same(self, topic: str, state: ClusterState) -> bool:
        """Whether a topic is the one on record, and not another of the same name."""
        found, planned = state.topics.get(topic), self.topic_ids.get(topic)
        return found is not None and (planned is None or found.topic_id in {None, planned})

    def _is_as_before(self, growth: TopicGrowth, state: ClusterState) -> bool:
        found = state.topics.get(growth.topic)
        return (
            found is not None
            and self._is_same(growth.topic, state)
            and len(found.replicas) == growth.current
        )

    @staticmethod
    def _grow(
        growth: TopicGrowth,
        asked: AskedTopics,
        observed: Observed,
        memory: Memory,
        *,
        late: bool,
    ) -> Action:
        topic = growth.topic
        if topic in asked.unanswered:
            if not late:
                return Wait(f"whether {topic} has its new partitions is not known yet")
        elif topic in asked.topics:
            return _not_shown(topic) if late else Wait(f"{topic} does not show them yet")
        return before_request(observed, memory) or PublishGrowth(growth)


def examine_growth(found: Examination, plan: GrowthPlan, world: ClusterView) -> Examination:
    """Examine a growth: the topics that do not have their new partitions yet."""
    state = world.state
    growths = [growth for growth in plan.topics if not is_reached(growth, state)]
    if not growths:
        return found
    topics = [state.topics[name] for name in plan.names]
    recipes = tuple(TopicRecipe(topic.name, topic.replicas) for topic in topics)
    topic_ids = {topic.name: topic.topic_id for topic in topics if topic.topic_id is not None}
    new = new_partitions_of(growths, state)
    return replace(
        found,
        work=GrowthWork(plan, recipes, topic_ids),
        targets=tuple(map(str, new.assignment)),
        new=new,
    )


def _is_led(partition: TopicPartition, state: ClusterState) -> bool:
    found = state.states.get(partition)
    return found is not None and found.leader >= 0


def _changed_by_others(topics: Sequence[str]) -> Finish:
    return failed(
        StalePlanError(
            f"{name_some(topics)}: not the partitions that the plan was made on; nothing was "
            "added there.",
            cause="another client added partitions, or deleted the topic or made it again",
            next_step=command("inspect partitions") + ", then make the plan again",
        )
    )


def _not_shown(topic: str) -> Finish:
    return unfinished(
        NotCompletedError(
            f"{topic} does not show its new partitions within the deadline.",
            cause="the request was written; brokers show its effect late, or another client "
            "overwrote it",
            next_step=command("doctor") + ", then " + command("resume"),
        )
    )


def _leaderless(partitions: Sequence[str]) -> Finish:
    return unfinished(
        NotCompletedError(
            f"These new partitions have no leader within the deadline: {name_some(partitions)}.",
            cause="the partitions exist; a working controller chooses their leaders among live "
            "brokers",
            next_step=command("doctor") + ", then " + command("resume"),
        )
    )


def _verdicts(plan: GrowthPlan, state: ClusterState, _: PlanHistory) -> Iterator[Verdict]:
    for partition, replicas in plan.assignment.items():
        topic, number, now = partition.topic, partition.partition, state.replicas(partition)
        if topic not in state.topics:
            yield Verdict(topic, number, Progress.STALE, "no such topic")
        elif now is None:
            yield Verdict(topic, number, Progress.WAITING, "no such partition")
        elif now != replicas:
            yield Verdict(topic, number, Progress.STALE, f"its replicas are {list(now)}")
        elif not _is_led(partition, state):
            yield Verdict(topic, number, Progress.RUNNING, "no leader")
        else:
            yield Verdict(topic, number, Progress.DONE)


GROWTH = PlanKind(
    OperationKind.GROWTH,
    GrowthPlan,
    scope=lambda plan: set(plan.names),
    spec_of=lambda plan, record: GrowthWork(plan, record.recipes, record.topic_ids),
    fields=lambda work, state: {
        "recipes": work.recipes,
        "topic_ids": work.topic_ids,
        "health": health_of(state),
    },
    verdicts=_verdicts,
)
