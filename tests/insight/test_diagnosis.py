"""From evidence to findings: one table row per trouble, and the looks that tell a trouble from work in progress."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from support.cluster.states import cluster, moving, tp, with_node

from kadmin.cluster.model import Controller, Topic
from kadmin.cluster.payloads import encode_reassignment
from kadmin.cluster.zookeeper.model import Acl, Unreadable, Znode
from kadmin.cluster.zookeeper.znodes.admin import (
    ADMIN,
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
    encode_election,
)
from kadmin.insight.diagnosis.finding import Trouble
from kadmin.insight.diagnosis.zookeeper.diagnose import diagnose, unchecked
from kadmin.insight.diagnosis.zookeeper.evidence import AdminLook, ControllerSample, Evidence, LockHeld, OpenOperation
from kadmin.insight.diagnosis.zookeeper.topic_troubles import string_ids
from kadmin.insight.diagnosis.zookeeper.versions import KafkaVersions

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.insight.diagnosis.finding import Finding

STATE = cluster({"foo-0": (1, 2), "foo-1": (2, 3)})
STEADY = (ControllerSample(5, Controller(1, 7)),) * 2
BOTH = frozenset({REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION})
GOOD = encode_reassignment({tp("foo-0"): (3, 1)})
WORLD = (Acl(31, "world", "anyone"),)
KAFKA = (Acl(31, "sasl", "kafka"), Acl(1, "world", "anyone"))
OTHER = (Acl(31, "sasl", "other"), Acl(1, "world", "anyone"))


def evidence(state: ClusterState = STATE, **changes: Any) -> Evidence:  # noqa: ANN401 - fields of the value
    """A healthy cluster of 2.8 whose controller is seen to listen, but for the changes."""
    healthy = Evidence(
        zookeeper="zk:2181",
        versions=KafkaVersions((2, 8), (3, 3)),
        state=state,
        samples=STEADY,
        first=AdminLook(),
        last=AdminLook(),
        stayed_s=1.0,
        listening=BOTH,
    )
    return replace(healthy, **changes)


def node(data: bytes | None, *, election: bool = False, version: int = 0, mzxid: int = 1) -> AdminLook:
    path = PREFERRED_REPLICA_ELECTION if election else REASSIGN_PARTITIONS
    found = Znode(path, data, version, mzxid=mzxid)
    return AdminLook(election=found) if election else AdminLook(reassignment=found)


def stayed(data: bytes | None, state: ClusterState = STATE, *, election: bool = False, **changes: Any) -> Evidence:  # noqa: ANN401
    """A node that stood still through two looks five seconds apart."""
    look = node(data, election=election, version=changes.pop("version", 0))
    return evidence(state, first=look, last=look, stayed_s=5.0, **changes)


def troubles(found: Evidence) -> list[Trouble]:
    return [each.trouble for each in diagnose(found)]


def only(found: Evidence) -> Finding:
    (finding,) = diagnose(found)
    return finding


def test_a_healthy_cluster_has_nothing() -> None:
    assert diagnose(evidence()) == ()
    assert unchecked(evidence()) == ()


def test_what_could_not_be_seen_is_said() -> None:
    unknown = evidence(listening=frozenset({REASSIGN_PARTITIONS}))
    assert diagnose(unknown) == ()
    assert [each.split(":")[0] for each in unchecked(unknown)] == [
        f"whether the controller watches {PREFERRED_REPLICA_ELECTION}"
    ]


def test_f35_a_deaf_controller() -> None:
    found = only(evidence(deaf=frozenset({REASSIGN_PARTITIONS}), listening=frozenset({PREFERRED_REPLICA_ELECTION})))
    assert (found.trouble, found.path, found.stops_apply) == (Trouble.DEAF_CONTROLLER, REASSIGN_PARTITIONS, True)
    assert found.remedy == "kadmin heal -z zk:2181"


def test_a_node_that_was_there_a_moment_ago_says_nothing_of_the_watch() -> None:
    """After the controller removes the node it takes some milliseconds until it watches again."""
    assert diagnose(evidence(first=node(GOOD), deaf=frozenset({REASSIGN_PARTITIONS}))) == ()


@pytest.mark.parametrize(
    ("epochs", "expected"),
    [
        ((5, 5), []),
        ((5, 6), []),
        ((5, 6, 6, 6), []),
        ((5, 5, 6, 6), []),
        ((5, 13, 22, 31), [Trouble.ELECTION_LOOP]),
        ((5, 6, 7, 8), [Trouble.ELECTION_LOOP]),
    ],
)
def test_f36_loops_and_single_failovers(epochs: tuple[int, ...], expected: list[Trouble]) -> None:
    samples = tuple(ControllerSample(each, Controller(1, 7)) for each in epochs)
    assert troubles(evidence(samples=samples)) == expected


def test_f36_a_loop_names_its_cause_and_says_nothing_of_watches() -> None:
    samples = tuple(ControllerSample(each, None) for each in (5, 13, 22, 31))
    found = diagnose(stayed(None, samples=samples, deaf=BOTH, listening=frozenset()))
    assert [each.trouble for each in found] == [Trouble.ELECTION_LOOP, Trouble.POISON_NODE]
    assert f"likely cause: poison-node at {REASSIGN_PARTITIONS}" in found[0].evidence
    assert unchecked(stayed(None, samples=samples, listening=frozenset())) == ()


def test_f36_no_controller() -> None:
    absent = tuple(ControllerSample(5, None) for _ in range(4))
    state = replace(STATE, controller=None)
    found = only(evidence(state, samples=absent, listening=frozenset()))
    assert (found.trouble, found.path, found.stops_apply) == (Trouble.NO_CONTROLLER, "/controller", True)
    assert "1, 2, 3, 4" in found.evidence[1]
    elected = (*absent[:2], ControllerSample(5, Controller(2, 8)))
    assert diagnose(evidence(samples=elected)) == ()


def test_without_any_broker_there_is_no_controller_to_heal() -> None:
    state = replace(STATE, controller=None, brokers={}, topics={}, states={})
    found = only(evidence(state, samples=(ControllerSample(5, None),) * 4))
    assert (found.trouble, found.stops_apply) == (Trouble.MISSING_BROKERS, True)


@pytest.mark.parametrize("election", [False, True])
@pytest.mark.parametrize("data", [None, b"null", b'{"version":1}'])
def test_f36_poison_is_named_at_once(data: bytes | None, election: bool) -> None:  # noqa: FBT001 - a column
    fresh = only(evidence(last=node(data, election=election, version=3)))
    assert (fresh.trouble, fresh.stops_apply, fresh.version) == (Trouble.POISON_NODE, True, 3)
    assert troubles(stayed(data, election=election)) == [Trouble.POISON_NODE]


@pytest.mark.parametrize(
    "data", [b"", b"{nonsense", b"[]", b'{"partitions":[]}', GOOD.replace(b"}]}", b',"log_dirs":["any"]}]}')]
)
def test_f36_ignored_nodes(data: bytes) -> None:
    assert troubles(stayed(data)) == [Trouble.IGNORED_NODE]


def test_f36_an_unknown_key_that_runs_is_a_foreign_node() -> None:
    """Up to 1.1 the key is never minded: the move is seen."""
    data = GOOD.replace(b"}]}", b',"log_dirs":["any"]}]}')
    versions = KafkaVersions((1, 0), (2, 6))
    assert troubles(stayed(data, versions=versions)) == [Trouble.IGNORED_NODE]
    assert troubles(stayed(data, versions=versions, version=1)) == [Trouble.FOREIGN_NODE]


ZOMBIES = {
    "a topic that is gone": encode_reassignment({tp("gone-0"): (1, 2)}),
    "a partition that is not there": encode_reassignment({tp("foo-9"): (1, 2)}),
    "moves that ended": encode_reassignment({tp("foo-0"): (1, 2), tp("foo-1"): (2, 3)}),
    "duplicate ids from 2.4 on": b'{"version":1,"partitions":[{"topic":"foo","partition":0,"replicas":[1,2,2]}]}',
}


@pytest.mark.parametrize("name", ZOMBIES)
def test_f36_zombies_stand_still(name: str) -> None:
    """A listening controller drops such entries in milliseconds, so a fresh node is only somebody else's."""
    assert troubles(stayed(ZOMBIES[name])) == [Trouble.ZOMBIE_NODE]
    assert troubles(evidence(last=node(ZOMBIES[name]))) == [Trouble.FOREIGN_NODE]
    changed = evidence(first=node(ZOMBIES[name]), last=node(ZOMBIES[name], mzxid=2), stayed_s=5.0)
    assert troubles(changed) == [Trouble.FOREIGN_NODE]


def test_a_zombie_entry_beside_a_move_leaves_the_move_alone() -> None:
    data = encode_reassignment({tp("gone-0"): (1, 2), tp("foo-0"): (3, 1)})
    assert troubles(stayed(data, moving(STATE, "foo-0", adding=(3,)))) == [
        Trouble.FOREIGN_NODE,
        Trouble.API_REASSIGNMENT,
    ]
    flying = with_node(moving(STATE, "foo-0", adding=(3,)), {"gone-0": (1, 2), "foo-0": (3, 1)})
    found = only(stayed(data, flying))
    assert found.trouble is Trouble.FOREIGN_NODE
    assert "gone-0: there is no topic gone" in found.evidence
    assert "in flight: foo-0" in found.evidence


def test_an_election_node_of_unknown_topics_stays_up_to_2_1() -> None:
    data = encode_election([tp("gone-0")])
    assert troubles(stayed(data, election=True, versions=KafkaVersions((1, 1), (1, 1)))) == [Trouble.ZOMBIE_NODE]


def test_f40_leftover_probes() -> None:
    probe = b'{"version":1,"partitions":[{"topic":"!probe","partition":0,"replicas":[1]}]}'
    assert troubles(stayed(probe)) == [Trouble.LEFTOVER_PROBE]
    assert troubles(stayed(encode_election(()), election=True)) == [Trouble.LEFTOVER_PROBE]


def test_a_good_node_that_nobody_takes_up() -> None:
    """Watched or not is what wchp says; where it says nothing, an untouched partition does."""
    unseen: dict[str, Any] = {"listening": frozenset()}
    assert troubles(stayed(GOOD, deaf=frozenset({REASSIGN_PARTITIONS}), **unseen)) == [Trouble.DEAF_CONTROLLER]
    assert troubles(stayed(GOOD, **unseen)) == [Trouble.DEAF_CONTROLLER]
    assert troubles(stayed(GOOD)) == [Trouble.FOREIGN_NODE]
    assert troubles(stayed(GOOD, version=1, **unseen)) == [Trouble.FOREIGN_NODE]
    reorder = encode_reassignment({tp("foo-0"): (2, 1)})
    assert troubles(stayed(reorder, **unseen)) == [Trouble.FOREIGN_NODE]
    assert troubles(
        stayed(
            encode_election([tp("foo-0")]),
            cluster({"foo-0": (1, 2)}, states={"foo-0": (2, (1, 2))}),
            election=True,
            **unseen,
        )
    ) == [Trouble.DEAF_CONTROLLER]


def test_a_foreign_node_waits_for_a_dead_broker() -> None:
    found = only(stayed(encode_reassignment({tp("foo-0"): (99, 1)}), version=1))
    assert found.trouble is Trouble.FOREIGN_NODE
    assert "foo-0: broker 99 is not alive" in found.evidence
    assert found.remedy.startswith("start the brokers")


def test_up_to_2_3_a_union_that_waits_is_no_zombie() -> None:
    """The topic znode holds the target already, and the new replica is not in sync: the move is on its way."""
    state = cluster({"foo-0": (99, 1, 2)}, states={"foo-0": (1, (1, 2))})
    data = encode_reassignment({tp("foo-0"): (99, 1, 2)})
    versions = KafkaVersions((1, 0), (2, 6))
    assert troubles(stayed(data, state, versions=versions)) == [Trouble.FOREIGN_NODE, Trouble.MISSING_BROKERS]


def test_a_node_of_our_own_operation_is_not_foreign() -> None:
    ours = OpenOperation("op", "reassignment", "words", {tp("foo-0"): ((3, 1), (1, 2))}, elects=True)
    lock = LockHeld("op", "me@here")
    for data in (GOOD, encode_reassignment({tp("foo-0"): (1, 2)})):
        found = diagnose(stayed(data, version=1, operations=(ours,), lock=lock))
        assert Trouble.FOREIGN_NODE not in {each.trouble for each in found}
    other = encode_reassignment({tp("foo-0"): (4, 1)})
    assert Trouble.FOREIGN_NODE in troubles(stayed(other, version=1, operations=(ours,)))
    election = evidence(last=node(encode_election([tp("foo-0")]), election=True), operations=(ours,))
    assert troubles(election) == [Trouble.UNFINISHED_OPERATION]


def test_lock_and_unfinished_operations() -> None:
    ours = OpenOperation("op-1", "reassignment", "running since then")
    held, unfinished = diagnose(evidence(operations=(ours,), lock=LockHeld("op-1", "me@here (pid 7)")))
    assert (held.trouble, held.path, held.stops_apply) == (Trouble.LOCK_HELD, "/kadmin/lock", True)
    assert held.evidence == ("by me@here (pid 7)",)
    assert (unfinished.trouble, unfinished.path) == (Trouble.UNFINISHED_OPERATION, "/kadmin/operations/op-1")
    assert unfinished.remedy == "kadmin status -z zk:2181"
    orphan = only(evidence(operations=(replace(ours, whole=False),)))
    assert orphan.remedy == "kadmin resume op-1 -z zk:2181"
    assert "never whole" in orphan.evidence[1]


def topic_znode(partitions: dict[str, Any], **more: Any) -> bytes:  # noqa: ANN401 - JSON
    return json.dumps({"version": 3, "partitions": partitions, **more}).encode()


STRING_IDS = {
    "2.3": (topic_znode({"0": ["1", "2", 0, 1], "1": [1, 2]}), (0,)),
    "2.4 and later": (
        topic_znode({"0": ["1", "2", 1, 2]}, adding_replicas={"0": ["1", "2"]}, removing_replicas={"0": [1, 2]}),
        (0,),
    ),
    "only in adding": (topic_znode({"3": [1]}, adding_replicas={"3": ["2"]}), (3,)),
    "all ints": (topic_znode({"0": [1]}), ()),
    "not JSON": (b"{", ()),
    "no data": (None, ()),
    "words": (topic_znode({"0": ["one"]}), ()),
    "not lists": (topic_znode({"0": "1"}), ()),
    "no map": (topic_znode([]), ()),  # type: ignore[arg-type] # that is the point
    "no map at all": (b'{"partitions":7}', ()),
    "a key that is no number": (topic_znode({"x": ["1"]}), ()),
    "a float": (topic_znode({"0": ["1", 1.5]}), ()),
}


@pytest.mark.parametrize("name", STRING_IDS)
def test_f36_string_ids(name: str) -> None:
    data, expected = STRING_IDS[name]
    assert string_ids(data) == expected
    state = replace(STATE, unreadable=(Unreadable("/brokers/topics/bar", "why", data, 4),))
    found = only(evidence(state))
    assert found.stops_apply
    assert found.version == 4
    assert "why" in found.evidence
    if expected:
        assert (found.trouble, found.topic, found.partitions) == (Trouble.STRING_IDS, "bar", expected)
    else:
        assert (found.trouble, found.topic) == (Trouble.UNREADABLE_ZNODE, None)


@pytest.mark.parametrize(("path", "stops"), [("/brokers/ids/3", True), ("/config/topics/foo", False)])
def test_other_znodes_that_cannot_be_read(path: str, stops: bool) -> None:  # noqa: FBT001 - a column
    found = only(evidence(replace(STATE, unreadable=(Unreadable(path, "why", b"x", 1),))))
    assert (found.trouble, found.path, found.stops_apply) == (Trouble.UNREADABLE_ZNODE, path, stops)


EMPTIED = {
    "to 2.6": (Topic("bar", {0: (), 1: (1,)}, version=6), False),
    "from 2.7 on": (Topic("bar", {0: (1, 2)}, removing_replicas={0: (1, 2)}, version=6), True),
}


@pytest.mark.parametrize("name", EMPTIED)
def test_f36_empty_replicas(name: str) -> None:
    """Up to 2.6 the data is lost and nobody fails; from 2.7 on it is kept and the next controller fails."""
    topic, stops = EMPTIED[name]
    found = only(evidence(replace(STATE, topics={**STATE.topics, "bar": topic})))
    assert (found.trouble, found.topic, found.partitions) == (Trouble.EMPTY_REPLICAS, "bar", (0,))
    assert (found.stops_apply, found.version) == (stops, 6)


def test_reassignments_without_a_node() -> None:
    state = moving(STATE, "foo-1", adding=(9,), removing=(3,))
    found = only(evidence(state))
    assert (found.trouble, found.stops_apply) == (Trouble.API_REASSIGNMENT, True)
    assert found.evidence == (
        "adding or removing replicas (1): foo-1",
        "waiting for broker 9, which is not alive",
    )
    ours = OpenOperation("op", "reassignment", "words", {tp("foo-1"): ((2, 9),)})
    assert troubles(evidence(state, operations=(ours,))) == [Trouble.UNFINISHED_OPERATION]


def test_deletions_that_do_not_end() -> None:
    state = cluster({"foo-0": (1, 9), "bar-0": (1, 2)}, states={"foo-0": (-1, (1,))})
    state = replace(state, admin=replace(state.requests, deletions=("bar", "foo", "odd\x1b")))
    queued = AdminLook(deletions=("bar", "foo", "odd\x1b"))
    found = [
        each
        for each in diagnose(evidence(state, first=queued, last=queued, stayed_s=5.0))
        if each.path != "/brokers/ids"
    ]
    assert [(each.trouble, each.topic, each.stops_apply) for each in found] == [
        (Trouble.STUCK_DELETION, "bar", False),
        (Trouble.STUCK_DELETION, "foo", False),
        (Trouble.STUCK_DELETION, None, False),
    ]
    assert "broker 9 holds replicas" in found[1].evidence[1]
    assert found[2].path.isprintable()
    assert Trouble.STUCK_DELETION not in troubles(evidence(state, last=queued))


def test_partitions_that_are_not_well() -> None:
    state = cluster(
        {"foo-0": (1, 2), "foo-1": (2, 1), "foo-2": (1, 2)}, states={"foo-0": (-1, (1,)), "foo-1": (2, (2,))}
    )
    state = replace(state, topic_configs={"foo": {"min.insync.replicas": "2"}})
    offline, short = diagnose(evidence(state))
    assert (offline.trouble, offline.stops_apply) == (Trouble.OFFLINE_PARTITIONS, False)
    assert offline.evidence == ("foo-0: leader -1, ISR [1], replicas [1, 2]",)
    assert (short.trouble, short.evidence) == (Trouble.UNDER_MIN_ISR, ("foo-1: leader 2, ISR [2], replicas [2, 1]",))
    default = replace(state, topic_configs={}, broker_defaults={"min.insync.replicas": "2"})
    assert troubles(evidence(default)) == [Trouble.OFFLINE_PARTITIONS, Trouble.UNDER_MIN_ISR]
    assert troubles(evidence(replace(state, topic_configs={"foo": {"min.insync.replicas": "x"}}))) == [
        Trouble.OFFLINE_PARTITIONS
    ]


def test_brokers_that_hold_replicas_and_are_gone() -> None:
    found = only(evidence(cluster({"foo-0": (1, 9), "foo-1": (9, 8)})))
    assert (found.trouble, found.stops_apply) == (Trouble.MISSING_BROKERS, False)
    assert found.evidence == ("broker 8: assigned replicas: 1", "broker 9: assigned replicas: 2")


def test_throttles_are_leftover_when_nothing_moves() -> None:
    configs = {"1": {"leader.replication.throttled.rate": "1000"}, "2": {"log.retention.ms": "1"}}
    state = replace(STATE, topic_configs={"foo": {"follower.replication.throttled.replicas": "*"}})
    found = only(evidence(state, broker_configs=configs))
    assert (found.trouble, found.stops_apply) == (Trouble.LEFTOVER_THROTTLE, False)
    assert found.evidence == (
        "brokers/1: leader.replication.throttled.rate",
        "topics/foo: follower.replication.throttled.replicas",
    )
    assert found.remedy == "kadmin throttle audit -z zk:2181"
    in_use = moving(state, "foo-0", adding=(3,))
    assert Trouble.LEFTOVER_THROTTLE not in troubles(evidence(in_use, broker_configs=configs))


@pytest.mark.parametrize(
    ("path", "count", "told"),
    [
        ("/config/changes", 10_000, False),
        ("/config/changes", 10_001, True),
        ("/isr_change_notification", 1_000, False),
        ("/isr_change_notification", 1_001, True),
    ],
)
def test_many_notifications(path: str, count: int, told: bool) -> None:  # noqa: FBT001 - a column
    found = diagnose(evidence(notifications={path: count}))
    assert [each.trouble for each in found] == ([Trouble.MANY_NOTIFICATIONS] if told else [])


@pytest.mark.parametrize(
    ("wanted", "given", "wrong"),
    [
        (KAFKA, KAFKA, False),
        (KAFKA, OTHER, True),
        (KAFKA, WORLD, False),
        (WORLD, OTHER, True),
        (WORLD, (), False),
        ((), OTHER, False),
    ],
)
def test_a_node_under_another_identity(wanted: tuple[Acl, ...], given: tuple[Acl, ...], wrong: bool) -> None:  # noqa: FBT001
    """The controller cannot shrink a node that does not grant what /admin grants; an open one it can."""
    look = replace(node(GOOD, version=1), acls={ADMIN: wanted, REASSIGN_PARTITIONS: given})
    found = diagnose(evidence(last=look))
    assert [each.trouble for each in found if each.trouble is not Trouble.FOREIGN_NODE] == [Trouble.WRONG_ACL] * wrong
    if wrong:
        assert "its ACL: sasl:other:rwcda, world:anyone:r" in found[-1].evidence


@pytest.mark.parametrize(("paths", "stops"), [(["/config/brokers"], False), (["/config/users", "/admin"], True)])
def test_what_may_not_be_read_is_a_finding(paths: list[str], stops: bool) -> None:  # noqa: FBT001 - a column
    state = replace(STATE, unreadable=tuple(Unreadable(each, "NoAuth", denied=True) for each in paths))
    found = only(evidence(state))
    assert (found.trouble, found.stops_apply) == (Trouble.WRONG_ACL, stops)
    assert all(each in found.evidence[0] for each in paths)
