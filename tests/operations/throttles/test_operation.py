"""The throttle of an operation on a real ZooKeeper: set, removed, kept while copies run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cluster.capabilities import API
from support.documents.plans import document, reassignment
from support.executor.fast_clock import FastClock
from support.executor.throttling import (
    BEFORE,
    ENTITIES,
    LOCKED,
    OFF,
    PATHS,
    RATES,
    Told,
    configs,
    recorded,
    targets,
    throttling,
)
from support.stores import OPERATION
from support.zookeeper.znode_cluster import (
    config,
    configure,
    notified,
    reassigned,
    reassigning,
    seed,
)

from kadmin.errors import BusyError, NotCompletedError
from kadmin.operations.context import Clock
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.holder import LostLockError, lost_lock
from kadmin.operations.record.keys import key_of, step_key
from kadmin.operations.record.step_codec import encode_step
from kadmin.operations.record.steps import WaveStep
from kadmin.operations.throttles.operation import RECONCILE_S, Throttling
from kadmin.plan.model import Elect
from kadmin.plan.throttle import FOLLOWER_REPLICAS, LEADER_RATE, LEADER_REPLICAS
from kadmin.worlds.zookeeper.backend import ZooKeeperBackend
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.model import Create, Delete, SetData
from kadmin.worlds.zookeeper.values.lock import ZnodeLock
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.record import OperationRecord


pytestmark = pytest.mark.zookeeper


def test_on_and_off_again_is_what_it_was_and_each_entity_is_notified_once_each_way(
    store: Store, lease: Lease
) -> None:
    """Also where /config/brokers does not exist yet, as on 0.10.2."""
    told, record = Told(), recorded(store, targets())
    throttle = throttling(store, record, told)
    throttle.set_up(lease)
    assert configs(store) == {
        "topics/a": {"retention.ms": "7", LEADER_REPLICAS: "7:7,0:1,0:2", FOLLOWER_REPLICAS: "0:3"},
        "brokers/1": RATES,
        "brokers/2": {**RATES, "log.cleaner.threads": "2"},
        "brokers/3": RATES,
    }
    assert notified(store) == ENTITIES
    reassigned(store, "a", (1, 3))
    throttle.take_down(lease, OFF)
    assert configs(store) == BEFORE
    assert notified(store) == ENTITIES * 2
    assert told == [
        "throttled at 5.00 kB/s on 3 brokers and 1 topic",
        "the throttle is removed from 3 brokers and 1 topic",
    ]


def test_fields_that_kafka_may_add_one_day_are_kept(store: Store, lease: Lease) -> None:
    store.multi([SetData("/config/topics/a", b'{"version":1,"later":[1],"config":{"b":"1"}}', -1)])
    throttle = throttling(store, recorded(store, targets()))
    throttle.set_up(lease)
    throttle.take_down(lease, OFF)
    node = store.get("/config/topics/a")
    assert node is not None
    assert node.data == b'{"version":1,"config":{"b":"1"},"later":[1]}'


def test_after_a_crash_what_is_ours_already_is_not_written_again(
    store: Store, lease: Lease
) -> None:
    record = recorded(store, targets())
    throttling(store, record).set_up(lease)
    throttling(store, record).set_up(lease)
    assert notified(store) == ENTITIES
    throttling(store, record).take_down(lease, OFF)
    throttling(store, record).take_down(lease, OFF)
    assert notified(store) == ENTITIES * 2
    assert configs(store) == BEFORE


def test_killed_between_the_record_and_the_throttle_there_is_nothing_to_take_off(
    store: Store, lease: Lease
) -> None:
    throttling(store, recorded(store, targets())).take_down(lease, OFF)
    assert configs(store) == BEFORE
    assert notified(store) == []


def test_a_value_changed_since_the_record_stops_before_anything_is_written(
    store: Store, lease: Lease
) -> None:
    record = recorded(store, targets())
    configure(store, "brokers/2", {LEADER_RATE: "123"})
    before = configs(store)
    with pytest.raises(BusyError, match=r"brokers/2 leader\.replication\.throttled\.rate = 123"):
        throttling(store, record).set_up(lease)
    assert configs(store) == before
    assert notified(store) == []


def test_an_edit_while_copies_run_is_kept_and_told_by_resume_and_at_the_end(
    store: Store, lease: Lease
) -> None:
    """F39: the operator's edit is kept and reported."""
    record, told = recorded(store, targets()), Told()
    throttling(store, record).set_up(lease)
    store.multi(
        [
            Create(PATHS.of(key_of(OPERATION, "status")), b""),
            Create(PATHS.of(key_of(OPERATION, "steps")), b""),
        ]
    )
    store.multi([Create(PATHS.of(step_key(OPERATION, 1)), encode_step(WaveStep(1, "now", 0)))])
    configure(store, "brokers/2", {**RATES, LEADER_RATE: "777"})
    configure(store, "topics/a", {LEADER_REPLICAS: "7:7,0:1,0:2,8:8", FOLLOWER_REPLICAS: "*"})
    resumed = throttling(store, record, told)
    resumed.set_up(lease)
    assert "brokers/2 leader.replication.throttled.rate = 777" in told[0]
    reassigned(store, "a", (1, 3))
    resumed.take_down(lease, OFF)
    assert configs(store) == {
        "brokers/2": {LEADER_RATE: "777"},
        "topics/a": {LEADER_REPLICAS: "7:7,8:8", FOLLOWER_REPLICAS: "*"},
    }
    assert "kept throttles that another client changed: " in told[2]
    assert "topics/a follower.replication.throttled.replicas = *" in told[2]


@pytest.mark.parametrize("in_isr", [True, False])
def test_it_stays_while_anything_of_the_operation_is_in_flight(
    store: Store,
    lease: Lease,
    in_isr: bool,  # noqa: FBT001 - a row
) -> None:
    """F39: as seen on the cluster; a target that was reached with a new replica still out of sync
    copies, too.
    """
    told, throttle = Told(), throttling(store, recorded(store, targets()))
    throttle.set_up(lease)
    if in_isr:
        reassigning(store, "a", (1, 3, 2), (3,))
    else:
        store.multi([SetData("/brokers/topics/a", b'{"version":1,"partitions":{"0":[1,3]}}', -1)])
    leaving = throttling(store, recorded_again(throttle), told)
    leaving.leave(NotCompletedError("The deadline passed."), lease)
    assert configs(store)["brokers/1"] == RATES
    assert told == [f"the throttle remains: a-0 in flight; remove it later with {OFF}"]
    reassigned(store, "a", (1, 3))
    throttle.take_down(lease, OFF)
    assert configs(store) == BEFORE


def recorded_again(throttle: Throttling) -> OperationRecord:
    return throttle._record


def test_without_the_lock_nothing_is_written_and_it_is_said_to_stay(
    store: Store, lease: Lease, chroot: str
) -> None:
    """F38: the lock released by hand."""
    told = Told()
    throttle = throttling(store, recorded(store, targets()), told)
    throttle.set_up(lease)
    with Store.connect(chroot) as other:
        ZnodeLock(other, PATHS, Clock()).release_by_hand(OPERATION)
    with pytest.raises(LostLockError):
        throttle.take_down(lease, OFF)
    assert config(store, "brokers/1") == RATES
    throttle.leave(LostLockError("The lock is no longer ours."), lease)
    assert told[1:] == [
        (
            "the throttle remains: the cluster is unreachable, or the lock was lost; remove it "
            f"later with {OFF}"
        )
    ]


@pytest.mark.parametrize(("operation_id", "notes"), [(OPERATION, 0), ("heal", 1)])
def test_a_runner_that_took_over_is_left_the_throttle(
    store: Store, lease: Lease, operation_id: str, notes: int
) -> None:
    """Where the lock serves another operation, the throttle remains and is named."""
    told = Told()
    throttle = throttling(store, recorded(store, targets()), told)
    throttle.set_up(lease)
    del told[:]
    throttle.leave(lost_lock(replace(LOCKED, operation_id=operation_id)), lease)
    assert len(told) == notes
    assert config(store, "brokers/1") == RATES


def test_the_configs_of_a_deleted_topic_are_not_made_again(store: Store, lease: Lease) -> None:
    record = recorded(store, targets())
    gone = ["/partitions/0/state", "/partitions/0", "/partitions", ""]
    store.multi(
        [Delete(f"/brokers/topics/a{below}", -1) for below in gone]
        + [Delete("/config/topics/a", -1)]
    )
    throttle = throttling(store, record)
    throttle.set_up(lease)
    throttle.take_down(lease, OFF)
    assert store.exists("/config/topics/a") is None
    assert config(store, "brokers/1") == {}


class LateWrites(ZooKeeperBackend):
    """A back-end whose writes may come late, so that what is set is compared with the record."""

    capabilities = API


def test_a_topic_that_was_deleted_is_not_said_to_lack_its_throttle(
    store: Store, lease: Lease
) -> None:
    """A broker whose throttle was removed by hand is set again."""
    store.multi([Create("/brokers/topics/b", b'{"version":1,"partitions":{"0":[1,2]}}')])
    entries, told, clock = targets(("a", "b")), Told(), FastClock()
    record = recorded(store, entries)
    context = replace(
        zookeeper_context(store, PATHS, clock, told), backend=LateWrites(store, PATHS, clock)
    )
    throttle = Throttling(context, record, ReassignmentWork((entries,), entries, Elect.NONE))
    throttle.set_up(lease)
    store.multi([Delete("/brokers/topics/b", -1), Delete("/config/topics/b", -1)])
    clock.wait(RECONCILE_S)
    throttle.reconcile(lease)
    assert told == ["throttled at 5.00 kB/s on 3 brokers and 2 topics"]
    store.multi([SetData("/config/brokers/1", b'{"version":1,"config":{}}', -1)])
    clock.wait(RECONCILE_S)
    throttle.reconcile(lease)
    assert told[1] == "the throttle is not set on 1 broker; setting it"


def test_a_command_that_ends_with_nothing_in_flight_has_taken_it_off(
    store: Store, chroot: str, tmp_path: Path
) -> None:
    """At every exit: here the deadline, on a cluster that has no controller; resume sets it again
    and takes it off.
    """
    seed(store, {"a": {0: (1, 2)}})
    store.multi([Create("/cluster", b""), Create("/cluster/id", b'{"id":"x"}')])
    plan = document(
        tmp_path / "plan.yaml", reassignment("a", {0: [1, 3]}, throttle={"rate": "5kB/s"})
    )
    late = command("apply", plan, "-z", chroot, "--yes", "--timeout", "0")
    assert late.status == 8, late.err
    assert "throttled at 5.00 kB/s" in late.err
    assert "the throttle is removed" in late.err
    again = command("resume", "-z", chroot, "--yes", "--timeout", "0")
    assert again.status == 8, again.err
    assert notified(store) == ENTITIES * 4
    assert configs(store) == {}
    stale = {"version": 1, "partitions": {"0": [2, 3]}}
    store.multi([SetData("/brokers/topics/a", json.dumps(stale).encode(), -1)])
    failed = command("resume", "-z", chroot, "--yes", "--timeout", "9")
    assert failed.status == 4, failed.err
    assert configs(store) == {}
    assert store.exists(PATHS.lock) is None
