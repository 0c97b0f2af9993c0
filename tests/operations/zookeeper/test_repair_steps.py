"""Which step comes next, row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from support.cluster.states import cluster, tp, with_node

from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.worlds.zookeeper.heal.repair_steps import Diagnosis, Write, next_step, unhealed
from kadmin.worlds.zookeeper.model import Znode

if TYPE_CHECKING:
    from collections.abc import Collection

    from kadmin.cluster.model import ClusterState
    from kadmin.worlds.zookeeper.heal.repair_steps import RepairStep

NODE = "/admin/reassign_partitions"
ELECTION = "/admin/preferred_replica_election"
TOPIC = "/brokers/topics/a"
STATE = cluster({"a-0": (1, 2), "b-0": (2, 1)})
STRINGS = b'{"version":1,"partitions":{"0":["3","4",1,2]}}'
LOST = b'{"version":1,"partitions":{"0":[]}}'


def found(trouble: Trouble, path: str = NODE) -> Finding:
    return Finding(trouble, f"{trouble} at {path}", "kadmin doctor", znode=path)


def decide(
    *findings: Finding,
    state: ClusterState = STATE,
    tried: Collection[tuple[str, str]] = (),
    topic: bytes = STRINGS,
) -> RepairStep | None:
    data = {NODE: b"{}", ELECTION: b"", TOPIC: topic}
    nodes = {
        path: Znode(path, data[path], 7) for path in {each.znode for each in findings} & set(data)
    }
    return next_step(Diagnosis(findings, state, nodes), tried)


def test_a_node_that_stands_in_the_way_goes_together_with_the_controller() -> None:
    for trouble in (
        Trouble.POISON_NODE,
        Trouble.IGNORED_NODE,
        Trouble.ZOMBIE_NODE,
        Trouble.WRONG_ACL,
    ):
        for path in (NODE, ELECTION):
            step = decide(found(trouble, path))
            assert step is not None
            assert (step.write, step.move, step.checked) == (Write.DELETE, True, True)
            assert step.node == Znode(path, step.node.data if step.node else None, 7)


def test_a_zombie_that_names_moves_in_flight_stays() -> None:
    """Controllers up to 2.3 forget a move that is not in the node."""
    union = with_node(cluster({"a-0": (3, 1, 2), "b-0": (2, 1)}), {"a-0": (3, 1), "gone-0": (1,)})
    step = decide(found(Trouble.ZOMBIE_NODE), state=union)
    assert step is not None
    assert (step.write, step.move) == (Write.NOTHING, True)
    assert decide(found(Trouble.WRONG_ACL), state=union) is None, "its moves come first"


def test_string_ids_are_written_back() -> None:
    step = decide(found(Trouble.STRING_IDS, TOPIC))
    assert step is not None
    assert (step.write, step.move) == (Write.OVERWRITE, True)
    assert step.data == b'{"version":1,"partitions":{"0":[1,2]}}'


def test_data_that_is_gone_is_not_pretended_to_be_healed() -> None:
    lost = found(Trouble.EMPTY_REPLICAS, TOPIC)
    assert decide(lost, topic=LOST) is None
    assert unhealed([lost]) == (lost,)


def test_the_controller_moves_only_with_the_last_thing_that_it_could_not_read() -> None:
    both = (found(Trouble.POISON_NODE), found(Trouble.STRING_IDS, TOPIC))
    first = decide(*both)
    assert first is not None
    assert not first.move
    last = decide(both[1])
    assert last is not None
    assert last.move


def test_in_a_loop_nothing_is_moved_and_nothing_of_the_controller_checked() -> None:
    loop = found(Trouble.ELECTION_LOOP, "/controller_epoch")
    for cause in (found(Trouble.POISON_NODE), found(Trouble.STRING_IDS, TOPIC)):
        step = decide(loop, cause)
        assert step is not None
        assert (step.move, step.checked) == (False, False)
    assert decide(loop) is None
    assert decide(loop, found(Trouble.NO_CONTROLLER, "/controller")) is None


def test_no_controller_comes_after_what_the_next_one_could_not_read() -> None:
    nobody = replace(STATE, controller=None)
    none = found(Trouble.NO_CONTROLLER, "/controller")
    first = decide(none, found(Trouble.POISON_NODE), state=nobody)
    assert first is not None
    assert (first.write, first.move) == (Write.DELETE, False)
    second = decide(none, state=nobody)
    assert second is not None
    assert (second.write, second.move) == (Write.PLACEHOLDER, False)


def test_a_deaf_controller_is_moved_and_the_good_node_named() -> None:
    state = with_node(STATE, {"a-0": (3, 4)})
    step = decide(found(Trouble.DEAF_CONTROLLER), state=state)
    assert step is not None
    assert (step.write, step.move, step.node) == (Write.NOTHING, True, None)
    assert str(tp("a-0")) in step.words


def test_a_leftover_probe_is_never_deleted() -> None:
    step = decide(found(Trouble.LEFTOVER_PROBE), state=with_node(STATE, {"!probe-0": (1,)}))
    assert step is not None
    assert (step.write, step.move) == (Write.NOTHING, True)
    assert "begins" not in step.words


def test_nothing_is_tried_twice() -> None:
    deaf = found(Trouble.DEAF_CONTROLLER)
    assert decide(deaf, tried={(deaf.code, deaf.znode)}) is None
    other = decide(deaf, found(Trouble.DEAF_CONTROLLER, ELECTION), tried={(deaf.code, deaf.znode)})
    assert other is not None
    assert other.finding.znode == ELECTION


def test_what_others_are_at_work_on_is_left_alone() -> None:
    foreign = found(Trouble.FOREIGN_NODE)
    assert (
        decide(foreign, found(Trouble.API_REASSIGNMENT), found(Trouble.OFFLINE_PARTITIONS)) is None
    )
    assert unhealed([foreign]) == (foreign,)
    assert unhealed([found(Trouble.UNFINISHED_OPERATION), found(Trouble.UNDER_MIN_ISR)]) == ()
    assert decide(found(Trouble.WRONG_ACL, "/config/brokers")) is None
