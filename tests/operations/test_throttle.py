"""The throttle of an operation on a real ZooKeeper: set, taken off, and what breaks in between."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import tp
from support.live.cluster import command, document, reassignment
from support.zookeeper.fault_proxy import MULTI, Action, Fault, FaultProxy, Side
from support.zookeeper.znode_cluster import config, configure, notified, reassigned, reassigning, seed

from kadmin.cluster.zookeeper.model import Create, Delete, SetData
from kadmin.cluster.zookeeper.reader import read_cluster
from kadmin.cluster.zookeeper.store import Store
from kadmin.errors import BusyError, KadminError, NotCompletedError
from kadmin.insight.diagnosis.zookeeper.cluster_troubles import MANY_CONFIG_CHANGES
from kadmin.operations import events
from kadmin.operations.context import Clock
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.codec import encode_step
from kadmin.operations.record.holder import Holder, LostLockError
from kadmin.operations.record.record import Author, OperationKind, OperationRecord, Step, StepKind
from kadmin.operations.throttles.operation import Throttling, record_throttle
from kadmin.operations.zookeeper.backend import zookeeper_context
from kadmin.operations.zookeeper.configs import PER_MINUTE
from kadmin.operations.zookeeper.lock import Lock
from kadmin.operations.zookeeper.paths import Paths
from kadmin.plan.copying import throttle_of
from kadmin.plan.model import Elect, PartitionTarget, ThrottleBy, ThrottleSpec
from kadmin.plan.throttle import FOLLOWER_RATE, FOLLOWER_REPLICAS, LEADER_RATE, LEADER_REPLICAS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from support.zookeeper.fault_proxy import Frame

    from kadmin.operations.record.holder import Lease

pytestmark = pytest.mark.zookeeper

PATHS = Paths()
LOCKED = Holder(Author("ann", "host-a", 7), "op", "now", 10.0)
OFF = "kadmin resume op"
RATE = ThrottleSpec(ThrottleBy.RATE, 5000)
RATES = {LEADER_RATE: "5000", FOLLOWER_RATE: "5000"}
ENTITIES = ["brokers/1", "brokers/2", "brokers/3", "topics/a"]
BEFORE = {
    "topics/a": {"retention.ms": "7", LEADER_REPLICAS: "7:7"},
    "brokers/2": {LEADER_RATE: "99", "log.cleaner.threads": "2"},
}


class Told(list[str]):
    """What was told, in order."""

    def __call__(self, event: events.Event) -> None:
        assert isinstance(event, events.Noted)
        self.append(event.text)


def targets(topics: Sequence[str] = ("a",)) -> tuple[PartitionTarget, ...]:
    return tuple(PartitionTarget(tp(f"{topic}-0"), (1, 3), (1, 2)) for topic in topics)


def recorded(store: Store, wished: Sequence[PartitionTarget]) -> OperationRecord:
    throttle = throttle_of(RATE, [wished], read_cluster(store), {})
    record = OperationRecord("op", OperationKind.REASSIGNMENT, "{}", "sha256:0", "id", "now", LOCKED.author, {})
    return replace(record, throttle=record_throttle(store, throttle))


def throttling(
    store: Store, record: OperationRecord, told: Told | None = None, clock: Clock | None = None
) -> Throttling:
    wished = targets(
        sorted({e.partition("/")[2] for e in record.throttle.changes if "topics/" in e}) if record.throttle else ()
    )
    context = zookeeper_context(store, PATHS, clock or Clock(), Told() if told is None else told)
    return Throttling(context, record, ReassignmentWork((wished,), wished, Elect.NONE))


@pytest.fixture
def lease(store: Store) -> Lease:
    seed(store, {"a": {0: (1, 2)}})
    for entity, values in BEFORE.items():
        configure(store, entity, values)
    return Lock(store, PATHS).take(LOCKED, Clock(), 0)


def configs(store: Store) -> dict[str, dict[str, str]]:
    return {entity: found for entity in ENTITIES if (found := config(store, entity))}


def writes_configs(side: Side) -> Callable[[Frame], bool]:
    """Match the multi that writes configs with their notifications, or its reply."""
    asked: list[int] = []

    def matches(frame: Frame) -> bool:
        if frame.side is Side.REQUEST and frame.op == MULTI and b"config_change_" in frame.body:
            asked.append(frame.number)
            return side is Side.REQUEST
        return side is frame.side is Side.REPLY and frame.number in asked

    return matches


@contextmanager
def through_a_proxy(chroot: str) -> Iterator[tuple[FaultProxy, str]]:
    address, _, path = chroot.partition("/")
    host, port = address.split(":")
    with FaultProxy((host, int(port))) as proxy:
        yield proxy, f"{proxy.connect_string}/{path}"


def test_on_and_off_again_is_what_it_was_and_each_entity_is_notified_once_each_way(store: Store, lease: Lease) -> None:
    """Also where /config/brokers does not exist yet, as on 0.10.2."""
    told, record = Told(), recorded(store, targets())
    throttle = throttling(store, record, told)
    throttle.set_up(lease, None)
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
    assert told == ["throttled at 5kB/s: brokers: 3, topics: 1", "the throttle is off: brokers: 3, topics: 1"]


def test_fields_that_kafka_may_add_one_day_are_kept(store: Store, lease: Lease) -> None:
    store.multi([SetData("/config/topics/a", b'{"version":1,"later":[1],"config":{"b":"1"}}', -1)])
    throttle = throttling(store, recorded(store, targets()))
    throttle.set_up(lease, None)
    throttle.take_down(lease, OFF)
    node = store.get("/config/topics/a")
    assert node is not None
    assert node.data == b'{"version":1,"config":{"b":"1"},"later":[1]}'


def test_after_a_crash_what_is_ours_already_is_not_written_again(store: Store, lease: Lease) -> None:
    record = recorded(store, targets())
    throttling(store, record).set_up(lease, None)
    throttling(store, record).set_up(lease, None)
    assert notified(store) == ENTITIES
    throttling(store, record).take_down(lease, OFF)
    throttling(store, record).take_down(lease, OFF)
    assert notified(store) == ENTITIES * 2
    assert configs(store) == BEFORE


def test_killed_between_the_record_and_the_throttle_there_is_nothing_to_take_off(store: Store, lease: Lease) -> None:
    throttling(store, recorded(store, targets())).take_down(lease, OFF)
    assert configs(store) == BEFORE
    assert notified(store) == []


def test_a_value_changed_since_the_record_stops_before_anything_is_written(store: Store, lease: Lease) -> None:
    record = recorded(store, targets())
    configure(store, "brokers/2", {LEADER_RATE: "123"})
    before = configs(store)
    with pytest.raises(BusyError, match=r"brokers/2 leader\.replication\.throttled\.rate = 123"):
        throttling(store, record).set_up(lease, None)
    assert configs(store) == before
    assert notified(store) == []


def test_an_edit_while_copies_run_is_kept_and_told_by_resume_and_at_the_end(store: Store, lease: Lease) -> None:
    """F39: the operator's edit is kept and reported."""
    record, told = recorded(store, targets()), Told()
    throttling(store, record).set_up(lease, None)
    store.multi([Create(PATHS.operation("op"), b""), Create(PATHS.steps("op"), b"")])
    store.multi([Create(PATHS.step("op", 1), encode_step(Step(1, StepKind.WAVE, "now", wave=0)))])
    configure(store, "brokers/2", {**RATES, LEADER_RATE: "777"})
    configure(store, "topics/a", {LEADER_REPLICAS: "7:7,0:1,0:2,8:8", FOLLOWER_REPLICAS: "*"})
    resumed = throttling(store, record, told)
    resumed.set_up(lease, None)
    assert "brokers/2 leader.replication.throttled.rate = 777" in told[0]
    reassigned(store, "a", (1, 3))
    resumed.take_down(lease, OFF)
    assert configs(store) == {
        "brokers/2": {LEADER_RATE: "777"},
        "topics/a": {LEADER_REPLICAS: "7:7,8:8", FOLLOWER_REPLICAS: "*"},
    }
    assert "somebody changed a throttle meanwhile, kept: " in told[2]
    assert "topics/a follower.replication.throttled.replicas = *" in told[2]


@pytest.mark.parametrize("in_isr", [True, False])
def test_it_stays_while_anything_of_the_operation_is_in_flight(store: Store, lease: Lease, in_isr: bool) -> None:  # noqa: FBT001 - a row
    """F39: as seen on the cluster; a target that was reached with a new replica still out of sync copies, too."""
    told, throttle = Told(), throttling(store, recorded(store, targets()))
    throttle.set_up(lease, None)
    if in_isr:
        reassigning(store, "a", (1, 3, 2), (3,))
    else:
        store.multi([SetData("/brokers/topics/a", b'{"version":1,"partitions":{"0":[1,3]}}', -1)])
    leaving = throttling(store, recorded_again(throttle), told)
    leaving.leave(NotCompletedError("The deadline passed."), lease)
    assert configs(store)["brokers/1"] == RATES
    assert told == [f"the throttle stays: a-0 still in flight; {OFF} takes it off later"]
    reassigned(store, "a", (1, 3))
    throttle.take_down(lease, OFF)
    assert configs(store) == BEFORE


def recorded_again(throttle: Throttling) -> OperationRecord:
    return throttle._record


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("way", ["on", "off"])
def test_a_lost_request_or_reply_is_resolved_and_nobody_is_notified_twice(
    store: Store, lease: Lease, chroot: str, side: Side, way: str
) -> None:
    del lease
    Lock(store, PATHS).release_by_hand("op")
    record = recorded(store, targets())
    with through_a_proxy(chroot) as (proxy, connect), Store.connect(connect) as cut:
        lease = Lock(cut, PATHS).take(LOCKED, Clock(), 0)
        throttle = throttling(cut, record)
        if way == "off":
            throttle.set_up(lease, None)
        proxy.faults.append(Fault(Action.CUT_BEFORE, writes_configs(side)))
        if way == "on":
            throttle.set_up(lease, None)
            assert config(store, "brokers/1") == RATES
        reassigned(store, "a", (1, 3))
        throttle.take_down(lease, OFF)
        assert proxy.faults[0].times == 0
    assert configs(store) == BEFORE
    assert notified(store) == ENTITIES * 2


def on_and_off(throttle: Throttling, lease: Lease) -> None:
    throttle.set_up(lease, None)
    throttle.take_down(lease, OFF)


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("nth", [1, 2])
def test_killed_at_any_write_another_machine_restores_every_value(
    store: Store, lease: Lease, chroot: str, side: Side, nth: int
) -> None:
    """F27: throttles are restored, whichever config write the runner died at."""
    del lease
    Lock(store, PATHS).release_by_hand("op")
    record, seen = recorded(store, targets()), 0
    matches = writes_configs(side)

    def the_nth(frame: Frame) -> bool:
        nonlocal seen
        seen += matches(frame)
        return matches(frame) and seen == nth

    with through_a_proxy(chroot) as (proxy, connect), Store.connect(connect, timeout_s=1.0) as dying:
        lease = Lock(dying, PATHS).take(LOCKED, Clock(), 0)
        proxy.faults.append(Fault(Action.CUT_BEFORE, the_nth, then=proxy.refuse))
        with pytest.raises(KadminError):
            on_and_off(throttling(dying, record), lease)
        assert proxy.faults[0].times == 0
    Lock(store, PATHS).release_by_hand("op")
    lease = Lock(store, PATHS).take(LOCKED, Clock(), 0)
    taken_over = throttling(store, record)
    taken_over.set_up(lease, None)
    assert config(store, "brokers/1") == RATES
    reassigned(store, "a", (1, 3))
    taken_over.take_down(lease, OFF)
    assert configs(store) == BEFORE


def test_an_edit_in_the_very_moment_of_our_write_is_seen(store: Store, lease: Lease, chroot: str) -> None:
    """Kafka's own tools check no version: an edit between our read and our write would be lost with them."""
    del lease
    Lock(store, PATHS).release_by_hand("op")
    record = recorded(store, targets())
    with through_a_proxy(chroot) as (proxy, connect), Store.connect(connect) as behind:
        lease = Lock(behind, PATHS).take(LOCKED, Clock(), 0)
        throttle = throttling(behind, record)
        throttle.set_up(lease, None)
        edit = {"retention.ms": "8", LEADER_REPLICAS: "7:7,0:1,0:2,9:9", FOLLOWER_REPLICAS: "0:3"}
        proxy.faults.append(
            Fault(Action.CALL, writes_configs(Side.REQUEST), then=lambda: configure(store, "topics/a", edit))
        )
        reassigned(store, "a", (1, 3))
        throttle.take_down(lease, OFF)
    assert config(store, "topics/a") == {"retention.ms": "8", LEADER_REPLICAS: "7:7,9:9"}


def test_without_the_lock_nothing_is_written_and_it_is_said_to_stay(store: Store, lease: Lease, chroot: str) -> None:
    """F38: the lock released by hand."""
    told = Told()
    throttle = throttling(store, recorded(store, targets()), told)
    throttle.set_up(lease, None)
    with Store.connect(chroot) as other:
        Lock(other, PATHS).release_by_hand("op")
    with pytest.raises(LostLockError):
        throttle.take_down(lease, OFF)
    assert config(store, "brokers/1") == RATES
    throttle.leave(LostLockError("The lock is no longer ours."), lease)
    assert told[1:] == [
        f"the throttle stays: the cluster cannot be asked, or the lock is no longer ours; {OFF} takes it off later"
    ]


def test_the_configs_of_a_deleted_topic_are_not_made_again(store: Store, lease: Lease) -> None:
    record = recorded(store, targets())
    gone = ["/partitions/0/state", "/partitions/0", "/partitions", ""]
    store.multi([Delete(f"/brokers/topics/a{below}", -1) for below in gone] + [Delete("/config/topics/a", -1)])
    throttle = throttling(store, record)
    throttle.set_up(lease, None)
    throttle.take_down(lease, OFF)
    assert store.exists("/config/topics/a") is None
    assert config(store, "brokers/1") == {}


def test_a_command_that_ends_with_nothing_in_flight_has_taken_it_off(store: Store, chroot: str, tmp_path: Path) -> None:
    """At every exit: here the deadline, on a cluster that has no controller; resume sets it again and takes it off."""
    seed(store, {"a": {0: (1, 2)}})
    store.multi([Create("/cluster", b""), Create("/cluster/id", b'{"id":"x"}')])
    plan = document(tmp_path / "plan.yaml", reassignment("a", {0: [1, 3]}, throttle={"rate": "5kB/s"}))
    late = command("apply", plan, "-z", chroot, "--yes", "--timeout", "0")
    assert late.status == 8, late.err
    assert "throttled at 5kB/s" in late.err
    assert "the throttle is off" in late.err
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


class Hours(Clock):
    """A clock whose waits pass at once."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def wait(self, seconds: float) -> None:
        self.time += seconds


def test_no_more_than_a_thousand_notifications_a_minute(store: Store) -> None:
    topics = [f"t{number:04d}" for number in range(PER_MINUTE + 100)]
    seed(store, {topic: {0: (1, 2)} for topic in topics})
    lease = Lock(store, PATHS).take(LOCKED, Clock(), 0)
    record = recorded(store, targets(topics))
    clock = Hours()
    with pytest.raises(NotCompletedError, match="deadline"):
        throttling(store, record, clock=clock).set_up(lease, deadline=59.0)
    assert clock.time == 0, "no wait for what the deadline forbids"
    assert PER_MINUTE - 50 <= len(notified(store)) <= PER_MINUTE
    throttle = throttling(store, record, clock=clock)
    throttle.set_up(lease, None)
    assert clock.time == 0, "what is set is not set again"
    throttle.take_down(lease, OFF)
    assert clock.time >= 60
    assert len(notified(store)) == 2 * (len(topics) + 3)


def test_with_ten_thousand_notifications_waiting_none_is_added(store: Store, lease: Lease) -> None:
    told = Told()
    set_before = throttling(store, recorded(store, targets()), told)
    set_before.set_up(lease, None)
    before = configs(store)
    for _ in range(MANY_CONFIG_CHANGES // 1000):
        store.multi([Create("/config/changes/config_change_", b"{}", sequential=True)] * 1000)
    with pytest.raises(BusyError, match="10004 notifications"):
        set_before.take_down(lease, OFF)
    set_before.leave(NotCompletedError("The deadline passed."), lease)
    assert told[1].startswith("the throttle stays: /config/changes holds 10004 notifications")
    assert configs(store) == before


def test_large_configs_go_in_groups_that_fit_a_packet(store: Store) -> None:
    topics = ["a", "b", "c"]
    seed(store, {topic: {0: (1, 2)} for topic in topics})
    for topic in topics:
        configure(store, f"topics/{topic}", {"x": topic * 300_000})
    lease = Lock(store, PATHS).take(LOCKED, Clock(), 0)
    throttle = throttling(store, recorded(store, targets(topics)))
    throttle.set_up(lease, None)
    assert [config(store, f"topics/{topic}")[FOLLOWER_REPLICAS] for topic in topics] == ["0:3"] * 3
    throttle.take_down(lease, OFF)
    assert config(store, "topics/b") == {"x": "b" * 300_000}


def test_an_entity_that_never_stands_still_is_named(store: Store, lease: Lease, chroot: str) -> None:
    del lease
    Lock(store, PATHS).release_by_hand("op")
    edits = iter(range(100))
    with through_a_proxy(chroot) as (proxy, connect), Store.connect(connect) as behind:
        lease = Lock(behind, PATHS).take(LOCKED, Clock(), 0)
        throttle = throttling(behind, recorded(store, targets()))

        def edit() -> None:
            configure(store, "topics/a", {LEADER_REPLICAS: "7:7", "x": str(next(edits))})

        proxy.faults.append(Fault(Action.CALL, writes_configs(Side.REQUEST), times=99, then=edit))
        with pytest.raises(BusyError, match=r"brokers/1, .*topics/a keep changing"):
            throttle.set_up(lease, None)
    assert config(store, "brokers/1") == {}, "all or nothing"
