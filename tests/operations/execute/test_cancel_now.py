"""`cancel --now` that is refused, against the model of the controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cluster.states import tp
from support.controller.eras import ERAS
from support.controller.znodes import REASSIGN, reassignment_payload
from support.executor.runs import Practice, apply, resume, stop

from kadmin.operations.record.record import OperationState
from kadmin.operations.record.stop_request import Stop
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan

if TYPE_CHECKING:
    from support.executor.runs import Site

pytestmark = pytest.mark.zookeeper


def test_a_request_to_cancel_that_was_refused_is_gone_and_resume_resumes(site: Site) -> None:
    practice = Practice(site, ERAS["2.8.2"])
    practice.model.create_topic("a", {0: (1, 2)})
    practice.model.create_topic("x", {0: (1, 2)})
    practice.model.run()
    practice.model.copies_held = True
    ours, theirs = {tp("a-0"): (3, 4)}, {tp("x-0"): (2, 1)}

    def work() -> float:
        if practice.model.assigned("a")[tp("a-0")].moving:
            process.die()
        return practice.work()

    process = practice.process(
        apply(ReassignmentPlan(PlanHeader(), (PartitionTarget(tp("a-0"), (3, 4), (1, 2)),))), work
    )
    assert process.run().killed
    practice.bury()
    practice.model.znodes.put(REASSIGN, reassignment_payload({**ours, **theirs}))
    refused = practice.run(stop(Stop.CANCEL_NOW))
    assert refused.exit_code == 5, refused
    (listing,) = practice.journal.unfinished()
    assert practice.journal.request(listing.operation_id) is None
    assert "was refused" in listing.status.message

    practice.model.znodes.put(REASSIGN, reassignment_payload(ours))
    practice.model.copies_held = False
    resumed = practice.run(resume())
    assert resumed.error is None, resumed
    assert practice.model.assigned("a")[tp("a-0")].replicas == (3, 4)
    assert practice.journal.status(listing.operation_id).state is OperationState.COMPLETED
