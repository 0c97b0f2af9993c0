from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import cluster, moving, tp, with_node

from kadmin.errors import NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide import decide
from kadmin.operations.decide.actions import (
    Advance,
    Finish,
    Memory,
    Observed,
    PublishElection,
    PublishWave,
    Wait,
)
from kadmin.operations.decide.deletion import DeletionWork
from kadmin.operations.decide.election import ElectionWork
from kadmin.operations.decide.failures import undo_of
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.decide.recreation import RecreationWork
from kadmin.operations.record.codec import decode_request, encode_request
from kadmin.operations.record.record import ROLLS_BACK, OperationState
from kadmin.operations.record.steps import (
    CancelStep,
    Channel,
    CreationStep,
    DeletionStep,
    ElectionStep,
    WaveStep,
)
from kadmin.operations.record.stop_request import Stop, StoppedByRequestError, StopRequest
from kadmin.plan.model import (
    DeletionPlan,
    Elect,
    PartitionTarget,
    PlanHeader,
    RecreationPlan,
    TopicRecipe,
)

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.record.steps import Step

START = {"a-0": (1, 2), "b-0": (2, 1)}
A, B = PartitionTarget(tp("a-0"), (1, 4), (1, 2)), PartitionTarget(tp("b-0"), (2, 3), (2, 1))
WORK = ReassignmentWork(((A,), (B,)), (A, B), Elect.NONE)
WAVE_1 = WaveStep(1, "now", 0)
HEARD = Memory(epoch=1, listening=frozenset(Channel))
PAUSE, CANCEL = (StopRequest(kind, "ann@h1", "then") for kind in (Stop.PAUSE, Stop.CANCEL))
COPYING = moving(cluster({**START, "a-0": (1, 4, 2)}), "a-0", adding=(4,), removing=(2,))


@pytest.mark.parametrize(
    ("request_", "state"),
    [(PAUSE, OperationState.PAUSED), (CANCEL, OperationState.CANCELLED)],
    ids=["pause", "cancel"],
)
class TestAnyRequest:
    def test_nothing_new_is_published(self, request_: StopRequest, state: OperationState) -> None:
        for steps, memory in (
            ((), HEARD),
            ((WAVE_1,), replace(HEARD, wave=1)),
            ((), Memory(epoch=1)),
        ):
            done = cluster({**START, "a-0": (1, 4)}) if steps else cluster(START)
            action = decide(WORK, Observed(done, steps, NODES, request_), memory, 0.0)
            assert isinstance(action, Finish)
            assert action.state is state
            assert isinstance(action.error, StoppedByRequestError)
            assert "ann@h1" in (action.error.cause or "")
            assert action.error.lines()[0].startswith(f"The operation was {state.value}: "), (
                "it is what was asked for"
            )
            assert action.error.exit_status == NotCompletedError.exit_code

    def test_what_runs_is_followed_to_its_end(
        self, request_: StopRequest, state: OperationState
    ) -> None:
        assert isinstance(
            decide(WORK, Observed(COPYING, (WAVE_1,), NODES, request_), HEARD, 0.0), Wait
        )
        named = with_node(cluster(START), {"a-0": (1, 4)})
        assert isinstance(
            decide(WORK, Observed(named, (WAVE_1,), NODES, request_), HEARD, 0.0), Wait
        )
        done = cluster({**START, "a-0": (1, 4)})
        assert decide(WORK, Observed(done, (WAVE_1,), NODES, request_), HEARD, 0.0) == Advance(1)
        after = decide(
            WORK, Observed(done, (WAVE_1,), NODES, request_), replace(HEARD, wave=1), 0.0
        )
        assert isinstance(after, Finish)
        assert after.state is state

    def test_a_union_left_behind_is_repaired_all_the_same(
        self, request_: StopRequest, state: OperationState
    ) -> None:
        union = cluster({**START, "a-0": (1, 2, 4)})
        assert decide(WORK, Observed(union, (WAVE_1,), NODES, request_), HEARD, 0.0) == PublishWave(
            0, (A,)
        )
        assert state in OperationState

    def test_no_further_batch_is_elected(
        self, request_: StopRequest, state: OperationState
    ) -> None:
        off = cluster({"a-0": (1, 2)}, states={"a-0": (2, (2, 1))})
        work = ElectionWork((tp("a-0"),))
        assert decide(work, Observed(off, (), NODES), HEARD, 0.0) == PublishElection((tp("a-0"),))
        action = decide(work, Observed(off, (), NODES, request_), HEARD, 0.0)
        assert isinstance(action, Finish)
        assert action.state is state
        running = with_node(off, {"a-0": ()}, election=True)
        asked = ElectionStep(1, "now", (tp("a-0"),))
        assert isinstance(
            decide(work, Observed(running, (asked,), NODES, request_), HEARD, 0.0), Wait
        )

    def test_what_is_done_is_done(self, request_: StopRequest, state: OperationState) -> None:
        done = cluster({"a-0": (1, 4), "b-0": (2, 3)})
        action = decide(
            WORK, Observed(done, (WAVE_1,), NODES, request_), replace(HEARD, wave=2), 0.0
        )
        assert action == Finish(OperationState.COMPLETED, "2 partitions at the target")
        assert state is not OperationState.COMPLETED

    def test_a_cluster_without_a_controller_is_not_waited_for(
        self, request_: StopRequest, state: OperationState
    ) -> None:
        nobody = replace(cluster(START), controller=None)
        assert isinstance(decide(WORK, Observed(nobody, (), NODES), HEARD, 0.0), Wait)
        action = decide(WORK, Observed(nobody, (), NODES, request_), HEARD, 0.0)
        assert isinstance(action, Finish)
        assert action.state is state


def queued(state: ClusterState) -> ClusterState:
    return replace(state, requests=replace(state.requests, deletions=("a",)))


def next_after_cancel(state: ClusterState, steps: tuple[Step, ...], wave: int) -> str | None:
    action = decide(
        replace(WORK, rollback=command("rollback")),
        Observed(state, steps, NODES, CANCEL),
        replace(HEARD, wave=wave),
        0.0,
    )
    assert isinstance(action, Finish)
    assert action.error is not None
    return action.error.next_command


def test_a_cancelled_operation_names_its_rollback_only_where_it_moved_something() -> None:
    """Of topics that are not read, an earlier wave counts; one that was taken back does not."""
    later = cluster({"b-0": START["b-0"]})
    back = CancelStep(2, "now", (A.partition,))
    assert next_after_cancel(later, (WAVE_1,), wave=1) == "kadmin rollback"
    assert next_after_cancel(later, (WAVE_1, back), wave=1) == "kadmin history"
    assert next_after_cancel(cluster(START), (), wave=0) == "kadmin history"


def test_a_wave_that_was_taken_back_whole_leaves_nothing_to_undo() -> None:
    back = CancelStep(2, "now", (A.partition,))
    work, seen = replace(WORK, rollback=command("rollback")), (WAVE_1, back)
    assert work.undone_by(Observed(cluster(START), seen, NODES), None) is None
    assert work.undone_by(
        Observed(cluster({**START, "a-0": (1, 4)}), seen, NODES), None
    ) == command("rollback")


def test_the_next_step_undoes_this_operation_and_of_a_rollback_completes_it_first() -> None:
    """Without an id, `kadmin rollback` would roll back the operation that the rollback undid in
    part.
    """
    undo = "kadmin rollback op-2, to undo the moves that were completed"
    assert str(undo_of("op-2", PlanHeader())) == undo
    labels = {ROLLS_BACK: "op-1"}
    assert (
        str(undo_of("op-2", PlanHeader(labels=labels)))
        == f"kadmin rollback op-1, to complete the rollback; or {undo}"
    )


def test_a_deletion_that_was_asked_for_is_not_taken_back() -> None:
    """Removing the child brings the topic back empty."""
    work = DeletionWork(DeletionPlan(PlanHeader(), ("a",)))
    asked = DeletionStep(1, "now", ("a",))
    assert isinstance(
        decide(work, Observed(queued(cluster(START)), (asked,), NODES, CANCEL), HEARD, 0.0), Wait
    )
    before = decide(work, Observed(cluster(START), (), NODES, CANCEL), HEARD, 0.0)
    assert isinstance(before, Finish)
    assert before.state is OperationState.CANCELLED


@pytest.mark.parametrize(
    ("work", "state", "step", "in_its_way"),
    [
        (
            DeletionWork(DeletionPlan(PlanHeader(), ("a",))),
            queued(cluster({"a-0": (1, 9)}, states={"a-0": (-1, (1,))})),
            DeletionStep(1, "now", ("a",)),
            "waits for 9",
        ),
        (
            DeletionWork(DeletionPlan(PlanHeader(), ("a",))),
            queued(cluster({"a-0": (1, 2)}, states={"a-0": (-1, (1, 2))})),
            DeletionStep(1, "now", ("a",)),
            "Nothing has changed for 60 s: deleting",
        ),
        (
            RecreationWork(
                RecreationPlan(PlanHeader(), recipes=(TopicRecipe("a", {0: (1, 9)}, {}),))
            ),
            cluster({"a-0": (1, 9)}, states={"a-0": (-1, ())}),
            CreationStep(1, "now", ("a",)),
            "has not chosen leaders for a",
        ),
        (
            ElectionWork((tp("a-0"),)),
            with_node(
                cluster({"a-0": (1, 2)}, states={"a-0": (2, (2, 1))}), {"z-9": ()}, election=True
            ),
            ElectionStep(1, "now", (tp("a-0"),)),
            "holds entries of another tool",
        ),
    ],
    ids=["a deletion", "a deletion that has stalled", "a creation", "an election"],
)
def test_what_nothing_takes_back_ends_without_what_it_waits_for(
    work: OperationSpec, state: ClusterState, step: Step, in_its_way: str
) -> None:
    """A request to pause leaves it unfinished; a cancelled operation blocks no other."""
    memory, late = replace(HEARD, last_step=1), 61.0
    for request, finished in ((PAUSE, False), (CANCEL, True)):
        action = decide(work, Observed(state, (step,), NODES, request), memory, late)
        assert (isinstance(action, Finish) and action.state is OperationState.CANCELLED) == finished
    assert isinstance(action, Finish)
    assert action.error is not None
    assert not isinstance(action.error, StoppedByRequestError), "cancel ends with 8, too"
    assert in_its_way in action.error.message
    assert (in_its_way in action.message, action.error.next_command) == (True, "kadmin doctor")


def test_an_election_that_never_began_is_cancelled_beside_that_of_another_tool() -> None:
    foreign = with_node(
        cluster({"a-0": (1, 2)}, states={"a-0": (2, (2, 1))}), {"z-9": ()}, election=True
    )
    action = decide(ElectionWork((tp("a-0"),)), Observed(foreign, (), NODES, CANCEL), HEARD, 0.0)
    assert isinstance(action, Finish)
    assert action.state is OperationState.CANCELLED
    assert isinstance(action.error, StoppedByRequestError)


def test_a_request_is_read_back_as_it_was_written() -> None:
    for kind in Stop:
        request = StopRequest(kind, "ann@h1", "then", allow_foreign=kind is Stop.CANCEL_NOW)
        assert decode_request(encode_request(request)) == request
