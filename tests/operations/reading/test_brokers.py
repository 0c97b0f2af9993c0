"""What brokers that cannot be asked leave unknown, and what two brokers that differ come to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import cluster, tp

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.cluster.model import NO_LEADER, Endpoint, PartitionState, TopicPartition
from kadmin.operations.context import Clock
from kadmin.operations.decide.examine import examine
from kadmin.operations.reading.brokers import (
    not_described,
    sizes_of,
    switch,
    usable_of,
    with_guards,
)
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import UNTHROTTLED, PartitionTarget, PlanHeader, ReassignmentPlan
from kadmin.worlds.kafka.wire import connection
from kadmin.worlds.kafka.wire.log_dirs import DescribedDir, log_dirs_by
from kadmin.worlds.zookeeper.backend import ZooKeeperBackend
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState

STORAGE_ERROR = 56
STATE = cluster({"a-0": (1, 2)})


def listening(protocol: str) -> ClusterState:
    at = Endpoint("EXTERNAL", "127.0.0.1", 1, protocol)
    return replace(
        STATE,
        brokers={number: replace(each, endpoints=(at,)) for number, each in STATE.brokers.items()},
    )


@pytest.mark.parametrize(
    ("told", "deletes", "creates"),
    [
        (["true", "true"], True, True),
        (["false", "false"], False, False),
        (["true", "false"], False, True),
        ([None, "true"], None, True),
        ([None, "false"], False, None),
        ([], None, None),
    ],
)
def test_of_brokers_that_differ_the_one_counts_that_makes_a_deletion_go_wrong(
    told: list[str | None], deletes: object, creates: object
) -> None:
    settings = {
        number: {} if each is None else {"switch": each} for number, each in enumerate(told)
    }
    assert switch(settings, "switch", decisive=False) is deletes
    assert switch(settings, "switch", decisive=True) is creates


def on_disk(
    broker: int,
    *directories: tuple[int, dict[str, int]],
    usable: int | None = None,
    future: bool = False,
) -> list[DescribedDir]:
    """Return a broker's answer: by directory its error, and sizes of partitions."""
    paths = [f"/disk{number}" for number in range(len(directories))]
    return [
        DescribedDir(
            Disk(broker, path, usable, usable, DiskState.FAILED if code else DiskState.ONLINE),
            code,
            [
                DiskReplica(tp(f"a-{number}"), broker, path, size, future)
                for number, size in sizes.items()
            ],
        )
        for path, (code, sizes) in zip(paths, directories, strict=True)
    ]


def test_a_log_directory_that_failed_hides_its_own_replicas_and_nothing_else() -> None:
    answers = {
        2: on_disk(2, (0, {"0": 5}), (0, {"1": 7})),
        1: on_disk(1, (0, {"0": 5}), (STORAGE_ERROR, {})),
        3: on_disk(3),
        4: on_disk(4, (STORAGE_ERROR, {}), (STORAGE_ERROR, {})),
    }
    found = log_dirs_by(answers.__getitem__, answers)
    assert {broker: sum(sizes.values()) for broker, sizes in found.sizes.items()} == {
        1: 5,
        2: 12,
        3: 0,
    }
    assert not_described(found) == (
        "bytes on disk of broker 4 are not known: Broker 4 cannot read its log directory /disk0.",
        "bytes in a log directory are not known: Broker 1 cannot read its log directory /disk1.",
    )
    assert found.empty == {3}
    assert [each.cause for each in found.failed_dirs[1]] == ["KAFKA_STORAGE_ERROR"]
    assert found.failed[4].cause == "KAFKA_STORAGE_ERROR"
    assert [each.state for each in found.disks[4]] == [DiskState.FAILED] * 2
    assert {broker: len(each) for broker, each in found.replicas.items()} == {1: 1, 2: 2, 3: 0}


def test_a_broker_that_has_a_copy_between_directories_is_not_empty() -> None:
    answers = {
        3: on_disk(3, (0, {}), (0, {})),
        4: on_disk(4, (0, {}), (0, {"0": 5}), future=True),
    }
    found = log_dirs_by(answers.__getitem__, answers)
    assert found.sizes == {3: {}, 4: {}}
    assert found.empty == {3}


@pytest.mark.parametrize(
    ("leader", "isr", "held", "size_bytes"),
    [
        (1, (1, 2), {1: {"a-0": 10}, 2: {"a-0": 90}}, 10),  # a follower compacted less
        (1, (1, 2), {2: {"a-0": 90}, 3: {"a-0": 99}}, 90),  # the leader did not tell, 3 is stale
        (1, (1, 2), {3: {"a-0": 99}}, None),  # stale copies say nothing
        (-1, (1,), {2: {"a-0": 90}}, None),
        (None, (), {2: {"a-0": 90}, 3: {"a-0": 99}}, 99),  # it was not read
    ],
)
def test_a_size_is_that_of_the_leader_from_which_copies_are_made(
    leader: int | None,
    isr: tuple[int, ...],
    held: dict[int, dict[str, int]],
    size_bytes: int | None,
) -> None:
    state = cluster({"a-0": (1, 2, 3)}, states={"a-0": (leader or 0, isr)})
    if leader is None:
        state = replace(state, states={})
    by_partition = {
        broker: {tp(name): size for name, size in sizes.items()} for broker, sizes in held.items()
    }
    assert sizes_of(state, by_partition).get(tp("a-0")) == size_bytes


def test_the_room_of_a_broker_is_that_of_its_healthy_directories() -> None:
    two, failed = [(0, {"0": 5}), (0, {"1": 7})], [(0, {"0": 5}), (STORAGE_ERROR, {})]
    answers = {
        1: on_disk(1, *two, usable=50),
        2: on_disk(2, *failed, usable=50),
        3: on_disk(3, *two),
    }
    found = log_dirs_by(answers.__getitem__, answers)
    assert found.usable == {1: 50, 2: 50}, (
        "the directories of broker 1 share a file system, broker 3 is older than Kafka 3.3"
    )
    assert len(found.disks[1]) == 2


def test_a_broker_that_does_not_answer_is_warned_about_once() -> None:
    """Its bytes and its room are unknown for one reason, and that is not its version of Kafka."""
    answers = {
        4: on_disk(4, (STORAGE_ERROR, {})),
        2: on_disk(2, (0, {"0": 5})),
        3: on_disk(3, (0, {}), usable=50),
    }
    found = log_dirs_by(answers.__getitem__, answers)
    facts = ClusterFacts(usable=usable_of(found), disks_unavailable=not_described(found))
    assert facts.usable == {2: None, 3: 50}
    plan = ReassignmentPlan(
        PlanHeader(), (PartitionTarget(tp("a-0"), (1, 4), (1, 2)),), UNTHROTTLED
    )
    assert examine(plan, STATE, NODES.publish, facts).warnings == (
        "bytes on disk of broker 4 are not known: Broker 4 cannot read its log directory /disk0.",
    )


@pytest.mark.zookeeper
def test_what_brokers_do_not_tell_is_said_with_its_reason(
    chroot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second question is not waited for: who did not answer the first is silent."""
    monkeypatch.setattr(connection, "BOOTSTRAP_S", 0.5)
    with Store.connect(chroot) as store:
        backend = ZooKeeperBackend(store, Paths(), Clock())
        silent = with_guards(ClusterFacts(), backend, listening("PLAINTEXT"), ["a"])
        closed = with_guards(ClusterFacts(sizes={tp("a-0"): 5}), backend, listening("SSL"), ["a"])
    assert (silent.consumers, silent.deletion_enabled, silent.topics_create_themselves) == (
        {"a": ()},
        None,
        None,
    )
    (unknown,) = silent.unavailable
    assert unknown.startswith(
        "groups that keep their offsets in Kafka were not seen; "
        "delete.topic.enable of the brokers is not known (before 1.0 it is off by default); "
        "whether a is internal is not known: "
    ), "one cause is said once"
    (disks,) = silent.disks_unavailable
    assert disks.startswith("bytes on disk are not known: ")
    assert all("127.0.0.1:1" in each for each in (unknown, disks))
    assert closed.sizes == {tp("a-0"): 5}
    reasons = [
        each.rpartition(": ")[2] for each in (*closed.unavailable, *closed.disks_unavailable)
    ]
    assert reasons == ["no broker has a PLAINTEXT listener"] * 2
    assert {silent.from_brokers, closed.from_brokers} == {True}


@pytest.mark.zookeeper
def test_groups_whose_offsets_have_no_leader_are_named_as_not_seen(
    chroot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No broker coordinates them, so none lists them."""
    monkeypatch.setattr(connection, "BOOTSTRAP_S", 0.5)
    offsets = [TopicPartition("__consumer_offsets", number) for number in range(3)]
    state = replace(
        cluster({"a-0": (1, 2), **{str(each): (1,) for each in offsets}}),
        states={offsets[0]: PartitionState(1, (1,)), offsets[1]: PartitionState(NO_LEADER, (1,))},
    )
    with Store.connect(chroot) as store:
        facts = with_guards(ClusterFacts(), ZooKeeperBackend(store, Paths(), Clock()), state, ["a"])
    assert facts.unavailable[0] == (
        "groups that keep their offsets in __consumer_offsets-1, __consumer_offsets-2 were not "
        "seen: no leader"
    )
