"""Every `inspect` table on a real ZooKeeper that holds a recorded cluster."""

from __future__ import annotations

import csv
import io
import json

import pytest
from support.cli.in_process import command
from support.zookeeper.inspection import asked, read, rows
from support.zookeeper.recorded_znodes import CLUSTERS, OLD_CONSUMERS, load, write

from kadmin.cli.inspect import TABLES
from kadmin.worlds.zookeeper.inspection import TABLES as READ
from kadmin.worlds.zookeeper.model import Create, Delete, SetData
from kadmin.worlds.zookeeper.wire.store import Store

pytestmark = [pytest.mark.zookeeper, pytest.mark.usefixtures("unanswered")]


def test_every_table_has_its_command() -> None:
    assert set(READ) == set(TABLES)


@pytest.mark.parametrize("version", CLUSTERS)
def test_a_recorded_cluster_of_every_version_is_shown_whole(chroot: str, version: str) -> None:
    with Store.connect(chroot) as store:
        load(store, version)
        before = store.last_zxid
        assert [row["alive"] for row in read(store, "brokers")] == [True, True, True]
        assert {row["topic"] for row in read(store, "topics")} == {
            "__consumer_offsets",
            "alpha",
            "beta",
        }
        assert all(row["condition"] == [] for row in read(store, "partitions"))
        [now] = [row for row in read(store, "controller") if row["current"]]
        assert now["broker_id"] == read(store, "cluster")[0]["controller"]
        assert {"retention.ms", "cleanup.policy"} <= {row["key"] for row in read(store, "configs")}
        assert len(read(store, "producer-ids")) == (version != "0.10.2.2")
        assert [row["path"] for row in read(store, "notifications")] == [
            "/config/changes/config_change_0000000000"
        ]
        assert read(store, "acls") == []
        assert read(store, "consumers") == []
        tree = read(store, "tree")
        assert {row["condition"] for row in tree} == {None, "decoded"}
        for row in tree:
            assert read(store, "znode", row["path"])[0]["problem"] is None
        changed = [
            row["path"] for row in tree if (node := store.get(row["path"])) and node.mzxid > before
        ]
        assert changed == []


@pytest.mark.parametrize("name", OLD_CONSUMERS)
def test_old_consumers_are_listed(chroot: str, name: str) -> None:
    with Store.connect(chroot) as store:
        load(store, name)
        write(store, *(Create(p) for p in ("/brokers", "/brokers/ids") if store.exists(p) is None))
        if store.exists("/controller_epoch") is None:
            write(store, Create("/controller_epoch", b"1"))
        found = read(store, "consumers")
        assert {row["kind"] for row in found} == {"member", "owner", "offset"}
        assert all(row["partition"] == int(row["name"]) for row in found if row["kind"] != "member")


def test_owners_that_cannot_be_right(brokers: Store) -> None:
    """One member alive with two threads; another is gone, and a partition is owned under both of
    its names.
    """
    alive = "g-1_host-a.b-1700000000123-0a1b2c3d"
    registered = (
        b'{"version":1,"subscription":{"t":2},"pattern":"static","timestamp":"1700000000124"}'
    )
    owners = {"0": f"{alive}-0", "1": "g-1_fixed-0", "2-0": f"{alive}-0"}
    folders = [f"/consumers/g-1{each}" for each in ("", "/ids", "/owners", "/owners/t")]
    made = [path for path in ("/consumers", *folders) if brokers.exists(path) is None]
    write(
        brokers, *(Create(path) for path in made), Create(f"/consumers/g-1/ids/{alive}", registered)
    )
    write(
        brokers,
        *(
            Create(f"/consumers/g-1/owners/t/{name}", value.encode())
            for name, value in owners.items()
        ),
    )
    found = {row["name"]: row for row in rows(brokers, "consumers", "--filter", "group=g-1")}
    parts = ("host", "started", "uuid", "idle_threads")
    assert [found[alive][part] for part in parts] == [
        "host-a.b",
        "2023-11-14T22:13:20Z",
        "0a1b2c3d",
        [1],
    ]
    assert [found["1"][part] for part in parts] == [None, None, None, []]
    assert {name: row["condition"] for name, row in found.items()} == {
        alive: ["idle-threads"],
        "0": ["duplicate"],
        "1": ["orphaned"],
        "2-0": ["duplicate"],
    }


def test_bytes_that_no_broker_tells_are_not_known(brokers: Store) -> None:
    value = asked(brokers, "brokers")
    assert {row["size_bytes"] for row in value["brokers"]} == {None}
    assert [each.partition(":")[0] for each in value["unavailable"]] == [
        "bytes on disk are not known"
    ]
    human = command("inspect", "brokers", "-z", brokers.connect_string)
    assert "bytes on disk are not known" in human.err
    assert "bytes on disk" not in human.out


def test_a_controller_that_cannot_be_read_hides_nothing_else(brokers: Store) -> None:
    write(
        brokers,
        Delete("/controller", -1),
        Create("/controller", b"7"),
        SetData("/controller_epoch", b"x", -1),
    )
    value = asked(brokers, "cluster")
    assert (value["cluster"][0]["controller"], value["cluster"][0]["partitions"]) == (None, 8)
    assert [each["path"] for each in value["unreadable"]] == ["/controller", "/controller_epoch"]


def test_controllers_of_before_are_seen_by_what_they_wrote_last(brokers: Store) -> None:
    """Epoch 2 wrote one state, and nobody since; 3 is the present one, whoever it is."""
    state = "/brokers/topics/beta/partitions/0/state"
    second = json.dumps(
        {"controller_epoch": 2, "leader": 1, "version": 1, "leader_epoch": 3, "isr": [1, 0]}
    )
    write(brokers, SetData(state, second.encode(), -1), SetData("/controller_epoch", b"3", -1))
    found = {row["epoch"]: row for row in rows(brokers, "controller")}
    written = {
        epoch: (row["current"], row["broker_id"], row["partition_states"])
        for epoch, row in found.items()
    }
    assert written == {3: (True, 1, 0), 2: (False, None, 1), 1: (False, None, 7)}
    times = {path: rows(brokers, "znode", path)[0] for path in (state, "/controller")}
    assert (found[3]["elected"], found[3]["last_write"]) == (times["/controller"]["created"], None)
    written_at = times[state]["modified"]
    assert [found[2][column] for column in ("elected", "first_write", "last_write")] == [
        None,
        written_at,
        written_at,
    ]
    (node,) = rows(brokers, "znode", "/brokers/ids/1")
    assert [row["since"] for row in rows(brokers, "brokers", "--filter", "broker_id=1")] == [
        node["created"]
    ]


def test_a_table_of_the_whole_cluster_counts_each_condition(brokers: Store) -> None:
    state = {"controller_epoch": 1, "leader": 1, "version": 1, "leader_epoch": 3, "isr": [1]}
    write(
        brokers,
        SetData("/brokers/topics/alpha/partitions/0/state", json.dumps(state).encode(), -1),
        SetData(
            "/brokers/topics/alpha/partitions/1/state",
            json.dumps({**state, "leader": -1}).encode(),
            -1,
        ),
        SetData("/config/topics/beta", b'{"version":1,"config":{"min.insync.replicas":"2"}}', -1),
    )
    shown = (
        "offline",
        "under_replicated",
        "under_min_isr",
        "at_min_isr",
        "not_preferred",
        "no_state",
        "moving",
    )
    (whole,) = rows(brokers, "cluster")
    assert [whole[column] for column in shown] == [1, 2, 0, 2, 2, 0, 0]
    topics = {row["topic"]: [row[column] for column in shown] for row in rows(brokers, "topics")}
    assert (topics["alpha"], topics["beta"]) == ([1, 2, 0, 1, 2, 0, 0], [0, 0, 0, 1, 0, 0, 0])


def test_entries_of_the_admin_znodes(brokers: Store) -> None:
    targets = [{"topic": topic, "partition": 1, "replicas": [2, 1]} for topic in ("alpha", "no")]
    moved = json.dumps({"version": 1, "partitions": targets}).encode()
    election, deleted = "/admin/preferred_replica_election", "/admin/delete_topics/beta"
    nodes = [("/admin/reassign_partitions", moved), (election, b"{"), (deleted, b"")]
    assert brokers.multi([Create(path, data) for path, data in nodes]).committed
    found = rows(brokers, "admin-entries", "--sort", "node", "--sort", "-topic")
    assert [(row["node"], row["topic"], row["partition"], row["replicas"]) for row in found] == [
        ("/admin/delete_topics", "beta", None, None),
        ("/admin/preferred_replica_election", None, None, None),
        ("/admin/reassign_partitions", "no", 1, [2, 1]),
        ("/admin/reassign_partitions", "alpha", 1, [2, 1]),
    ]
    assert [row["flaws"] for row in found] == [[], ["not-json"], ["unknown-topic"], []]
    assert [row["motion"] for row in found] == [None, None, None, "unclear"]
    assert [
        row["topic"] for row in rows(brokers, "admin-entries", "--filter", "flaws=unknown*")
    ] == ["no"]
    table = command("inspect", "admin", "-z", brokers.connect_string, "-o", "csv")
    assert [row["topic"] for row in csv.DictReader(io.StringIO(table.out))] == [
        "alpha",
        "no",
        "",
        "beta",
    ]
    # The session that holds the recorded /controller watches nothing: each look is two, seconds
    # apart.
    watched = command("inspect", "admin", "-z", brokers.connect_string, "--watch", "--timeout", "9")
    assert (watched.status, watched.out.count("/admin/delete_topics: 1 topic queued") > 1) == (
        0,
        True,
    ), watched.out
    assert watched.out.count("  not watched by the controller") == 2 * watched.out.count(
        "/admin/delete_topics"
    )
    listening = json.loads(
        command("inspect", "admin", "-z", brokers.connect_string, "-o", "json").out
    )["listening"]
    assert listening == {"reassignment": "deaf", "election": "deaf"}


def test_acls_of_both_layouts(brokers: Store) -> None:
    rule = {"principal": "User:a", "permissionType": "Allow", "operation": "Read", "host": "*"}
    data = json.dumps({"version": 1, "acls": [rule]}).encode()
    folders = ("/kafka-acl", "/kafka-acl/Topic", "/kafka-acl-extended")
    write(brokers, *(Create(path) for path in folders))
    write(
        brokers,
        *(Create(f"/kafka-acl-extended{path}") for path in ("/prefixed", "/prefixed/Group")),
    )
    write(
        brokers,
        Create("/kafka-acl/Topic/orders", data),
        Create("/kafka-acl-extended/prefixed/Group/app-", data),
    )
    found = [(row["resource_type"], row["name"], row["pattern"]) for row in rows(brokers, "acls")]
    assert found == [("Topic", "orders", "literal"), ("Group", "app-", "prefixed")]


def test_messages_are_told_with_their_kind_and_age(brokers: Store) -> None:
    event = "/log_dir_event_notification/log_dir_event_0000000003"
    isr = "/isr_change_notification/isr_change_0000000001"
    write(
        brokers,
        Create(isr, b'{"version":1,"partitions":[{"topic":"alpha","partition":0}]}'),
        Create(event, b'{"version":1,"broker":2,"event":1}'),
    )
    found = {row["kind"]: row for row in rows(brokers, "notifications")}
    assert [(kind, row["subject"]) for kind, row in found.items()] == [
        ("config", '"topics/beta"'),
        ("isr", '["alpha-0"]'),
        ("log-dir-of-broker", "2"),
    ]
    assert found["isr"]["since"] == rows(brokers, "znode", isr)[0]["created"]
