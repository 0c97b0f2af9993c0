"""throttle show, set, clear and audit on a real ZooKeeper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from states import tp
from znode_cluster import config, configure, notified, reassigned, reassigning, seed

from kadmin.cluster.model import Create
from kadmin.cluster.reader import read_cluster
from kadmin.documents import dump_json, plan_digest
from kadmin.errors import BusyError, NotCompletedError, StalePlanError
from kadmin.operations.clock import Clock
from kadmin.operations.lock import Holder, release, take
from kadmin.operations.record import (
    Author,
    Kind,
    OperationRecord,
    OperationState,
    OperationStatus,
    Paths,
    ThrottleRecord,
)
from kadmin.operations.runner import Desk
from kadmin.operations.service import Bounds
from kadmin.operations.throttle import Throttling, record_throttle
from kadmin.operations.throttle_audit import Finding, Origin, ThrottledEntity, audit, show
from kadmin.operations.throttle_by_hand import HOLDER, Scope, plan_clear, plan_set, write_planned
from kadmin.operations.work import work_of
from kadmin.plan.copying import throttle_of
from kadmin.plan.model import PlanHeader, Reassignment, ReassignmentPlan, ThrottleBy, ThrottleWish
from kadmin.plan.throttle import FOLLOWER_RATE, FOLLOWER_REPLICAS, LEADER_RATE, LEADER_REPLICAS, ConfigChange
from kadmin.report.throttles import (
    audit_answer,
    audit_text,
    throttles_answer,
    throttles_text,
    written_answer,
    written_text,
)
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from kadmin.cluster.store import Store
    from kadmin.plan.throttle import ConfigChanges

pytestmark = pytest.mark.zookeeper

PATHS = Paths()
ANN = Author("ann", "host-a", 7)
NO_END = Bounds(None, 0)
RATES = {LEADER_RATE: "5000", FOLLOWER_RATE: "5000"}
EVERYTHING = {LEADER_REPLICAS: "*", FOLLOWER_REPLICAS: "*"}
KAFKA = (
    ("/controller", b'{"version":1,"brokerid":1,"timestamp":"1"}'),
    ("/cluster", b""),
    ("/cluster/id", b'{"id":"x"}'),
)


@pytest.fixture
def desk(store: Store) -> Desk:
    seed(store, {"a": {0: (1, 2)}, "b": {0: (2, 3)}})
    store.multi([Create(path, data) for path, data in KAFKA])
    return Desk(store, PATHS, Clock(), lambda _: None)


def written(desk: Desk, scope: Scope, rate: int | None, *, now: bool = False) -> ConfigChanges:
    """Set, or with no rate clear, and check both forms of the answer."""

    def plan() -> ConfigChanges:
        return plan_clear(desk, scope, now=now) if rate is None else plan_set(desk, scope, rate)

    found = write_planned(desk, plan, NO_END)
    assert found.kept == ()
    for schema in ("throttle-set", "throttle-clear"):
        assert validate_value(written_answer(found), f"answers/{schema}") == []
    assert written_text(found)
    assert desk.store.exists(PATHS.lock) is None
    return found.changes


def operation(desk: Desk, state: OperationState) -> OperationRecord:
    """Record an operation that throttles a-0, set its throttle, and leave it in a state."""
    wish = Reassignment(tp("a-0"), (1, 3), (1, 2))
    throttle = throttle_of(ThrottleWish(ThrottleBy.RATE, 5000), [[wish]], read_cluster(desk.store), {})
    plan = ReassignmentPlan(PlanHeader(), (wish,))
    origin = {tp("a-0"): (1, 2)}
    record = OperationRecord(
        "op", Kind.REASSIGNMENT, dump_json(plan), plan_digest(plan), "x", "now", ANN, origin, ((0,),)
    )
    record = replace(record, throttle=record_throttle(desk.store, throttle))
    lease = take(desk.store, PATHS, Holder(ANN, "op", "now", 10.0), Clock(), 0)
    desk.journal.create(record, lease, "now")
    Throttling(desk, record, work_of(record)).set_up(lease, None)
    if state is not OperationState.RUNNING:
        desk.journal.set_status("op", OperationStatus(state, "now"), lease)
    release(desk.store, PATHS, lease)
    return record


def test_whole_topics_are_throttled_at_the_brokers_that_hold_them(desk: Desk) -> None:
    configure(desk.store, "topics/a", {LEADER_REPLICAS: "0:9", "retention.ms": "7"})
    changes = written(desk, Scope(topics=("a",)), 5000)
    assert changes["topics/a"] == {
        LEADER_REPLICAS: ConfigChange("0:9", "*"),
        FOLLOWER_REPLICAS: ConfigChange(None, "*"),
    }
    assert config(desk.store, "topics/a") == {**EVERYTHING, "retention.ms": "7"}
    assert config(desk.store, "brokers/1") == config(desk.store, "brokers/2") == RATES
    assert config(desk.store, "brokers/3") == {}
    assert written(desk, Scope(topics=("a",)), 5000) == {}, "what is set is not set again"
    assert notified(desk.store) == ["brokers/1", "brokers/2", "topics/a"]


def test_named_brokers_get_the_rate_and_no_list(desk: Desk) -> None:
    assert set(written(desk, Scope(brokers=(3,)), 5000)) == {"brokers/3"}
    assert set(written(desk, Scope(brokers=(1,), topics=("b",)), 5000)) == {"brokers/1", "topics/b"}


def test_with_nothing_in_flight_and_nothing_named_there_is_nothing_to_set(desk: Desk) -> None:
    assert written(desk, Scope(), 5000) == {}
    assert notified(desk.store) == []


def test_what_is_in_flight_is_throttled_its_new_replicas_as_receivers(desk: Desk) -> None:
    reassigning(desk.store, "a", (3, 1, 2), (3,))
    written(desk, Scope(), 5000)
    assert config(desk.store, "topics/a") == {LEADER_REPLICAS: "0:1,0:2", FOLLOWER_REPLICAS: "0:3"}
    assert all(config(desk.store, f"brokers/{broker}") == RATES for broker in (1, 2, 3))
    with pytest.raises(BusyError, match="a-0"):
        plan_clear(desk, Scope(), now=False)
    written(desk, Scope(), None, now=True)
    assert show(desk) == ()


def test_unknown_names_are_refused(desk: Desk) -> None:
    with pytest.raises(StalePlanError, match="topic x, broker 9"):
        plan_set(desk, Scope(brokers=(1, 9), topics=("a", "x")), 5000)


def test_only_what_is_named_is_cleared_of_dead_brokers_and_deleted_topics_too(desk: Desk) -> None:
    configure(desk.store, "brokers/77", {**RATES, "other": "1"})
    configure(desk.store, "topics/gone", EVERYTHING)
    configure(desk.store, "topics/a", EVERYTHING)
    found = show(desk)
    assert {each.entity: each.present for each in found} == {
        "topics/a": True,
        "topics/gone": False,
        "brokers/77": False,
    }
    assert validate_value(throttles_answer(found), "answers/throttle-show") == []
    assert "brokers/77" in throttles_text(found)
    written(desk, Scope(brokers=(77,), topics=("gone",)), None)
    assert show(desk) == (ThrottledEntity("topics/a", EVERYTHING, present=True),)
    assert config(desk.store, "brokers/77") == {"other": "1"}
    written(desk, Scope(), None)
    assert throttles_text(show(desk)) == "no throttles"


def test_clearing_brings_back_what_an_operation_had_replaced(desk: Desk) -> None:
    configure(desk.store, "brokers/2", {LEADER_RATE: "99"})
    configure(desk.store, "topics/a", {LEADER_REPLICAS: "8:8"})
    operation(desk, OperationState.FAILED)
    findings = audit(desk)
    assert {each.origin for each in findings} == {Origin.LEFT_OVER}
    assert {each.next_command for each in findings} == {
        "kadmin throttle clear --topic a",
        "kadmin throttle clear --broker 1",
        "kadmin throttle clear --broker 2",
        "kadmin throttle clear --broker 3",
    }
    written(desk, Scope(), None)
    assert {each.entity: each.values for each in show(desk)} == {
        "brokers/2": {LEADER_RATE: "99"},
        "topics/a": {LEADER_REPLICAS: "8:8"},
    }
    assert {each.origin for each in audit(desk)} == {Origin.NOT_ON_RECORD}


def test_the_audit_tells_in_use_changed_and_taken_away_apart(desk: Desk) -> None:
    configure(desk.store, "brokers/2", {LEADER_RATE: "99"})
    operation(desk, OperationState.RUNNING)
    configure(desk.store, "brokers/1", {LEADER_RATE: "7", FOLLOWER_RATE: "5000"})
    configure(desk.store, "brokers/2", {FOLLOWER_RATE: "5000"})
    configure(desk.store, "brokers/9", {LEADER_RATE: "7"})
    findings = audit(desk)
    assert Finding("brokers/1", LEADER_RATE, "7", Origin.CHANGED, "op") in findings
    assert Finding("brokers/1", FOLLOWER_RATE, "5000", Origin.IN_USE, "op") in findings
    assert Finding("brokers/2", LEADER_RATE, None, Origin.CHANGED, "op") in findings
    assert Finding("brokers/9", LEADER_RATE, "7", Origin.NOT_ON_RECORD) in findings
    assert Finding("topics/a", FOLLOWER_REPLICAS, "0:3", Origin.IN_USE, "op") in findings
    assert validate_value(audit_answer(findings), "answers/throttle-audit") == []
    assert audit_text(findings).endswith("next: kadmin resume op")


def test_an_unfinished_operation_whose_copies_run_keeps_its_throttle(desk: Desk) -> None:
    """Up to 2.3 only the record tells: the topic znode holds the bare union of both lists."""
    operation(desk, OperationState.RUNNING)
    reassigned(desk.store, "a", (1, 2, 3))
    with pytest.raises(BusyError, match="a-0"):
        plan_clear(desk, Scope(), now=False)


def test_a_held_lock_is_named(desk: Desk) -> None:
    lease = take(desk.store, PATHS, Holder(ANN, "op-of-ann", "now", 10.0), Clock(), 0)
    del lease
    with type(desk.store).connect(desk.store.connect_string) as other:
        elsewhere = replace(desk, store=other)
        with pytest.raises(BusyError, match="op-of-ann"):
            write_planned(elsewhere, lambda: plan_set(elsewhere, Scope(brokers=(1,)), 5), NO_END)
    assert notified(desk.store) == []


def test_the_lock_says_what_it_is_held_for(desk: Desk) -> None:
    held: list[bytes | None] = []

    def plan() -> ConfigChanges:
        node = desk.store.get(PATHS.lock)
        held.append(None if node is None else node.data)
        return {}

    write_planned(desk, plan, NO_END)
    assert held[0] is not None
    assert f'"operation_id": "{HOLDER}"'.encode() in held[0]


def test_more_than_a_minute_may_take_is_told(desk: Desk) -> None:
    changes = {f"brokers/{number}": {LEADER_RATE: ConfigChange(None, "5")} for number in range(1001)}
    with pytest.raises(NotCompletedError, match="Not every throttle"):
        write_planned(desk, lambda: changes, Bounds(desk.clock.now() + 5, 0))


def test_a_throttle_record_holds_just_what_it_changes(desk: Desk) -> None:
    configure(desk.store, "brokers/1", {**RATES, LEADER_RATE: "9"})
    record = operation(desk, OperationState.FAILED)
    assert isinstance(record.throttle, ThrottleRecord)
    assert record.throttle.changes["brokers/1"] == {LEADER_RATE: ConfigChange("9", "5000")}
