"""Findings on clusters in KRaft mode, and what is no finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from support.cluster.states import cluster, moving, tp

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.cluster.model import Broker, Controller, Grant, QuorumMember
from kadmin.insight.diagnosis.finding import Trouble
from kadmin.insight.diagnosis.operations import LockHeld, OpenOperation
from kadmin.operations.record.cordon import CordonRecord
from kadmin.plan.throttle import MAY_RETURN
from kadmin.worlds.kafka.doctor.diagnose import diagnose, unchecked
from kadmin.worlds.kafka.doctor.evidence import (
    BlockedUpgrade,
    ClusterLook,
    KafkaEvidence,
    RecordTopic,
    StrayFolders,
    UnansweredRequest,
)

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.insight.diagnosis.finding import Finding

RECORD = RecordTopic("__kadmin")


def following(
    *ids: int, fetched_s_ago: float | None = 0.2, caught_up_s_ago: float | None = 0.2
) -> list[QuorumMember]:
    return [QuorumMember(each, fetched_s_ago, caught_up_s_ago) for each in ids]


def controller(*voters: QuorumMember, observers: tuple[int, ...] = (1, 2, 3, 4)) -> Controller:
    found = voters or tuple(following(101, 102, 103))
    return Controller(101, voters=found, observers=tuple(following(*observers)))


def healthy(assignment: dict[str, Replicas] | None = None, **changes: Any) -> ClusterState:  # noqa: ANN401 - fields of the value
    found = cluster({"foo-0": (1, 2), "foo-1": (2, 3)} if assignment is None else assignment)
    return replace(found, **{"controller": controller(), "fenced_brokers": {}, **changes})


def diagnosed(state: ClusterState, **changes: Any) -> tuple[Finding, ...]:  # noqa: ANN401 - fields of the value
    return diagnose(KafkaEvidence((ClusterLook(state),), **changes))


def only(state: ClusterState, **changes: Any) -> Finding:  # noqa: ANN401 - fields of the value
    (finding,) = diagnosed(state, **changes)
    return finding


def without(state: ClusterState, *brokers: int, fenced: bool) -> ClusterState:
    """Return the state with brokers that are not alive."""
    alive = {number: each for number, each in state.brokers.items() if number not in brokers}
    away = {number: Broker(number, None) for number in brokers} if fenced else {}
    return replace(state, brokers=alive, fenced_brokers=away)


def with_state(
    state: ClusterState, name: str, isr: Replicas, *, elr: Replicas = (), last: Replicas = ()
) -> ClusterState:
    known = replace(
        state.states[tp(name)], leader=isr[0] if isr else -1, isr=isr, elr=elr, last_known_elr=last
    )
    return replace(state, states={**state.states, tp(name): known})


def test_a_healthy_cluster_has_no_finding_and_says_what_no_broker_tells() -> None:
    assert diagnosed(healthy()) == ()
    assert unchecked(KafkaEvidence((ClusterLook(healthy()),))) == ()
    known = ClusterLook(healthy(fenced_brokers=None))
    assert len(unchecked(KafkaEvidence((known,), unavailable=("throttles: no",)))) == 2


def test_folders_of_topics_that_were_deleted_while_a_broker_was_away_are_named() -> None:
    left = (StrayFolders("old", (3,), "op-1"), StrayFolders("older", (3, 4), "op-1"))
    (said,) = unchecked(KafkaEvidence((ClusterLook(healthy()),), stray=left))
    assert "(old on broker 3, by op-1, older on brokers 3, 4, by op-1)" in said
    assert "-stray" in said


def test_what_only_one_of_two_looks_shows_is_no_finding() -> None:
    starting = without(healthy(), 4, fenced=True)
    for looks in ((starting, healthy()), (healthy(), starting)):
        assert diagnose(KafkaEvidence(tuple(map(ClusterLook, looks)))) == ()
    (found,) = diagnose(KafkaEvidence((ClusterLook(starting), ClusterLook(starting))))
    assert found.code is Trouble.FENCED_BROKER
    stopping = without(healthy({"foo-0": (1, 4)}), 4, fenced=False)
    stopped = replace(stopping, controller=controller(observers=(1, 2, 3)))
    (gone,) = diagnose(KafkaEvidence((ClusterLook(stopping), ClusterLook(stopped))))
    assert gone.code is Trouble.MISSING_BROKERS


@pytest.mark.parametrize(
    ("voters", "trouble"),
    [
        (
            (*following(101, 102), *following(103, fetched_s_ago=30.0, caught_up_s_ago=31.0)),
            Trouble.LAGGING_CONTROLLER,
        ),
        ((*following(101, 102), *following(103, caught_up_s_ago=11.0)), Trouble.LAGGING_CONTROLLER),
        (
            (*following(101, 102), *following(103, fetched_s_ago=None, caught_up_s_ago=None)),
            Trouble.LAGGING_CONTROLLER,
        ),
        (
            (*following(101), *following(102, 103, fetched_s_ago=30.0, caught_up_s_ago=31.0)),
            Trouble.NO_QUORUM,
        ),
    ],
)
def test_controllers_that_do_not_follow(voters: tuple[QuorumMember, ...], trouble: Trouble) -> None:
    found = only(healthy(controller=controller(*voters)))
    assert (found.code, found.stops_apply) == (trouble, trouble is Trouble.NO_QUORUM)
    assert found.evidence[0] == "the active controller is 101"
    assert found.evidence[-1].startswith("controller 103 ")


def test_controllers_that_do_not_answer() -> None:
    silent = KafkaEvidence((ClusterLook(healthy(controller=None), "no answer"),))
    (found,) = diagnose(silent)
    assert (found.code, found.stops_apply, found.evidence[-1]) == (
        Trouble.NO_QUORUM,
        True,
        "no answer",
    )
    assert "moves in flight: no controller answers" in unchecked(silent)
    lost_meanwhile = KafkaEvidence((ClusterLook(healthy()), *silent.looks))
    assert [each.code for each in diagnose(lost_meanwhile)] == [Trouble.NO_QUORUM]


def test_brokers_that_are_fenced_missing_or_not_registered() -> None:
    fenced = only(without(healthy({"foo-0": (1, 4)}), 4, fenced=True))
    assert (fenced.code, fenced.stops_apply) == (Trouble.FENCED_BROKER, False)
    assert fenced.evidence == ("broker 4: its process runs, assigned replicas: 1",)
    assert str(fenced.next_step).endswith(
        "to others: kadmin propose decommission --broker 4 --out PLAN"
    )
    unregistered = only(without(healthy({"foo-0": (1, 4)}), 4, fenced=False))
    assert unregistered.code is Trouble.UNREGISTERED_BROKER
    gone = replace(
        without(healthy({"foo-0": (1, 4)}), 4, fenced=False),
        controller=controller(observers=(1, 2, 3)),
    )
    missing = only(gone)
    assert missing.code is Trouble.MISSING_BROKERS
    assert str(missing.next_step).startswith(
        "start broker 4, or move the replicas of one that stays dead to others: "
    )
    assert missing.evidence == (
        "broker 4: its process does not fetch the metadata, assigned replicas: 1",
    )
    unheld = replace(gone, topics={}, states={})
    assert diagnosed(unheld) == ()


def test_a_server_that_fetched_at_this_moment_runs() -> None:
    """0 seconds ago was taken for an unknown time."""
    now = replace(controller(), observers=tuple(following(1, 2, 3, 4, fetched_s_ago=0.0)))
    found = only(replace(without(healthy({"foo-0": (1, 4)}), 4, fenced=False), controller=now))
    assert found.code is Trouble.UNREGISTERED_BROKER


def test_before_4_0_a_live_server_that_does_not_serve_is_named_as_both() -> None:
    found = only(replace(without(healthy(), 4, fenced=False), fenced_brokers=None))
    assert found.code is Trouble.UNREGISTERED_BROKER
    assert "fenced" in found.message


def test_moves_of_nobody_of_the_past_and_of_an_unfinished_operation() -> None:
    state = moving(healthy({"foo-0": (3, 4, 1, 2)}), "foo-0", adding=(3, 4), removing=(1, 2))
    foreign = only(state)
    assert (foreign.code, foreign.stops_apply) == (Trouble.FOREIGN_MOVE, True)
    assert foreign.evidence == ("foo-0: to [3, 4], adding [3, 4], removing [1, 2]",)
    ours, asked = OpenOperation("op-1", "reassignment", "completed then"), {tp("foo-0"): "op-1"}
    late = only(state, past=(ours,), asked=asked)
    assert (late.code, late.stops_apply, late.evidence[0]) == (
        Trouble.LATE_MOVE,
        True,
        "completed then",
    )
    assert "op-1" in late.message
    running = only(state, operations=(ours,), asked=asked, lock=None)
    assert (running.code, str(running.next_step)) == (
        Trouble.UNFINISHED_OPERATION,
        "kadmin resume op-1",
    )
    held, status = diagnosed(state, operations=(ours,), asked=asked, lock=LockHeld("op-1", "me"))
    assert (held.code, str(status.next_step)) == (Trouble.LOCK_HELD, "kadmin status")


def test_a_maintenance_without_a_runner_names_its_stage_and_what_it_waits_for() -> None:
    killed = OpenOperation(
        "op-1",
        "maintenance",
        "interrupted",
        stage="stage 2 of 3: restart broker 3",
        waits_for="stop broker 3 now",
    )
    found = only(healthy(), operations=(killed,))
    assert (found.code, found.stops_apply) == (Trouble.UNFINISHED_OPERATION, True)
    assert found.message == (
        "Operation op-1 (maintenance) is not finished, stage 2 of 3: restart broker 3."
    )
    assert found.evidence == ("interrupted", "waits for: stop broker 3 now")
    assert str(found.next_step) == (
        "continue it, or take it back: kadmin resume op-1, or kadmin cancel op-1"
    )


def test_a_maintenance_that_was_left_to_a_person_is_not_called_unfinished() -> None:
    """It stops an apply all the same, as one whose runner is at work does."""
    left = OpenOperation(
        "op-1", "maintenance", "paused", leaves=True, stage="stage 2 of 3", left=True
    )
    found = only(healthy(), operations=(left,))
    assert (found.code, found.stops_apply) == (Trouble.UNFINISHED_OPERATION, True)
    assert found.message == (
        "Operation op-1 (maintenance) was left at stage 2 of 3, as asked: it waits for a person."
    )
    assert str(found.next_step).endswith(": kadmin resume op-1 --due, or kadmin cancel op-1")


def test_moves_without_a_source_stop_no_apply_and_go_back_when_their_broker_is_there() -> None:
    moved = cluster({"foo-0": (1, 4)}, states={"foo-0": (-1, (4,))})
    state = moving(
        healthy({}, topics=moved.topics, states=moved.states), "foo-0", adding=(1,), removing=(4,)
    )
    over, asked = OpenOperation("op-1", "reassignment", "cancelled then"), {tp("foo-0"): "op-1"}
    end = (
        "start broker 4, without which foo-0 cannot go back; then end them: kadmin cancel --foreign"
    )
    for changes, trouble in (
        ({}, Trouble.FOREIGN_MOVE),
        ({"past": (over,), "asked": asked}, Trouble.LATE_MOVE),
    ):
        found = diagnosed(without(state, 4, fenced=True), **changes)
        (move,) = [each for each in found if each.code is trouble]
        assert not move.stops_apply
        assert str(move.next_step).endswith(end)


def test_moves_that_wait_for_a_broker() -> None:
    state = moving(healthy({"foo-0": (3, 4, 1, 2)}), "foo-0", adding=(3, 4), removing=(1, 2))
    ours, asked = OpenOperation("op-1", "reassignment", "running"), {tp("foo-0"): "op-1"}
    _, stalled, _ = diagnosed(without(state, 4, fenced=True), operations=(ours,), asked=asked)
    assert (stalled.code, stalled.evidence[0]) == (Trouble.STALLED_MOVE, "fenced: 4")
    assert "kadmin cancel op-1 --now" in str(stalled.next_step)
    gone = replace(without(state, 4, fenced=False), controller=controller(observers=(1, 2, 3)))
    _, stalled, foreign = diagnosed(gone)
    assert (stalled.evidence[0], foreign.code) == ("not registered: 4", Trouble.FOREIGN_MOVE)
    assert "kadmin cancel --foreign" in str(stalled.next_step)


def test_moves_are_not_foreign_nor_throttles_left_over_where_operations_were_not_looked_at() -> (
    None
):
    state = moving(healthy({"foo-0": (3, 4, 1, 2)}), "foo-0", adding=(3, 4), removing=(1, 2))
    assert diagnosed(state, records_elsewhere="whose moves") == ()
    throttles = {ConfigEntity.of_broker(1): ("leader.replication.throttled.rate",)}
    assert diagnosed(healthy(), records_elsewhere="whose moves", throttles=throttles) == ()
    assert "whose moves" in unchecked(
        KafkaEvidence((ClusterLook(state),), records_elsewhere="whose moves")
    )
    _, stalled = diagnosed(without(state, 4, fenced=True), records_elsewhere="whose moves")
    assert (stalled.code, stalled.next_step) == (Trouble.STALLED_MOVE, "start the brokers")


def test_requests_that_got_no_answer() -> None:
    state = healthy({"foo-0": (1, 2), "foo-1": (3, 4)})
    targets = {tp("foo-0"): (3, 1), tp("foo-1"): (3, 4), tp("gone-0"): (1, 2)}
    sent = UnansweredRequest(
        "op-1", finished=True, sent_at="then", targets=targets, topic_ids={"foo": None}
    )
    found = only(state, unanswered=(sent,))
    assert (found.code, found.stops_apply) == (Trouble.UNANSWERED_REQUEST, False)
    assert found.evidence == ("sent at then", "foo-0: asked for [3, 1]")
    assert str(found.next_step).startswith("kadmin doctor, again")
    assert (
        str(only(state, unanswered=(replace(sent, finished=False),)).next_step)
        == "kadmin resume op-1"
    )
    for harmless in ({tp("foo-0"): None}, {tp("foo-0"): (1, 2)}):
        assert diagnosed(state, unanswered=(replace(sent, targets=harmless),)) == ()
    assert (
        diagnosed(state, unanswered=(replace(sent, topic_ids={"foo": "of the topic before"}),))
        == ()
    )


def test_offline_partitions_name_who_has_to_come_back() -> None:
    dead = without(healthy({"foo-0": (3, 4)}), 3, 4, fenced=True)
    by_isr = diagnosed(with_state(dead, "foo-0", (), elr=(3,)))[1]
    assert (by_isr.code, by_isr.stops_apply) == (Trouble.OFFLINE_PARTITIONS, False)
    lose = "for those that stay dead, what elections would lose: kadmin propose recovery --out PLAN"
    assert str(by_isr.next_step) == f"start broker 3; {lose}"
    assert by_isr.evidence == ("foo-0: leader -1, ISR [], ELR [3], replicas [3, 4]",)
    lost = diagnosed(with_state(dead, "foo-0", (), last=(4,)))[1]
    assert str(lost.next_step) == f"start broker 4; {lose}"
    assert lost.evidence[-1] == "no replica may lead without a loss: foo-0"


def test_partitions_under_min_isr() -> None:
    state = replace(
        with_state(healthy(), "foo-0", (1,)), topic_configs={"foo": {"min.insync.replicas": "2"}}
    )
    found = only(state)
    assert (found.code, found.evidence) == (
        Trouble.UNDER_MIN_ISR,
        ("foo-0: leader 1, ISR [1], replicas [1, 2]",),
    )
    fenced, short = diagnosed(without(with_state(state, "foo-1", (3,)), 2, fenced=True))
    assert (fenced.code, short.next_step) == (Trouble.FENCED_BROKER, "start broker 2")


def test_a_min_isr_above_the_replication_factor_is_said_as_that() -> None:
    found = only(replace(healthy(), topic_configs={"foo": {"min.insync.replicas": "3"}}))
    assert (found.code, found.evidence[0]) == (
        Trouble.UNDER_MIN_ISR,
        "foo-0: min.insync.replicas 3, replicas [1, 2]",
    )
    assert "above the replication factor" in found.message
    assert str(found.next_step).startswith("kafka-configs.sh --bootstrap-server ")
    assert "--entity-name foo --add-config min.insync.replicas=1; or give" in str(found.next_step)


RECORDED = healthy(
    {"__kadmin-0": (1, 2, 3), "__kadmin-1": (1, 2, 3)},
    topic_configs={"__kadmin": {"min.insync.replicas": "2"}},
)


def test_the_topic_of_records() -> None:
    assert diagnosed(RECORDED, record_topic=RECORD) == ()
    assert diagnosed(healthy(), record_topic=RECORD) == (), "it is made by the first apply"
    wrong = only(
        RECORDED,
        record_topic=replace(
            RECORD, problem="its cleanup.policy is delete", next_step="kafka-configs.sh"
        ),
    )
    assert (wrong.code, wrong.stops_apply) == (Trouble.UNSAFE_RECORD_TOPIC, True)
    assert (wrong.evidence, wrong.next_step) == (
        ("its cleanup.policy is delete",),
        "kafka-configs.sh",
    )
    stopped, _ = diagnosed(with_state(RECORDED, "__kadmin-1", (1,)), record_topic=RECORD)
    assert (stopped.code, stopped.stops_apply) == (Trouble.UNSAFE_RECORD_TOPIC, True)
    assert stopped.evidence == ("__kadmin-1: leader 1, ISR [1], replicas [1, 2, 3]",)


@pytest.mark.parametrize(
    ("grants", "open_by_default", "found"),
    [
        (None, False, False),
        ((), False, False),
        ((), True, True),
        ((Grant("User:kadmin", "WRITE", allows=True),), True, False),
        ((Grant("User:*", "READ", allows=True),), False, False),
        ((Grant("User:*", "WRITE", allows=True),), False, True),
        ((Grant("User:*", "ALL", allows=True),), False, True),
        (
            (Grant("User:*", "ALL", allows=True), Grant("User:*", "WRITE", allows=False)),
            False,
            False,
        ),
    ],
)
def test_rights_on_the_topic_of_records(
    grants: tuple[Grant, ...] | None,
    open_by_default: bool,  # noqa: FBT001
    found: bool,  # noqa: FBT001
) -> None:
    topic = replace(RECORD, grants=grants, open_by_default=open_by_default)
    findings = diagnosed(RECORDED, record_topic=topic)
    assert [each.stops_apply for each in findings] == ([False] if found else [])


def test_hidden_topics_unused_copies_and_leftover_throttles() -> None:
    hidden = only(healthy(), hidden_topics=("secret",))
    assert (hidden.code, "--topic secret" in str(hidden.next_step)) == (Trouble.HIDDEN_TOPICS, True)
    copies = only(healthy(), unused_copies={4: {tp("foo-0"): 2_000_000}})
    assert copies.evidence == ("broker 4: foo-0 (2.00 MB)",)
    throttles = {DEFAULT_ENTITY: ("leader.replication.throttled.rate",)}
    left = only(healthy(), throttles=throttles)
    assert left.evidence == ("brokers/<default>: leader.replication.throttled.rate",)
    own = only(
        healthy(), throttles={ConfigEntity.of_broker(1): ("leader.replication.throttled.rate",)}
    )
    assert own.evidence == ("brokers/1: leader.replication.throttled.rate", MAY_RETURN)
    moves = moving(healthy({"foo-0": (3, 1)}), "foo-0", adding=(3,))
    assert only(moves, throttles=throttles).code is Trouble.FOREIGN_MOVE


RECORDED_CORDON = CordonRecord("ann@host", "2026-03-01T12:00:00Z", None)


def test_a_cordon_names_its_author_or_that_there_is_none_on_record() -> None:
    record = RECORDED_CORDON
    ours = only(healthy(), cordons={4: "*"}, recorded_cordons={4: record})
    assert (ours.code, ours.stops_apply) == (Trouble.CORDONED_BROKER, False)
    assert ours.evidence == (
        "cordoned.log.dirs: *",
        "by kadmin, by ann@host at 2026-03-01T12:00:00Z",
    )
    assert str(ours.next_step) == "kadmin broker uncordon 4"
    assert only(healthy(), cordons={4: "/data"}).evidence[1] == "not by kadmin"
    assert diagnosed(healthy(), recorded_cordons={4: record}) == (), "it was taken off elsewhere"
    found = diagnosed(without(healthy(), 4, fenced=True), recorded_cordons={4: record})
    assert "is cordoned when it is back" in found[-1].message


def test_a_registration_that_blocks_an_upgrade_names_the_way_out() -> None:
    blocked = BlockedUpgrade(4, 33, "Broker 4 only supports versions 7-27")
    found = diagnosed(without(healthy(), 4, fenced=True), blocked_upgrade=blocked)
    assert found[-1].code is Trouble.BLOCKED_UPGRADE
    assert str(found[-1].next_step).startswith("kadmin broker unregister 4")


FENCED_4 = without(healthy(), 4, fenced=True)


def dead(state: ClusterState, fetched_s_ago: float | None) -> ClusterState:
    """Return the state with the last fetch of broker 4 as the active controller gives it."""
    seen = following(4, fetched_s_ago=fetched_s_ago) if fetched_s_ago is not None else ()
    known = controller(observers=(1, 2, 3))
    return replace(state, controller=replace(known, observers=(*known.observers, *seen)))


@pytest.mark.parametrize(
    ("fetched_s_ago", "since"),
    [
        (42.0, "its process last fetched the metadata 42 s ago"),
        (
            None,
            (
                "when its process last fetched the metadata is not known: the active controller "
                "does not list it"
            ),
        ),
    ],
)
def test_a_registration_that_no_list_needs(fetched_s_ago: float | None, since: str) -> None:
    found = only(dead(FENCED_4, fetched_s_ago), disks_known=True)
    assert (found.code, found.stops_apply) == (Trouble.UNUSED_REGISTRATION, False)
    assert found.evidence == (since,)
    assert str(found.next_step).startswith("kadmin broker unregister 4, if it does not come back")


@pytest.mark.parametrize(
    ("state", "changes"),
    [
        (dead(FENCED_4, 42.0), {"disks_known": False}),
        (dead(FENCED_4, 42.0), {"hidden_topics": ("secret",)}),
        (dead(FENCED_4, 1.0), {}),  # its process runs
        (dead(without(healthy({"foo-0": (1, 4)}), 4, fenced=True), 42.0), {}),
    ],
)
def test_a_registration_that_may_be_needed_is_a_fenced_broker(
    state: ClusterState, changes: dict[str, Any]
) -> None:
    found = diagnosed(state, **{"disks_known": True, **changes})
    assert Trouble.UNUSED_REGISTRATION not in {each.code for each in found}
    assert Trouble.FENCED_BROKER in {each.code for each in found}


def test_a_broker_that_is_dead_in_one_of_two_looks_is_not_unregistered() -> None:
    stopped = dead(FENCED_4, 42.0)
    for looks in ((stopped, healthy()), (healthy(), stopped)):
        assert diagnose(KafkaEvidence(tuple(map(ClusterLook, looks)), disks_known=True)) == ()


EMPTY = {"cordons": {4: "*"}, "empty_brokers": frozenset({4}), "disks_known": True}


def test_a_drained_broker_names_both_ways_on() -> None:
    found = only(healthy(), **EMPTY)
    assert (found.code, found.stops_apply) == (Trouble.DRAINED_BROKER, False)
    assert found.evidence == ("its log directories list no replica", "not by kadmin")
    assert str(found.next_step) == (
        "stop it and unregister it, or use it again: kadmin broker unregister 4, or "
        "kadmin broker uncordon 4"
    )


@pytest.mark.parametrize(
    ("state", "changes"),
    [
        (healthy(), {"empty_brokers": frozenset()}),
        (healthy(), {"disks_known": False}),
        (healthy(), {"hidden_topics": ("secret",)}),
        (healthy(), {"cordons": {4: "/data"}}),
        (healthy({"foo-0": (1, 4)}), {}),  # a list names it that has no log yet
        (healthy(controller=controller(*following(3, 4, 5))), {}),  # it is a controller, too
        (healthy(controller=None), {}),
    ],
)
def test_a_cordoned_broker_that_may_hold_something_is_not_called_drained(
    state: ClusterState, changes: dict[str, Any]
) -> None:
    codes = {each.code for each in diagnosed(state, **{**EMPTY, **changes})}
    assert Trouble.CORDONED_BROKER in codes
    assert Trouble.DRAINED_BROKER not in codes


def test_brokers_of_an_unfinished_decommission_have_no_advice_beside_it() -> None:
    leaves = OpenOperation("op-1", "decommission", "paused", leaving=frozenset({4}))
    gone = replace(FENCED_4, fenced_brokers=None)
    for state in (healthy(), dead(FENCED_4, 42.0), dead(gone, 42.0)):
        found = only(state, operations=(leaves,), recorded_cordons={4: RECORDED_CORDON}, **EMPTY)
        assert found.code is Trouble.UNFINISHED_OPERATION
