"""Rules of a decommission, around those of the reassignment that it is; the first row counts.

==================================================  ============================================
seen                                                action
==================================================  ============================================
asked to cancel, brokers cordoned by this           Errand: uncordon
asked to cancel                                     as a reassignment; at its end Finish: cancelled
the cordon not confirmed in this run                Errand: cordon
partitions of the plan, or of a round, to move      as a reassignment
the brokers not looked at for a while               AskEmpty
partitions that landed on them meanwhile            PlanRound; after the last round Finish, can be
                                                    resumed
anything else that keeps them from being empty      Wait: names it
a broker alive, stopping it is not safe             Wait: names what forbids it
a broker alive                                      Wait for the person
registered, in KRaft mode                           Errand: unregister
otherwise                                           Finish: completed
==================================================  ============================================

kadmin stops no broker: a person does. Each run confirms its errands by what the cluster shows, so
that one which was killed between the record and the request loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide.actions import (
    AskEmpty,
    AskStop,
    Finish,
    PlanRound,
    RunErrand,
    Wait,
    unfinished,
)
from kadmin.operations.decide.common import await_stop
from kadmin.operations.decide.reassignment import (
    REASSIGNMENT,
    ReassignmentWork,
    reassignment_work,
)
from kadmin.operations.decide.spec import PlanKind
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import Errand, cordoned_by, drains_of
from kadmin.operations.record.stop_request import Stop
from kadmin.plan.model import DecommissionPlan
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import (
        Action,
        EmptySeen,
        Memory,
        Observed,
    )
    from kadmin.operations.record.record import OperationRecord
    from kadmin.operations.record.steps import Step
    from kadmin.plan.model import PartitionTarget

MOST_ROUNDS = 3
"""Further drains of what lands on the brokers; then someone has to stop what creates it."""


@dataclass(frozen=True, slots=True)
class DecommissionWork(ReassignmentWork):
    """A decommission as recorded: the reassignment of its plan, and the rounds that steps added."""

    plan: DecommissionPlan = field(kw_only=True)
    rounds: int = 0

    @property
    def brokers(self) -> frozenset[int]:
        """The brokers that leave."""
        return frozenset(self.plan.brokers)

    def with_rounds(self, steps: Iterable[Step]) -> DecommissionWork:
        """Return the work with the waves of later rounds, which steps have on record."""
        rounds = drains_of(steps)
        return replace(
            self,
            waves=(*self.waves, *(wave for each in rounds for wave in each.waves)),
            targets=(*self.targets, *(target for each in rounds for target in each.targets)),
            rounds=len(rounds),
        )

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action of the stage under way."""
        if observed.request is not None and observed.request.stop is not Stop.PAUSE:
            return self.before_taking_back(observed) or self._cancel(observed, memory, now)
        if Errand.CORDON not in memory.errands:
            return RunErrand(Errand.CORDON, self.brokers)
        action = ReassignmentWork.decide(self, observed, memory, now)
        if not isinstance(action, Finish) or action.state is not OperationState.COMPLETED:
            return action
        seen = memory.empty
        if seen is None or now >= seen.until:
            return AskEmpty(self.plan)
        return self._leave(seen, observed, memory, now)

    def existing(
        self, targets: tuple[PartitionTarget, ...], state: ClusterState
    ) -> tuple[PartitionTarget, ...]:
        """Return targets whose topics were read, without those that others took off the brokers."""

        def is_ours(target: PartitionTarget) -> bool:
            replicas = state.replicas(target.partition) or ()
            return replicas == target.replicas or bool(self.brokers.intersection(replicas))

        return tuple(each for each in targets if is_ours(each))

    def before_taking_back(self, observed: Observed) -> RunErrand | None:
        """Return the errand that uncordons brokers: they take no list back while cordoned."""
        cordoned = cordoned_by(observed.steps)
        return RunErrand(Errand.UNCORDON, cordoned) if cordoned else None

    def left_to_do(self, observed: Observed, memory: Memory) -> tuple[str, ...]:
        """Name the partitions that are not at their target, then what is left of the brokers."""
        return (*ReassignmentWork.left_to_do(self, observed, memory), self.stage_in_words(memory))

    @property
    def names(self) -> tuple[str, ...]:
        """Name every stage: `drain broker 4: 12 partitions`."""
        brokers = self._in_words()
        return (
            f"cordon {brokers}, where Kafka has cordons",
            f"drain {brokers}: {count(len(self.targets), 'partition')}",
            f"wait until a person stops {brokers}, proved empty",
            f"unregister {brokers} in KRaft mode",
        )

    def stage_in_words(self, memory: Memory) -> str:
        """Return the stage under way as part of a sentence."""
        under_way = "drain of" if memory.wave < len(self.waves) else "stop of"
        return f"the {under_way} {self._in_words()}"

    def _in_words(self) -> str:
        return brokers_in_words(self.brokers)

    def _cancel(self, observed: Observed, memory: Memory, now: float) -> Action:
        action = ReassignmentWork.decide(self, observed, memory, now)
        if isinstance(action, Finish) and action.state is OperationState.COMPLETED:
            return Finish(OperationState.CANCELLED, f"the drain of {self._in_words()} is done")
        return action

    def _leave(self, seen: EmptySeen, observed: Observed, memory: Memory, now: float) -> Action:
        if seen.landed:
            return PlanRound(seen.landed) if self.rounds < MOST_ROUNDS else self._landing(seen)
        if seen.why_not:
            return Wait(f"not empty yet: {name_some(seen.why_not, most=3)}")
        if alive := self.brokers & observed.state.brokers.keys():
            asked = AskStop(alive, 0, frozenset(observed.state.brokers))
            ready = f"stop {brokers_in_words(alive)} now, proved empty"
            return await_stop(asked, memory, now, ready)
        if Errand.UNREGISTER not in memory.errands:
            return RunErrand(Errand.UNREGISTER, self.brokers)
        return Finish(OperationState.COMPLETED, f"{self._in_words()} drained and gone")

    def _landing(self, seen: EmptySeen) -> Finish:
        partitions = [str(target.partition) for wave in seen.landed for target in wave]
        return unfinished(
            NotCompletedError(
                f"Partitions keep landing on {self._in_words()}: {name_some(partitions)}.",
                cause=f"{MOST_ROUNDS} further rounds moved what was created there, and more is",
                next_step="stop what creates these topics, or give it explicit replicas; then "
                + command("apply", "FILE")
                + " with a new proposal, after "
                + command("cancel"),
            )
        )


def decommission_work(plan: DecommissionPlan, moves: ReassignmentWork) -> DecommissionWork:
    """Return the work of a plan, from the work of its reassignment."""
    return DecommissionWork(
        moves.waves,
        moves.targets,
        moves.elect,
        moves.rollback,
        plan=plan,
    )


def _work_of(plan: DecommissionPlan, record: OperationRecord) -> DecommissionWork:
    return decommission_work(plan, reassignment_work(plan, record))


DECOMMISSION = PlanKind(
    OperationKind.DECOMMISSION,
    DecommissionPlan,
    scope=REASSIGNMENT.scope,
    spec_of=_work_of,
    fields=REASSIGNMENT.fields,
    verdicts=REASSIGNMENT.verdicts,
)
