"""F13 and F38: two runners on one cluster, and never a wave published twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.controller.eras import ERAS
from support.controller.znodes import REASSIGN
from support.executor.races import ORIGIN, TARGETS, plan_of, published, races
from support.executor.runs import Practice, apply, resume
from support.network.frame_proxy import Action, Fault, Side
from support.zookeeper.fault_proxy import MULTI

from kadmin.operations.context import Clock
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author
from kadmin.worlds.zookeeper.values.lock import ZnodeLock
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from support.executor.runs import Site
    from support.network.frame_proxy import Frame

    from kadmin.operations.record.holder import Lease

pytestmark = pytest.mark.zookeeper

RACES = 50


def publishes(frame: Frame) -> bool:
    """Whether a frame is the request that creates step record and admin node."""
    wanted = frame.side is Side.REQUEST and frame.op == MULTI
    return wanted and REASSIGN.encode() in frame.body and b"/steps/" in frame.body


@pytest.mark.executor
def test_f13_of_two_appliers_exactly_one_publishes_and_the_other_is_told_who(site: Site) -> None:
    for number, result in enumerate(races(site, RACES)):
        assert result.problem is None, f"race {number}: {result.problem}"


def test_f01_a_finished_run_whose_release_of_the_lock_gets_no_reply_is_a_success(
    site: Site,
) -> None:
    """The lock goes with the session anyway; what was seen on the cluster counts."""
    practice = Practice(site, ERAS["2.8.2"], brokers=(1, 2, 3))
    practice.model.create_topic("orders", {0: ORIGIN})
    practice.model.run()
    process = practice.process(apply(plan_of("orders", TARGETS[0])))
    releases: list[int] = []

    def reply_to_the_release(frame: Frame) -> bool:
        if frame.side is Side.REQUEST and frame.op == MULTI and b"completed" in frame.body:
            releases.append(frame.number + 1)
        return frame.side is Side.REPLY and frame.number in releases

    process.proxy.faults.append(Fault(Action.CUT_BEFORE, reply_to_the_release))
    run = process.run()
    assert run.exit_code == 0, run.error
    assert not practice.model.znodes.exists(Paths().lock)


def test_f38_a_lock_released_by_hand_and_taken_while_a_publish_is_in_flight_stops_it(
    site: Site,
) -> None:
    """The lock alone does not fence: B's new lock is at the same path with the same version."""
    practice = Practice(site, ERAS["2.8.2"], brokers=(1, 2, 3))
    practice.model.create_topic("orders", {0: ORIGIN})
    practice.model.run()
    with Store.connect(practice.connect_string) as bob:
        leases: list[Lease] = []

        def rob() -> None:
            found = ZnodeLock(bob, Paths(), Clock()).holder()
            assert found is not None
            ZnodeLock(bob, Paths(), Clock()).release_by_hand(found.operation_id)
            thief = Holder(Author("bob", "host-b", 8), "op-of-bob", "now", 10.0)
            leases.append(ZnodeLock(bob, Paths(), Clock()).take(thief, 0))

        robbed = practice.process(apply(plan_of("orders", TARGETS[0])))
        robbed.proxy.faults.append(Fault(Action.CALL, publishes, then=rob))
        run = robbed.run()
        assert run.exit_code == 5, run.error
        assert "lock was lost" in str(run.error)
        assert published(practice) == []
        holder = ZnodeLock(bob, Paths(), Clock()).holder()
        assert holder is not None
        assert holder.operation_id == "op-of-bob"
        ZnodeLock(bob, Paths(), Clock()).release(leases[0])
    resumed = practice.run(resume())
    assert resumed.outcome is not None, resumed.error
    assert len(published(practice)) == 1
