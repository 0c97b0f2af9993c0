"""`cancel --foreign` and reassignments of other tools in mid-run, against the model of the
controller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cluster.states import tp
from support.controller.eras import ERAS
from support.controller.znodes import REASSIGN, reassignment_payload
from support.executor.runs import Practice, apply, cancel_foreign, resume, status, stop

from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import StepKind
from kadmin.operations.record.stop_request import Stop
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan, WaveLimits

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.executor.runs import Run, Site

    from kadmin.cluster.model import Replicas

pytestmark = pytest.mark.zookeeper

ENTRY = {tp("x-0"): (3, 4)}
GIVEN = {tp("x-0"): (2, 1)}


def foreign(site: Site, version: str) -> Practice:
    """Leave another tool's reassignment of x-0 in flight."""
    practice = Practice(site, ERAS[version])
    practice.model.create_topic("x", {0: (2, 1)})
    practice.model.create_topic("a", {0: (1, 2), 1: (1, 2)})
    practice.model.run()
    practice.model.copies_held = True
    practice.model.znodes.create(REASSIGN, reassignment_payload(ENTRY))
    practice.model.run()
    assert len(replicas(practice, "x-0")) == 4
    return practice


def replicas(practice: Practice, name: str) -> Replicas:
    return practice.model.assigned(tp(name).topic)[tp(name)].replicas


def test_an_admin_node_is_superseded_the_original_replicas_are_in_the_topic(site: Site) -> None:
    practice = foreign(site, "2.8.2")
    epoch = practice.model.znodes.get("/controller_epoch")
    ended = practice.run(cancel_foreign({}))
    assert ended.error is None, ended.error
    assert "1 reassignment of other tools ended" in str(ended.outcome)
    assert replicas(practice, "x-0") == (2, 1)
    assert not practice.model.znodes.exists(REASSIGN)
    assert practice.model.znodes.get("/controller_epoch") != epoch
    (listing,) = practice.journal.listings()
    assert (listing.kind, listing.status.state) == (
        OperationKind.CANCELLATION,
        OperationState.COMPLETED,
    )
    assert [step.kind for step in practice.journal.steps(listing.operation_id)] == [StepKind.CANCEL]
    again = practice.run(cancel_foreign({}))
    assert "no reassignment of another tool" in str(again.outcome)


def test_up_to_2_3_a_file_gives_the_original_replicas(site: Site) -> None:
    practice = foreign(site, "1.1.1")
    unknown = practice.run(cancel_foreign({}))
    assert unknown.exit_code == 3
    assert practice.journal.listings() == ()
    ended = practice.run(cancel_foreign(GIVEN))
    assert ended.error is None, ended.error
    assert replicas(practice, "x-0") == (2, 1)
    assert not practice.model.znodes.exists(REASSIGN)


@pytest.mark.parametrize("version", ["1.1.1", "2.8.2"])
def test_killed_anywhere_it_is_resumed_and_the_controller_moves_once(
    site: Site, version: str
) -> None:
    practice = foreign(site, version)
    waits = iter(range(3))

    def work() -> float:
        if next(waits, None) is None:
            process.die()
        return practice.work()

    process = practice.process(cancel_foreign(GIVEN), work)
    killed = process.run()
    practice.bury()
    if killed.killed:
        again = practice.run(resume())
        assert again.error is None, again.error
    assert replicas(practice, "x-0") == (2, 1)
    steps = practice.journal.steps(practice.journal.listings()[-1].operation_id)
    assert [step.kind for step in steps] == [StepKind.CANCEL]


def test_cancel_now_is_refused_before_it_is_on_record(site: Site) -> None:
    practice = foreign(site, "2.8.2")
    waits = iter(range(3))

    def work() -> float:
        if next(waits, None) is None:
            process.die()
        return 0.0

    process = practice.process(cancel_foreign({}), work)
    assert process.run().killed
    practice.bury()
    refused = practice.run(stop(Stop.CANCEL_NOW))
    assert "A running cancellation cannot be taken back" in str(refused.error)
    (listing,) = practice.journal.unfinished()
    assert practice.journal.request(listing.operation_id) is None
    again = practice.run(resume())
    assert again.error is None, again.error


def moved(site: Site) -> tuple[Practice, ReassignmentPlan]:
    practice = Practice(site, ERAS["2.8.2"])
    practice.model.create_topic("x", {0: (2, 1)})
    for topic in ("a", "b"):
        practice.model.create_topic(topic, {0: (1, 2)})
    practice.model.run()
    targets = tuple(PartitionTarget(tp(name), (2, 3), (1, 2)) for name in ("a-0", "b-0"))
    return practice, ReassignmentPlan(PlanHeader(), targets, limits=WaveLimits(max_partitions=2))


def run(
    practice: Practice,
    plan: ReassignmentPlan,
    happens: Callable[[], object],
    until: Callable[[], bool],
) -> Run:
    """Apply a plan; in mid-wave something `happens`, and copies go on when `until` is true."""
    practice.model.copies_held = True
    waits = iter(range(400))

    def work() -> float:
        number = next(waits)
        if number == 20:
            happens()
        if number > 20 and until():
            practice.model.copies_held = False
        return practice.work()

    return practice.process(apply(plan), work).run()


def delete_topic(practice: Practice, topic: str) -> None:
    """Remove a topic as a controller does at the end of a deletion."""
    for below in ("/partitions/0/state", "/partitions/0", "/partitions", ""):
        practice.model.znodes.delete(f"/brokers/topics/{topic}{below}")
    practice.model.znodes.delete(f"/config/topics/{topic}")
    for memory in (
        practice.model.elected.assignment,
        practice.model.elected.states,
        practice.model.elected.moving,
    ):
        memory.pop(tp(f"{topic}-0"), None)


def said(practice: Practice, text: str) -> bool:
    """Whether `kadmin status` says what the operation waits for."""
    return text in str(practice.run(status()).outcome)


def test_f42_a_topic_deleted_in_mid_wave_is_told_at_once_and_ends_the_run(site: Site) -> None:
    practice, plan = moved(site)
    ended = run(
        practice, plan, lambda: delete_topic(practice, "a"), lambda: said(practice, "a-0: deleted")
    )
    assert ended.exit_code == 4, ended.error
    assert "a-0" in str(ended.error)
    assert any(text.startswith("warning: a-0: deleted") for text in ended.told)
    assert replicas(practice, "b-0") == (2, 3), "the rest of the wave was followed to its end"
    assert practice.journal.listings()[-1].status.state is OperationState.FAILED


def test_f43_a_target_that_dies_in_mid_wave_is_named_with_its_partitions_until_it_is_back(
    site: Site,
) -> None:
    practice, plan = moved(site)
    waiting = (
        "a-0, b-0: the controller waits for brokers that are not alive: 3; "
        "start them, or take the wave back: kadmin cancel --now"
    )

    def back() -> bool:
        if said(practice, waiting):
            practice.model.start_broker(3)
        return 3 in practice.model.live_brokers()

    ended = run(practice, plan, lambda: practice.model.kill_broker(3), back)
    assert ended.exit_code == 0, ended.error
    assert f"warning: {waiting}" in ended.told


def test_f44_a_foreign_node_in_mid_wave_is_named_and_ends_the_run(site: Site) -> None:
    practice, plan = moved(site)
    payload = reassignment_payload(
        {**ENTRY, **{target.partition: target.replicas for target in plan.reassignments}}
    )
    ended = run(practice, plan, lambda: practice.model.znodes.put(REASSIGN, payload), lambda: False)
    assert ended.exit_code == 5, ended.error
    assert "holds entries of another tool: x-0" in str(ended.error)
    practice.model.copies_held = False
    freed = practice.run(cancel_foreign({}))
    assert freed.error is None, freed.error
    assert replicas(practice, "x-0") == (2, 1)
    again = practice.run(resume())
    assert again.error is None, again.error
    assert [replicas(practice, name) for name in ("a-0", "b-0")] == [(2, 3), (2, 3)]


def test_f44_a_reassignment_through_the_brokers_in_mid_run_is_named_and_the_next_wave_waits(
    site: Site,
) -> None:
    practice, plan = moved(site)
    plan = ReassignmentPlan(PlanHeader(), plan.reassignments, limits=WaveLimits(max_partitions=1))
    znode = (
        b'{"version":3,"partitions":{"0":[3,4,2,1]},'
        b'"adding_replicas":{"0":[3,4]},"removing_replicas":{"0":[2,1]}}'
    )
    done = b'{"version":3,"partitions":{"0":[2,1]},"adding_replicas":{},"removing_replicas":{}}'
    gate: list[list[int]] = []

    def until() -> bool:
        if len(gate) < 40 and replicas(practice, "a-0") == (2, 3):
            gate.append(list(replicas(practice, "b-0")))
            if len(gate) == 40:
                practice.model.znodes.put("/brokers/topics/x", done)
        return True

    ended = run(
        practice, plan, lambda: practice.model.znodes.put("/brokers/topics/x", znode), until
    )
    assert ended.exit_code == 0, ended.error
    assert any("another tool reassigns x-0" in text for text in ended.told), ended.told
    assert gate == [[1, 2]] * 40, "the second wave is not published before it is over"
