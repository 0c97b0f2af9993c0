"""throttle show, set, clear and audit on a real ZooKeeper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.answers import violations
from support.cli.in_process import command
from support.cluster.states import tp
from support.stores import OPERATION
from support.zookeeper.znode_cluster import (
    config,
    configure,
    notified,
    reassigned,
    reassigning,
    seed,
)

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.documents import dump_json
from kadmin.documents.dump import plan_digest
from kadmin.errors import BusyError, NotCompletedError, StalePlanError
from kadmin.operations.context import Clock
from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import (
    Author,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
    ThrottleRecord,
)
from kadmin.operations.throttles.audit import AuditedThrottle, Origin, ThrottledEntity, audit, show
from kadmin.operations.throttles.by_hand import (
    HOLDER,
    Planned,
    Scope,
    Written,
    plan_clear,
    plan_set,
    write_planned,
)
from kadmin.operations.throttles.changes import record_throttle, still_throttled
from kadmin.operations.throttles.operation import Throttling
from kadmin.plan.copying import throttle_of
from kadmin.plan.model import (
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    ThrottleBy,
    ThrottleSpec,
)
from kadmin.plan.throttle import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
    MAY_RETURN,
    ConfigChange,
)
from kadmin.report.throttles import (
    audit_answer,
    audit_text,
    throttles_answer,
    throttles_text,
    written_answer,
    written_text,
)
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.model import Create
from kadmin.worlds.zookeeper.reader import read_cluster
from kadmin.worlds.zookeeper.values.lock import ZnodeLock
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from kadmin.plan.throttle import ConfigChanges
    from kadmin.worlds.zookeeper.context import ZooKeeperContext
    from kadmin.worlds.zookeeper.wire.store import Store

TOPIC_A = ConfigEntity.of_topic("a")
BROKER_1 = ConfigEntity.of_broker(1)
BROKER_2 = ConfigEntity.of_broker(2)
pytestmark = pytest.mark.zookeeper

PATHS = Paths()
ANN = Author("ann", "host-a", 7)
RATES = {LEADER_RATE: "5000", FOLLOWER_RATE: "5000"}
EVERYTHING = {LEADER_REPLICAS: "*", FOLLOWER_REPLICAS: "*"}
KAFKA = (
    ("/controller", b'{"version":1,"brokerid":1,"timestamp":"1"}'),
    ("/cluster", b""),
    ("/cluster/id", b'{"id":"x"}'),
)


@pytest.fixture
def context(store: Store) -> ZooKeeperContext:
    seed(store, {"a": {0: (1, 2)}, "b": {0: (2, 3)}})
    store.multi([Create(path, data) for path, data in KAFKA])
    return zookeeper_context(store, PATHS, Clock(), lambda _: None)


def written(
    context: ZooKeeperContext, scope: Scope, rate: int | None, *, now: bool = False
) -> ConfigChanges:
    """Set, or with no rate clear, and check both forms of the answer."""

    def plan() -> Planned:
        return (
            plan_clear(context, scope, now=now) if rate is None else plan_set(context, scope, rate)
        )

    found = write_planned(context, plan, 0)
    assert found.kept == ()
    for schema in ("throttle-set", "throttle-clear"):
        assert violations(written_answer(found), schema) == []
    assert MAY_RETURN not in written_text(found, by_api=False)
    removed = any(
        key in RATES and each.ours is None
        for keys in found.planned.changes.values()
        for key, each in keys.items()
    )
    assert (MAY_RETURN in written_text(found, by_api=True)) == removed
    assert context.store.exists(PATHS.lock) is None
    return found.planned.changes


def operation(context: ZooKeeperContext, state: OperationState) -> OperationRecord:
    """Record an operation that throttles a-0, set its throttle, and leave it in a state."""
    target = PartitionTarget(tp("a-0"), (1, 3), (1, 2))
    throttle = throttle_of(
        ThrottleSpec(ThrottleBy.RATE, 5000), [[target]], read_cluster(context.store), {}
    )
    plan = ReassignmentPlan(PlanHeader(), (target,))
    origin = {tp("a-0"): (1, 2)}
    record = OperationRecord(
        OPERATION,
        OperationKind.REASSIGNMENT,
        dump_json(plan),
        plan_digest(plan),
        "x",
        "now",
        ANN,
        origin,
        ((0,),),
    )
    record = replace(record, throttle=record_throttle(context.backend, throttle))
    lease = ZnodeLock(context.store, PATHS, Clock()).take(Holder(ANN, OPERATION, "now", 10.0), 0)
    context.operations.create(record, lease, "now")
    Throttling(context, record, spec_of(record)).set_up(lease)
    if state is not OperationState.RUNNING:
        context.operations.set_status(OPERATION, OperationStatus(state, "now"), lease)
    ZnodeLock(context.store, PATHS, Clock()).release(lease)
    return record


def test_whole_topics_are_throttled_at_the_brokers_that_hold_them(
    context: ZooKeeperContext,
) -> None:
    configure(context.store, "topics/a", {LEADER_REPLICAS: "0:9", "retention.ms": "7"})
    changes = written(context, Scope(topics=("a",)), 5000)
    assert changes[TOPIC_A] == {
        LEADER_REPLICAS: ConfigChange("0:9", "*"),
        FOLLOWER_REPLICAS: ConfigChange(None, "*"),
    }
    assert config(context.store, "topics/a") == {**EVERYTHING, "retention.ms": "7"}
    assert config(context.store, "brokers/1") == config(context.store, "brokers/2") == RATES
    assert config(context.store, "brokers/3") == {}
    assert written(context, Scope(topics=("a",)), 5000) == {}, "what is set is not set again"
    assert notified(context.store) == ["brokers/1", "brokers/2", "topics/a"]


def test_named_brokers_get_the_rate_and_no_list(context: ZooKeeperContext) -> None:
    assert set(written(context, Scope(brokers=(3,)), 5000)) == {ConfigEntity.of_broker(3)}
    assert set(written(context, Scope(brokers=(1,), topics=("b",)), 5000)) == {
        BROKER_1,
        ConfigEntity.of_topic("b"),
    }


def test_with_nothing_in_flight_and_nothing_named_there_is_nothing_to_set(
    context: ZooKeeperContext,
) -> None:
    assert written(context, Scope(), 5000) == {}
    assert notified(context.store) == []


def test_what_is_in_flight_is_throttled_its_new_replicas_as_receivers(
    context: ZooKeeperContext,
) -> None:
    reassigning(context.store, "a", (3, 1, 2), (3,))
    written(context, Scope(), 5000)
    assert config(context.store, "topics/a") == {
        LEADER_REPLICAS: "0:1,0:2",
        FOLLOWER_REPLICAS: "0:3",
    }
    assert all(config(context.store, f"brokers/{broker}") == RATES for broker in (1, 2, 3))
    with pytest.raises(BusyError, match="a-0"):
        plan_clear(context, Scope(), now=False)
    written(context, Scope(), None, now=True)
    assert show(context) == ()


def test_unknown_names_are_refused(context: ZooKeeperContext) -> None:
    with pytest.raises(StalePlanError, match="topic x, broker 9"):
        plan_set(context, Scope(brokers=(1, 9), topics=("a", "x")), 5000)


def test_only_what_is_named_is_cleared_of_dead_brokers_and_deleted_topics_too(
    context: ZooKeeperContext,
) -> None:
    configure(context.store, "brokers/77", {**RATES, "other": "1"})
    configure(context.store, "topics/gone", EVERYTHING)
    configure(context.store, "topics/a", EVERYTHING)
    found = show(context)
    assert {each.entity: each.present for each in found} == {
        TOPIC_A: True,
        ConfigEntity.of_topic("gone"): False,
        ConfigEntity.of_broker(77): False,
    }
    assert violations(throttles_answer(found), "throttle-show") == []
    assert "brokers/77" in throttles_text(found)
    written(context, Scope(brokers=(77,), topics=("gone",)), None)
    assert show(context) == (ThrottledEntity(TOPIC_A, EVERYTHING, present=True),)
    assert config(context.store, "brokers/77") == {"other": "1"}
    written(context, Scope(), None)
    assert throttles_text(show(context)) == "no throttles"


def test_clearing_brings_back_what_an_operation_had_replaced(context: ZooKeeperContext) -> None:
    configure(context.store, "brokers/2", {LEADER_RATE: "99"})
    configure(context.store, "topics/a", {LEADER_REPLICAS: "8:8"})
    operation(context, OperationState.FAILED)
    findings = audit(context)
    assert {each.origin for each in findings} == {Origin.LEFT_OVER}
    assert {str(each.next_step) for each in findings} == {
        "kadmin throttle clear --topic a",
        "kadmin throttle clear --broker 1",
        "kadmin throttle clear --broker 2",
        "kadmin throttle clear --broker 3",
    }
    told = written_text(Written(plan_clear(context, Scope(), now=False)), by_api=False)
    assert (
        f"brokers/2 {LEADER_RATE} is restored to its value before operation {OPERATION}: 99 B/s; "
        "to remove that as well: kadmin throttle clear"
    ) in told
    assert "brokers/1" not in told.split("restored")[0].splitlines()[-1]
    written(context, Scope(), None)
    assert {each.entity: each.values for each in show(context)} == {
        BROKER_2: {LEADER_RATE: "99"},
        TOPIC_A: {LEADER_REPLICAS: "8:8"},
    }
    found = audit(context)
    assert {(each.origin, str(each.next_step)) for each in found} == {
        (Origin.NOT_ON_RECORD, "kadmin throttle clear --topic a"),
        (Origin.NOT_ON_RECORD, "kadmin throttle clear --broker 2"),
    }


def test_an_operation_that_removed_its_throttle_owns_no_later_value(
    context: ZooKeeperContext,
) -> None:
    configure(context.store, "brokers/2", {LEADER_RATE: "99"})
    operation(context, OperationState.RUNNING)
    lease = ZnodeLock(context.store, PATHS, Clock()).take(Holder(ANN, OPERATION, "now", 10.0), 0)
    removed = OperationStatus(OperationState.PAUSED, "now", throttle_removed=True)
    context.operations.set_status(OPERATION, removed, lease)
    assert Origin.IN_USE in {each.origin for each in audit(context)}, (
        "a paused operation sets it again"
    )
    context.operations.set_status(
        OPERATION, replace(removed, state=OperationState.CANCELLED), lease
    )
    ZnodeLock(context.store, PATHS, Clock()).release(lease)
    assert {(each.origin, each.operation_id) for each in audit(context)} == {
        (Origin.NOT_ON_RECORD, None)
    }
    assert plan_clear(context, Scope(), now=False).restored == {}, (
        "a value set by hand is cleared, not restored"
    )


def test_the_default_of_all_brokers_is_cleared_alone(
    context: ZooKeeperContext, chroot: str
) -> None:
    """With the command that the audit advises."""
    configure(context.store, "brokers/<default>", {LEADER_RATE: "7"})
    configure(context.store, "brokers/2", {LEADER_RATE: "99"})
    advised = next(str(each.next_step) for each in audit(context) if each.entity == DEFAULT_ENTITY)
    assert advised == "kadmin throttle clear --broker default"
    cleared = command(*advised.split()[1:], "-z", chroot, "--yes")
    assert cleared.status == 0, cleared.err
    assert [each.entity for each in show(context)] == [BROKER_2]
    assert command("throttle", "clear", "--broker", "x", "-z", chroot, "--yes").status == 64


def test_the_audit_tells_in_use_changed_and_taken_away_apart(context: ZooKeeperContext) -> None:
    configure(context.store, "brokers/2", {LEADER_RATE: "99"})
    operation(context, OperationState.RUNNING)
    configure(context.store, "brokers/1", {LEADER_RATE: "7", FOLLOWER_RATE: "5000"})
    configure(context.store, "brokers/2", {FOLLOWER_RATE: "5000"})
    configure(context.store, "brokers/9", {LEADER_RATE: "7"})
    findings = audit(context)
    assert AuditedThrottle(BROKER_1, LEADER_RATE, "7", Origin.CHANGED, OPERATION) in findings
    assert AuditedThrottle(BROKER_1, FOLLOWER_RATE, "5000", Origin.IN_USE, OPERATION) in findings
    assert AuditedThrottle(BROKER_2, LEADER_RATE, None, Origin.CHANGED, OPERATION) in findings
    assert (
        AuditedThrottle(ConfigEntity.of_broker(9), LEADER_RATE, "7", Origin.NOT_ON_RECORD)
        in findings
    )
    assert AuditedThrottle(TOPIC_A, FOLLOWER_REPLICAS, "0:3", Origin.IN_USE, OPERATION) in findings
    assert violations(audit_answer(findings), "throttle-audit") == []
    assert audit_text(findings).splitlines()[-2:] == [
        f"next: kadmin resume {OPERATION}",
        "next: kadmin throttle clear --broker 9",
    ]


def test_the_audit_leaves_what_a_runner_has_set_to_the_runner(context: ZooKeeperContext) -> None:
    operation(context, OperationState.RUNNING)
    lease = context.operations.lock.take(Holder(ANN, OPERATION, "now", 10.0), 0)
    findings = audit(context)
    assert {(each.origin, each.runner, str(each.next_step)) for each in findings} == {
        (Origin.IN_USE, True, "kadmin status")
    }
    assert violations(audit_answer(findings), "throttle-audit") == []
    context.operations.lock.release(lease)
    assert {str(each.next_step) for each in audit(context)} == {f"kadmin resume {OPERATION}"}


def test_an_unfinished_operation_whose_copies_run_keeps_its_throttle(
    context: ZooKeeperContext,
) -> None:
    """Up to 2.3 only the record tells: the topic znode holds the bare union of both lists."""
    operation(context, OperationState.RUNNING)
    reassigned(context.store, "a", (1, 2, 3))
    with pytest.raises(BusyError, match="a-0"):
        plan_clear(context, Scope(), now=False)


def test_a_held_lock_is_named(context: ZooKeeperContext) -> None:
    lease = ZnodeLock(context.store, PATHS, Clock()).take(Holder(ANN, "op-of-ann", "now", 10.0), 0)
    del lease
    with type(context.store).connect(context.store.connect_string) as other:
        elsewhere = zookeeper_context(other, PATHS, context.clock, context.tell)
        with pytest.raises(BusyError, match="op-of-ann"):
            write_planned(elsewhere, lambda: plan_set(elsewhere, Scope(brokers=(1,)), 5), 0)
    assert notified(context.store) == []


def test_the_lock_says_what_it_is_held_for(context: ZooKeeperContext) -> None:
    held: list[bytes | None] = []

    def plan() -> Planned:
        node = context.store.get(PATHS.lock)
        held.append(None if node is None else node.data)
        return Planned({})

    write_planned(context, plan, 0)
    assert held[0] is not None
    assert f'"operation_id": "{HOLDER}"'.encode() in held[0]


def test_more_than_a_minute_may_take_is_told(context: ZooKeeperContext) -> None:
    changes = {
        ConfigEntity.of_broker(number): {LEADER_RATE: ConfigChange(None, "5")}
        for number in range(1001)
    }
    context.clock.until = context.clock.now() + 5
    with pytest.raises(NotCompletedError, match="before every throttle"):
        write_planned(context, lambda: Planned(changes), 0)


def test_what_is_written_unseen_says_so_and_what_is_not_written_names_the_command() -> None:
    planned = Planned(
        {BROKER_2: {LEADER_RATE: ConfigChange(None, None)}}, unseen=frozenset({BROKER_2})
    )
    done, failed = (
        Written(planned),
        Written(planned, left=still_throttled("may remain", {BROKER_2: "no listener"})),
    )
    assert "(not known)" in written_text(done, by_api=True)
    assert "next: kadmin throttle show" in written_text(done, by_api=True)
    assert "next:" not in written_text(failed, by_api=True), "the error has the next command"
    (change,) = written_answer(done).changes
    assert (change.before, change.seen, change.restored_from) == (None, False, None)
    assert failed.left is not None
    assert failed.left.exit_code == 8
    assert failed.left.next_command == "kadmin throttle clear --broker 2, when they answer"


def test_a_throttle_record_holds_just_what_it_changes(context: ZooKeeperContext) -> None:
    configure(context.store, "brokers/1", {**RATES, LEADER_RATE: "9"})
    record = operation(context, OperationState.FAILED)
    assert isinstance(record.throttle, ThrottleRecord)
    assert record.throttle.changes[BROKER_1] == {LEADER_RATE: ConfigChange("9", "5000")}
