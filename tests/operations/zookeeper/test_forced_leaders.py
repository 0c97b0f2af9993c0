"""One write lets replicas lead that are not in sync, or nothing is written."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from kazoo.security import ACL, Id, Permissions
from support.controller.eras import ERAS
from support.controller.znodes import encode
from support.executor.recovered import BEFORE, CHOSEN, DEAD, FACTS, Lost, RecoveryGround
from support.executor.runs import ModelClock
from support.zookeeper.transaction_log import CREATE, DELETE, SET_DATA

from kadmin.errors import BusyError
from kadmin.operations.decide.actions import ForceLeaders, step_of
from kadmin.operations.decide.examine import examine
from kadmin.operations.decide.kinds import kind_of, record_of
from kadmin.operations.decide.recovery_by_config import ConfigRecoveryWork
from kadmin.operations.port import PublishOutcome
from kadmin.operations.record.steps import UncleanElectionStep
from kadmin.operations.session import held
from kadmin.plan.unclean import UNCLEAN_ELECTION, unclean_changes
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.configs import BATCH_BYTES
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store
from kadmin.worlds.zookeeper.write_rights import denied_writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.executor.runs import Site

    from kadmin.operations.port import PublishResult

pytestmark = pytest.mark.zookeeper


@pytest.fixture
def lost(site: Site) -> Lost:
    return Lost(site, ERAS["1.1.1"])


@contextmanager
def publishing(lost: Lost, site: Site) -> Iterator[Callable[[], PublishResult]]:
    """Give the publish of the elections of every topic, on the cluster as it is on entry."""
    plan = RecoveryGround(site, ERAS["1.1.1"]).plan()
    with Store.connect(lost.connect_string) as store:
        context = zookeeper_context(store, Paths(), ModelClock(lost.work), lambda _: None)
        with held(context, context.new_holder(), 0) as session:
            seen = context.backend.read(with_configs=True)
            work = examine(plan, seen, context.backend.capabilities.publish, FACTS).work
            assert isinstance(work, ConfigRecoveryWork)
            session.begin(record_of(kind_of(plan), plan, work, seen, session.holder))
            targets = tuple(entry.ordered for entry in plan.partitions)
            action = ForceLeaders(targets, unclean_changes(work.unclean))
            step, _ = step_of(action, 1, "now")
            yield lambda: context.backend.publish(step, action, seen, session.lease)


def named(lost: Lost) -> list[str]:
    """Return the partitions that steps on record named."""
    (listing,) = lost.journal.listings()
    return [
        str(partition)
        for step in lost.journal.steps(listing.operation_id)
        if isinstance(step, UncleanElectionStep)
        for partition in step.partitions
    ]


def test_the_controller_goes_before_the_notifications_in_one_write(lost: Lost, site: Site) -> None:
    with publishing(lost, site) as publish:
        lost.writes()
        before = len(lost.writes())
        assert publish() is PublishOutcome.PUBLISHED
    first = lost.writes()[before]
    paths = {
        write.path.removeprefix(lost.chroot): write.op
        for write in lost.writes()[before:]
        if write.zxid == first.zxid
    }
    after_step = list(paths.items())[1:]
    assert after_step[0] == ("/controller", DELETE)
    assert after_step[1:] == [
        ("/brokers/topics/events", SET_DATA),
        ("/brokers/topics/orders", SET_DATA),
        ("/config/topics/events", SET_DATA),
        ("/config/changes/config_change_0000000000", CREATE),
        ("/config/topics/orders", SET_DATA),
        ("/config/changes/config_change_0000000001", CREATE),
    ]
    lost.model.run()
    assert set(lost.leaders().values()) == {CHOSEN}
    assert lost.configs()["/config/topics/orders"] == {
        UNCLEAN_ELECTION: "true",
        "retention.ms": "1",
    }
    assert named(lost) == [str(each) for each in BEFORE]


def test_nothing_is_written_once_a_leader_is_back(lost: Lost, site: Site) -> None:
    with publishing(lost, site) as publish:
        lists = lost.lists()
        lost.model.start_broker(DEAD)
        lost.model.run()
        assert publish() is PublishOutcome.CHANGED
    assert (lost.lists(), named(lost)) == (lists, [])
    assert set(lost.leaders().values()) == {DEAD}


def test_a_config_that_others_changed_is_left_alone(lost: Lost, site: Site) -> None:
    with publishing(lost, site) as publish:
        config = {"version": 1, "config": {UNCLEAN_ELECTION: "maybe"}}
        lost.model.znodes.put("/config/topics/orders", encode(config))
        with pytest.raises(BusyError, match=rf"topics/orders {UNCLEAN_ELECTION} = maybe"):
            publish()
    assert named(lost) == []


def test_topics_that_do_not_fit_wait_for_the_next_write(lost: Lost, site: Site) -> None:
    large = {"version": 1, "config": {"follower.replication.throttled.replicas": "*" * BATCH_BYTES}}
    lost.model.znodes.put("/config/topics/events", encode(large))
    with publishing(lost, site) as publish:
        assert publish() is PublishOutcome.PUBLISHED
    assert named(lost) == ["events-0"]
    orders = lost.model.znodes.get("/config/topics/orders")
    assert json.loads(orders or b"")["config"][UNCLEAN_ELECTION] == "false"


def test_missing_rights_are_named_before_anything_is_written(lost: Lost, site: Site) -> None:
    everybody = Id("world", "anyone")
    kept = ACL(Permissions.ALL & ~Permissions.DELETE, everybody)
    site.client.set_acls(lost.chroot, [kept])
    for path in ("brokers/topics/orders", "config/topics/events"):
        site.client.set_acls(f"{lost.chroot}/{path}", [ACL(Permissions.READ, everybody)])
    work = ConfigRecoveryWork(
        RecoveryGround(site, ERAS["1.1.1"]).plan(), {"events": None, "orders": "false"}
    )
    with Store.connect(lost.connect_string) as store:
        denied = denied_writes(store, Paths(), work, ())
    assert denied is not None
    missing = "missing: d on /, w on /brokers/topics/orders, w on /config/topics/events; nothing"
    assert str(denied.cause).startswith(missing)
