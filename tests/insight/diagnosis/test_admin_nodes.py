"""Findings on the admin znodes: poison, ignored, zombie, foreign, and our own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.cluster.evidence import GOOD, STATE, evidence, node, only, stayed, troubles
from support.cluster.states import cluster, moving, tp, with_node

from kadmin.cluster.payloads import encode_election, encode_reassignment
from kadmin.cluster.versions import KafkaVersions
from kadmin.insight.diagnosis.finding import Trouble
from kadmin.insight.diagnosis.operations import LockHeld, OpenOperation
from kadmin.worlds.zookeeper.doctor.diagnose import diagnose
from kadmin.worlds.zookeeper.doctor.evidence import AdminLook
from kadmin.worlds.zookeeper.model import Acl
from kadmin.worlds.zookeeper.znodes.admin import ADMIN, REASSIGN_PARTITIONS

WORLD = (Acl(31, "world", "anyone"),)
KAFKA = (Acl(31, "sasl", "kafka"), Acl(1, "world", "anyone"))
OTHER = (Acl(31, "sasl", "other"), Acl(1, "world", "anyone"))


@pytest.mark.parametrize("election", [False, True])
@pytest.mark.parametrize("data", [None, b"null", b'{"version":1}'])
def test_f36_poison_is_named_at_once(data: bytes | None, election: bool) -> None:  # noqa: FBT001 - a column
    fresh = only(evidence(last=node(data, election=election, version=3)))
    assert (fresh.code, fresh.stops_apply, fresh.version) == (Trouble.POISON_NODE, True, 3)
    assert troubles(stayed(data, election=election)) == [Trouble.POISON_NODE]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{nonsense",
        b"[]",
        b'{"partitions":[]}',
        GOOD.replace(b"}]}", b',"log_dirs":["any"]}]}'),
    ],
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
    "duplicate ids from 2.4 on": (
        b'{"version":1,"partitions":[{"topic":"foo","partition":0,"replicas":[1,2,2]}]}'
    ),
}


@pytest.mark.parametrize("name", ZOMBIES)
def test_f36_zombies_stand_still(name: str) -> None:
    """A listening controller drops such entries in milliseconds, so a fresh node is only somebody
    else's.
    """
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
    assert found.code is Trouble.FOREIGN_NODE
    assert "gone-0: topic gone does not exist" in found.evidence
    assert "in flight: foo-0" in found.evidence


def test_an_election_node_of_unknown_topics_stays_up_to_2_1() -> None:
    data = encode_election([tp("gone-0")])
    assert troubles(stayed(data, election=True, versions=KafkaVersions((1, 1), (1, 1)))) == [
        Trouble.ZOMBIE_NODE
    ]


def test_f40_leftover_probes() -> None:
    probe = b'{"version":1,"partitions":[{"topic":"!probe","partition":0,"replicas":[1]}]}'
    assert troubles(stayed(probe)) == [Trouble.LEFTOVER_PROBE]
    assert troubles(stayed(encode_election(()), election=True)) == [Trouble.LEFTOVER_PROBE]


def test_a_good_node_that_nobody_takes_up() -> None:
    """Watched or not is what wchp says; where it says nothing, an untouched partition does."""
    unseen: dict[str, Any] = {"listening": frozenset()}
    assert troubles(stayed(GOOD, not_watching=frozenset({REASSIGN_PARTITIONS}), **unseen)) == [
        Trouble.DEAF_CONTROLLER
    ]
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
    assert found.code is Trouble.FOREIGN_NODE
    assert "foo-0: brokers that are not alive: 99" in found.evidence
    assert str(found.next_step).startswith("start the brokers")


def test_up_to_2_3_a_union_that_waits_is_no_zombie() -> None:
    """The topic znode holds the target already, and the new replica is not in sync: the move is on
    its way.
    """
    state = cluster({"foo-0": (99, 1, 2)}, states={"foo-0": (1, (1, 2))})
    data = encode_reassignment({tp("foo-0"): (99, 1, 2)})
    versions = KafkaVersions((1, 0), (2, 6))
    assert troubles(stayed(data, state, versions=versions)) == [
        Trouble.FOREIGN_NODE,
        Trouble.MISSING_BROKERS,
    ]


def test_a_node_of_our_own_operation_is_not_foreign() -> None:
    ours = OpenOperation(
        "op", "reassignment", "words", {tp("foo-0"): ((3, 1), (1, 2))}, elects=True
    )
    lock = LockHeld("op", "me@here")
    for data in (GOOD, encode_reassignment({tp("foo-0"): (1, 2)})):
        found = diagnose(stayed(data, version=1, operations=(ours,), lock=lock))
        assert Trouble.FOREIGN_NODE not in {each.code for each in found}
    other = encode_reassignment({tp("foo-0"): (4, 1)})
    assert Trouble.FOREIGN_NODE in troubles(stayed(other, version=1, operations=(ours,)))
    election = evidence(
        last=node(encode_election([tp("foo-0")]), election=True), operations=(ours,)
    )
    assert troubles(election) == [Trouble.UNFINISHED_OPERATION]


def test_lock_and_unfinished_operations() -> None:
    ours = OpenOperation("op-1", "reassignment", "running since then")
    held, unfinished = diagnose(
        evidence(operations=(ours,), lock=LockHeld("op-1", "me@here (pid 7)"))
    )
    assert (held.code, held.znode, held.stops_apply) == (Trouble.LOCK_HELD, "/kadmin/lock", True)
    assert held.evidence == ("by me@here (pid 7)",)
    assert (unfinished.code, unfinished.znode) == (
        Trouble.UNFINISHED_OPERATION,
        "/kadmin/operations/op-1",
    )
    assert str(unfinished.next_step) == "kadmin status"
    orphan = only(evidence(operations=(replace(ours, whole=False),)))
    assert str(orphan.next_step) == "kadmin resume op-1"
    assert "incomplete" in orphan.evidence[1]


def test_reassignments_without_a_node() -> None:
    state = moving(STATE, "foo-1", adding=(9,), removing=(3,))
    found = only(evidence(state))
    assert (found.code, found.stops_apply) == (Trouble.API_REASSIGNMENT, True)
    assert found.evidence == (
        "adding or removing replicas (1): foo-1",
        "waiting for brokers that are not alive: 9",
    )
    union = replace(cluster({"foo-1": (2, 1, 3)}), details=STATE.details)
    state = moving(union, "foo-1", adding=(1,), removing=(3,))
    ours = OpenOperation("op", "reassignment", "words", {tp("foo-1"): ((2, 1), (2, 3))})
    assert troubles(evidence(state, operations=(ours,))) == [Trouble.UNFINISHED_OPERATION]
    elsewhere = replace(ours, lists={tp("foo-1"): ((2, 4), (2, 3))})
    assert troubles(evidence(state, operations=(elsewhere,))) == [
        Trouble.API_REASSIGNMENT,
        Trouble.UNFINISHED_OPERATION,
    ], "the operation's partition, reassigned to another list by another tool"


def test_deletions_that_do_not_end() -> None:
    state = cluster({"foo-0": (1, 9), "bar-0": (1, 2)}, states={"foo-0": (-1, (1,))})
    state = replace(state, requests=replace(state.requests, deletions=("bar", "foo", "odd\x1b")))
    queued = AdminLook(deletions=("bar", "foo", "odd\x1b"))
    found = [
        each
        for each in diagnose(evidence(state, first=queued, last=queued, stayed_s=5.0))
        if each.znode != "/brokers/ids"
    ]
    assert [(each.code, each.topic, each.stops_apply) for each in found] == [
        (Trouble.STUCK_DELETION, "bar", False),
        (Trouble.STUCK_DELETION, "foo", False),
        (Trouble.STUCK_DELETION, None, False),
    ]
    assert "not alive: 9;" in found[1].evidence[1]
    assert found[2].znode.isprintable()
    assert Trouble.STUCK_DELETION not in troubles(evidence(state, last=queued))


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
def test_a_node_under_another_identity(
    wanted: tuple[Acl, ...],
    given: tuple[Acl, ...],
    wrong: bool,  # noqa: FBT001
) -> None:
    """The controller cannot shrink a node that does not grant what /admin grants; an open one it
    can.
    """
    look = replace(node(GOOD, version=1), acls={ADMIN: wanted, REASSIGN_PARTITIONS: given})
    found = diagnose(evidence(last=look))
    assert [each.code for each in found if each.code is not Trouble.FOREIGN_NODE] == [
        Trouble.WRONG_ACL
    ] * wrong
    if wrong:
        assert "its ACL: sasl:other:rwcda, world:anyone:r" in found[-1].evidence
