"""Rules on both sides of a migrating cluster; what live clusters show is in
tests/live/test_migration_traps.py.
"""

from __future__ import annotations

from dataclasses import replace

from kadmin.cluster.model import (
    Broker,
    ClusterState,
    MigrationPhase,
    PartitionState,
    PendingRequest,
    Requests,
    Topic,
    TopicPartition,
)
from kadmin.cluster.names import MIGRATION_SETTING
from kadmin.insight.diagnosis.finding import Finding, MigrationTrouble, Trouble
from kadmin.next_step import command
from kadmin.worlds.zookeeper.doctor.evidence import AdminLook
from kadmin.worlds.zookeeper.migration import MigrationNodes
from kadmin.worlds.zookeeper.model import Znode
from kadmin.worlds.zookeeper.to_kraft.diagnose import (
    PROTOCOL,
    MigrationEvidence,
    diagnose_migration,
    stays_behind,
)
from kadmin.worlds.zookeeper.to_kraft.differences import differences

P0 = TopicPartition("orders", 0)
TOPIC = Topic("orders", {0: (1, 2)})
STATE = ClusterState(
    "one",
    None,
    1,
    {1: Broker(1, None), 2: Broker(2, None)},
    {"orders": TOPIC},
    {P0: PartitionState(1, (1, 2))},
    topic_configs={"orders": {}},
)
REASSIGNMENT = Znode("/admin/reassign_partitions", b"{}", 0)
HEALTHY = MigrationEvidence(
    MigrationPhase.ZOOKEEPER,
    MigrationNodes(None, None, frozenset({1, 2})),
    AdminLook(),
    STATE,
    STATE,
    {1: {PROTOCOL: "3.9-IV0"}, 2: {PROTOCOL: "3.9-IV0"}},
)


def found(evidence: MigrationEvidence, *others: Finding) -> dict[str, bool]:
    """Return the codes of the findings, and whether each stops the migration."""
    return {str(each.code): each.stops_apply for each in diagnose_migration(evidence, others)}


def test_a_healthy_cluster_has_no_findings_in_any_phase() -> None:
    for phase in MigrationPhase:
        assert found(replace(HEALTHY, phase=phase)) == {}


def test_what_doctor_finds_stops_the_migration_where_it_would_lose_something() -> None:
    open_, unused = (
        Finding(code, "there", "do", severity="warning")
        for code in (Trouble.UNFINISHED_OPERATION, Trouble.UNUSED_COPIES)
    )
    assert found(HEALTHY, open_, unused) == {"unfinished-operation": True, "unused-copies": False}


def test_a_reassignment_that_has_begun_is_in_its_topics_and_not_lost() -> None:
    moving = replace(TOPIC, replicas={0: (3, 1, 2)}, adding_replicas={0: (3,)})
    begun = replace(
        STATE,
        topics={"orders": moving},
        requests=Requests(PendingRequest("/admin", {P0: (3, 1)}, touched=True)),
    )
    evidence = replace(HEALTHY, admin=AdminLook(reassignment=REASSIGNMENT), zookeeper_state=begun)
    assert found(evidence) == {"moves-in-flight": False}
    waiting = replace(
        begun, requests=Requests(PendingRequest("/admin", {P0: (3, 1)}, not_begun=(P0,)))
    )
    foreign = Finding(Trouble.FOREIGN_NODE, "another tool", "wait", znode=REASSIGNMENT.path)
    assert found(replace(evidence, zookeeper_state=waiting), foreign) == {
        "pending-request": True,
        "moves-in-flight": False,
    }
    later = replace(evidence, phase=MigrationPhase.DUAL_WRITE, kraft_state=begun)
    assert found(later) == {"pending-request": False, "moves-in-flight": False}


def test_brokers_that_are_older_or_restarted_in_part() -> None:
    old = {1: {PROTOCOL: "2.8-IV1"}, 2: {PROTOCOL: "3.9-IV0"}}
    assert found(replace(HEALTHY, settings=old)) == {"wrong-protocol": True}
    assert found(replace(HEALTHY, settings={1: {PROTOCOL: "nonsense"}})) == {"wrong-protocol": True}
    part = {1: {MIGRATION_SETTING: "true"}, 2: {MIGRATION_SETTING: "false"}}
    assert found(replace(HEALTHY, phase=MigrationPhase.CONTROLLERS, settings=part)) == {
        "half-restarted": False
    }
    ahead = replace(
        HEALTHY, phase=MigrationPhase.DUAL_WRITE, nodes=MigrationNodes(None, None, frozenset({2}))
    )
    assert found(ahead) == {"half-restarted": False}


def test_a_move_is_nobodys_until_the_history_is_there() -> None:
    foreign = Finding(Trouble.FOREIGN_MOVE, "nobody asked for it", command("cancel", "--foreign"))
    evidence = replace(HEALTHY, phase=MigrationPhase.KRAFT_BROKERS)
    assert found(evidence, foreign) == {"foreign-move": True}
    assert found(replace(evidence, not_carried=("one",)), foreign) == {
        MigrationTrouble.HISTORY_BEHIND: False
    }
    assert found(replace(evidence, late_operations=("two",))) == {"znode-writer": False}


def test_both_sides_are_compared() -> None:
    other = replace(
        STATE,
        topics={"orders": replace(TOPIC, replicas={0: (2, 1)}), "new": Topic("new", {0: (1,)})},
        topic_configs={"orders": {"retention.ms": "1"}},
    )
    here = replace(
        STATE, topics={**STATE.topics, "gone": Topic("gone", {}), "going": Topic("going", {})}
    )
    here = replace(here, requests=Requests(deletions=("going",)))
    assert differences(here, other) == (
        "only ZooKeeper: topic gone",
        "only the brokers: topic new",
        "orders-0: ZooKeeper has [1, 2], the brokers have [2, 1]",
        "topic orders: config retention.ms differs",
    )
    assert "only ZooKeeper: topic gone" not in differences(
        here, replace(other, may_hide_topics=True)
    )
    assert differences(STATE, replace(STATE, topic_configs={})) == ()


def test_what_stays_behind_is_no_finding_when_it_is_over() -> None:
    evidence = replace(
        HEALTHY, phase=MigrationPhase.FINALIZED, differences=("only the brokers: topic new",)
    )
    assert found(evidence) == {}
    assert [*stays_behind(evidence)][1:] == ["no longer true: only the brokers: topic new"]
    assert found(replace(evidence, phase=MigrationPhase.KRAFT_BROKERS)) == {"sides-differ": True}
    assert stays_behind(HEALTHY) == ()
