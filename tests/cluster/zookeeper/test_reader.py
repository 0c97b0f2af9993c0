from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_acl
from support.network.frame_proxy import Action, Fault, Side
from support.zookeeper.fault_proxy import GET_DATA
from support.zookeeper.recorded_znodes import CLUSTERS, OLD_CONSUMERS, recorded

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.payloads import encode_election, encode_reassignment
from kadmin.errors import NotAuthorizedError, NotCompletedError, NotZooKeeperModeError
from kadmin.worlds.zookeeper.model import Create, Delete, SetData, details_of
from kadmin.worlds.zookeeper.reader import (
    consumer_groups,
    read_cluster,
    read_tolerantly,
    require_kafka_cluster,
)
from kadmin.worlds.zookeeper.wire.store import Store
from kadmin.worlds.zookeeper.wire.znode_reader import ZnodeReader
from kadmin.worlds.zookeeper.znodes.topics import encode_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.network.frame_proxy import Frame
    from support.zookeeper.fault_proxy import FaultProxy

    from kadmin.sandbox import Sandbox
    from kadmin.worlds.zookeeper.model import Op

pytestmark = pytest.mark.zookeeper

ALPHA = {0: (0, 1, 2), 1: (1, 2, 0), 2: (2, 0, 1)}


@pytest.fixture
def store(chroot: str) -> Iterator[Store]:
    with Store.connect(chroot) as connected:
        yield connected


def write(store: Store, *ops: Op) -> None:
    result = store.multi(ops)
    assert result.committed, result


def load(store: Store, *names: str) -> None:
    """Write recorded znodes as they were, ephemeral ones in the session of this store."""
    nodes = {path: node for name in names for path, node in recorded(name).items() if path != "/"}
    write(
        store,
        *(
            Create(path, nodes[path].data, ephemeral=nodes[path].ephemeral_owner != 0)
            for path in sorted(nodes)
        ),
    )


@pytest.mark.parametrize("version", CLUSTERS)
def test_a_recorded_cluster_of_every_version(store: Store, version: str) -> None:
    load(store, version)
    require_kafka_cluster(store)
    state = read_cluster(store, with_configs=True, settle=True)
    assert state.cluster_id is not None
    details = details_of(state)
    assert details.controller is not None
    assert details.controller == state.controller
    assert details.controller.session_id == store.session_id
    assert (state.controller_epoch, details.controller_epoch_version) == (1, 0)
    assert {broker.broker_id: broker.rack for broker in state.brokers.values()} == {
        0: "r0",
        1: "r1",
        2: "r2",
    }
    assert list(state.topics) == ["__consumer_offsets", "alpha", "beta"]
    assert state.topics["alpha"].replicas == ALPHA
    assert state.replicas(TopicPartition("beta", 0)) == (1, 0)
    assert len(state.states) == 4 + 3 + 1
    assert state.states[TopicPartition("alpha", 1)].leader == 1
    assert (state.requests.reassignment, state.requests.election, state.requests.deletions) == (
        None,
        None,
        (),
    )
    assert state.topic_configs["beta"]["cleanup.policy"] == "compact"
    assert state.unsettled == frozenset()


def test_only_the_topics_asked_for(store: Store) -> None:
    load(store, "2.8.2")
    state = read_cluster(store, ["beta", "absent", "not/a/name", "beta"])
    assert list(state.topics) == ["beta"]
    assert list(state.states) == [TopicPartition("beta", 0)]
    assert state.topic_configs == {}
    assert len(state.brokers) == 3
    assert read_cluster(store, []).topics == {}


def test_admin_nodes(store: Store) -> None:
    load(store, "2.8.2")
    targets = {TopicPartition("alpha", 1): (2, 1, 0), TopicPartition("beta", 0): (0, 1)}
    write(
        store,
        Create("/admin/reassign_partitions", encode_reassignment(targets)),
        Create("/admin/preferred_replica_election", encode_election([TopicPartition("alpha", 2)])),
        Create("/admin/delete_topics/beta"),
        Create("/admin/delete_topics/alpha"),
    )
    admin = read_cluster(store).requests
    assert admin.reassignment is not None
    assert (admin.reassignment.entries, admin.reassignment.fingerprint) == (targets, 0)
    assert not admin.reassignment.touched
    assert not admin.reassignment.probe
    assert admin.election is not None
    assert admin.election.entries == {TopicPartition("alpha", 2): ()}
    assert admin.deletions == ("alpha", "beta")


@pytest.mark.parametrize(
    "data", [None, b"", b"null", b'{"version":1}', b'{"partitions":[{"log_dirs":[]}]}']
)
def test_an_admin_node_that_does_not_decode_is_there_without_entries(
    store: Store, data: bytes | None
) -> None:
    load(store, "2.8.2")
    write(
        store,
        Create("/admin/reassign_partitions", data),
        Create("/admin/preferred_replica_election", data),
    )
    admin = read_cluster(store).requests
    assert admin.reassignment is not None
    assert admin.election is not None
    assert admin.reassignment.entries is None
    assert admin.election.entries is None


def test_a_cluster_without_a_controller_is_a_cluster(store: Store) -> None:
    load(store, "2.8.2")
    write(store, Delete("/controller", -1))
    require_kafka_cluster(store)
    assert read_cluster(store).controller is None


def test_a_topic_znode_with_string_ids_is_named(store: Store) -> None:
    load(store, "2.8.2")
    value = {"version": 3, "partitions": {"0": ["1", "2", 0, 1]}}
    write(store, SetData("/brokers/topics/beta", json.dumps(value).encode(), -1))
    with pytest.raises(NotCompletedError, match="/brokers/topics/beta") as caught:
        read_cluster(store)
    assert "partitions of 0" in (caught.value.cause or "")
    assert caught.value.next_command == "kadmin doctor"
    assert list(read_cluster(store, ["alpha"]).topics) == ["alpha"]


def test_a_tolerant_reading_leaves_out_what_it_cannot_use_and_names_it(store: Store) -> None:
    """F36: one broken znode of each kind; everything else is read as ever."""
    load(store, "2.8.2")
    state_of_alpha = "/brokers/topics/alpha/partitions/1/state"
    broken = [
        "/brokers/ids/2",
        "/brokers/topics/beta",
        state_of_alpha,
        "/cluster/id",
        "/config/topics/alpha",
    ]
    write(store, *(SetData(path, b"broken", -1) for path in broken))
    state = read_tolerantly(ZnodeReader(store, tolerant=True))
    assert [
        (each.path, each.data, each.version, each.denied) for each in details_of(state).unreadable
    ] == [(path, b"broken", 1, False) for path in sorted(broken)]
    assert (list(state.topics), sorted(state.brokers)) == (["__consumer_offsets", "alpha"], [0, 1])
    assert [each.partition for each in state.states if each.topic == "alpha"] == [0, 2]
    assert state.cluster_id is None
    assert state.controller is not None


@pytest.mark.parametrize("denied", [{0}, {6}, {0, 1, 5}, set(range(7)), set()], ids=repr)
def test_what_may_not_be_read_is_found_among_many(
    store: Store, zookeeper: Sandbox, denied: set[int]
) -> None:
    """F20: a pipeline that is refused as a whole is read in halves."""
    owner = KazooClient(zookeeper.connect_string, auth_data=[("digest", "kafka:secret")])
    owner.start()
    try:
        for number in range(7):
            acl = [make_acl("auth", "", all=True)] if number in denied else None
            owner.create(f"{store.chroot}/{number}", b"x", acl=acl)
        source = ZnodeReader(store, tolerant=True)
        found = source.get_many([f"/{number}" for number in range(8)])
        assert [each is not None for each in found] == [
            number not in denied for number in range(7)
        ] + [False]
        assert [each.path for each in source.unreadable] == [
            f"/{number}" for number in sorted(denied)
        ]
        assert all(each.denied and "NoAuth" in each.reason for each in source.unreadable)
        if denied:
            with pytest.raises(NotAuthorizedError):
                ZnodeReader(store).get_many([f"/{number}" for number in range(8)])
    finally:
        owner.stop()
        owner.close()


def test_children_that_kafka_would_never_make_are_not_read(store: Store) -> None:
    load(store, "2.8.2")
    write(store, Create("/brokers/topics/no topic", b"x"), Create("/brokers/ids/x", b"x"))
    state = read_cluster(store)
    assert "no topic" not in state.topics
    assert set(state.brokers) == {0, 1, 2}


@pytest.mark.parametrize(
    "present", [[], ["/brokers", "/brokers/ids"], ["/controller_epoch"]], ids=repr
)
def test_f19_an_empty_chroot_is_no_cluster(store: Store, present: list[str]) -> None:
    write(store, *(Create(path, b"1") for path in present))
    before = store.last_zxid
    with pytest.raises(NotZooKeeperModeError, match="No Kafka cluster") as caught:
        require_kafka_cluster(store)
    assert store.last_zxid == before
    assert "zookeeper.connect" in (caught.value.next_command or "")


def test_a_mistyped_chroot_is_told_where_clusters_are(store: Store, chroot: str) -> None:
    load(store, "2.8.2")
    with (
        Store.connect(f"{chroot}-typo") as mistyped,
        pytest.raises(NotZooKeeperModeError) as caught,
    ):
        require_kafka_cluster(mistyped)
    assert f"chroot {store.chroot}-typo does not exist" in caught.value.message
    assert "a Kafka cluster is at" in (caught.value.cause or "")


@pytest.mark.parametrize("epoch", [0, 5])
def test_f19_a_kraft_controller_is_refused(store: Store, epoch: int) -> None:
    load(store, "3.9.1")
    value = {"version": 2, "brokerid": 3000, "timestamp": "1", "kraftControllerEpoch": epoch}
    write(store, SetData("/controller", json.dumps(value).encode(), -1))
    with pytest.raises(NotZooKeeperModeError, match="KRaft") as caught:
        require_kafka_cluster(store)
    assert "-b BROKERS" in (caught.value.next_command or "")


@pytest.mark.parametrize(
    ("controller_id", "led", "refused"),
    [(3000, False, True), (-1, False, False), (-1, True, False), (3000, True, False)],
)
def test_f19_a_migration_that_began_is_refused(
    store: Store, *, controller_id: int, led: bool, refused: bool
) -> None:
    """Where a broker leads, /migration is a left-over of an attempt before."""
    load(store, "3.9.1")
    if not led:
        write(store, Delete("/controller", -1))
    state = {"version": 0, "kraft_controller_id": controller_id, "kraft_controller_epoch": 1}
    write(store, Create("/migration", json.dumps(state).encode()))
    if refused:
        with pytest.raises(NotZooKeeperModeError, match="KRaft"):
            require_kafka_cluster(store)
    else:
        require_kafka_cluster(store)


def test_a_controller_znode_that_is_no_json(store: Store) -> None:
    load(store, "2.8.2")
    write(store, SetData("/controller", b"1", -1))
    with pytest.raises(NotCompletedError, match="/controller"):
        require_kafka_cluster(store)


@pytest.fixture
def reading(store: Store, proxy: FaultProxy) -> Iterator[Store]:
    """A store whose requests can be waited for; what the other one writes comes in between."""
    with Store.connect(f"{proxy.connect_string}{store.chroot}") as connected:
        yield connected


def naming(path: str) -> Callable[[Frame], bool]:
    return lambda frame: frame.side is Side.REQUEST and path.encode() in frame.body


def test_what_never_stands_still_is_named(store: Store, proxy: FaultProxy, reading: Store) -> None:
    """What is settled was seen to stand still; what changes before every look is unsettled, and
    nothing else is.
    """
    load(store, "2.8.2")
    state_of_beta = "/brokers/topics/beta/partitions/0/state"
    value = {"version": 1, "leader": 0, "leader_epoch": 1, "controller_epoch": 1, "isr": [0]}
    change = partial(write, store, SetData(state_of_beta, json.dumps(value).encode(), -1))
    proxy.faults = [Fault(Action.CALL, naming(state_of_beta), times=1_000, then=change)]
    state = read_cluster(reading, settle=True)
    assert state.unsettled == {"beta"}
    assert state.states[TopicPartition("beta", 0)].isr == (0,)
    # One first reading and three looks, with two more readings between them.
    assert len([frame for frame in proxy.requests() if state_of_beta.encode() in frame.body]) == 6


def test_what_changes_once_is_read_again(store: Store, proxy: FaultProxy, reading: Store) -> None:
    load(store, "2.8.2")
    change = partial(write, store, SetData("/brokers/topics/alpha", encode_topic({0: (2,)}), -1))
    proxy.faults = [
        Fault(Action.CALL, naming("/brokers/topics/beta/partitions/0/state"), then=change)
    ]
    state = read_cluster(reading, settle=True)
    assert state.unsettled == frozenset()
    assert state.topics["alpha"].replicas == {0: (2,)}
    assert [each for each in state.states if each.topic == "alpha"] == [TopicPartition("alpha", 0)]


def test_a_topic_deleted_while_it_is_read_is_gone(
    store: Store, proxy: FaultProxy, reading: Store
) -> None:
    load(store, "2.8.2")
    base = "/brokers/topics/beta"
    gone = [
        Delete(path, -1)
        for path in (
            f"{base}/partitions/0/state",
            f"{base}/partitions/0",
            f"{base}/partitions",
            base,
        )
    ]
    proxy.faults = [
        Fault(Action.CALL, naming(f"{base}/partitions/0/state"), then=partial(write, store, *gone))
    ]
    state = read_cluster(reading, settle=True)
    assert state.unsettled == frozenset()
    assert list(state.topics) == ["__consumer_offsets", "alpha"]
    assert TopicPartition("beta", 0) not in state.states


def test_after_a_controller_election_everything_is_read_again(
    store: Store, proxy: FaultProxy, reading: Store
) -> None:
    load(store, "2.8.2")
    elected = partial(write, store, SetData("/controller_epoch", b"2", -1))
    proxy.faults = [Fault(Action.CALL, naming("/brokers/topics/alpha"), then=elected)]
    assert read_cluster(reading, settle=True).unsettled == frozenset()
    alphas = [
        frame
        for frame in proxy.requests(GET_DATA)
        if frame.body.endswith(b"/brokers/topics/alpha\0")
    ]
    assert len(alphas) == 2


def test_nothing_is_read_twice_while_nothing_changes(
    store: Store, proxy: FaultProxy, reading: Store
) -> None:
    """The last transaction that the server knows stands still: what was read is one snapshot."""
    load(store, "2.8.2")
    assert read_cluster(reading, settle=True).unsettled == frozenset()
    bodies = [frame.body[4:] for frame in proxy.requests() if b"/brokers/topics/" in frame.body]
    assert len(bodies) == len(set(bodies)) == 3 + 8


@pytest.mark.parametrize("name", OLD_CONSUMERS)
def test_old_consumers_and_their_topics(store: Store, name: str) -> None:
    """Owners, committed offsets and subscriptions each count; a white list matches as a pattern."""
    load(store, name)
    groups = consumer_groups(store, ["t5", "t6", "other"])
    assert groups == {"t5": ("grp.one",), "t6": ("grp.one",), "other": ()}


def test_groups_that_are_odd_or_empty(store: Store) -> None:
    member = {"version": 1, "subscription": {"a": 1}, "pattern": "static", "timestamp": "1"}
    listing = {"version": 1, "subscription": {"a|b": 1}, "pattern": "black_list", "timestamp": "1"}
    broken = {"version": 1, "subscription": {"(": 1}, "pattern": "white_list", "timestamp": "1"}
    write(
        store,
        Create("/consumers"),
        *(
            Create(f"/consumers/{group}")
            for group in ("empty", "live", "offsets", "odd", "black", "broken")
        ),
        *(
            Create(f"/consumers/{group}/ids")
            for group in ("empty", "live", "odd", "black", "broken")
        ),
        Create("/consumers/live/ids/c", json.dumps(member).encode()),
        Create("/consumers/odd/ids/c", b"not json"),
        Create("/consumers/black/ids/c", json.dumps(listing).encode()),
        Create("/consumers/broken/ids/c", json.dumps(broken).encode()),
        Create("/consumers/offsets/offsets"),
        Create("/consumers/offsets/offsets/a"),
        Create("/consumers/offsets/offsets/a/0", b"8"),
    )
    assert consumer_groups(store, ["a", "c"]) == {"a": ("live", "offsets"), "c": ("black",)}


def test_a_cluster_without_old_consumers(store: Store) -> None:
    assert consumer_groups(store, ["a"]) == {"a": ()}
