"""Every `inspect` table on a real ZooKeeper: recorded clusters, broken and forbidden znodes, hostile names."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_acl
from support.live.cluster import command
from support.live.waiting import wait_until
from support.zookeeper.recorded_znodes import CLUSTERS, OLD_CONSUMERS, load, write

from kadmin.cli.inspect import TABLES
from kadmin.cluster.kafka import connection
from kadmin.cluster.model import Create, Delete, SetData
from kadmin.cluster.zookeeper.store import Store
from kadmin.operations.clock import Clock
from kadmin.operations.execute.runner import Context
from kadmin.operations.record.record import Paths
from kadmin.operations.zookeeper.inspect import TABLES as READ
from kadmin.operations.zookeeper.inspect import inspect, inspect_tree, inspect_znode
from kadmin.report.tables import table_answer, table_csv, table_text
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kadmin.operations.zookeeper.inspect import Inspection
    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.zookeeper

QUESTION_S = 0.1
"""Nobody runs the brokers of a recording; they need not be waited for."""
COMMANDS = [*([name] for name in TABLES), ["tree", "--depth", "9"], ["znode", "/brokers/ids/1"]]
CREDENTIAL = "kJ8s-not-to-be-seen"


@pytest.fixture(autouse=True)
def _unanswered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BOOTSTRAP_S", QUESTION_S)


@pytest.fixture
def brokers(chroot: str) -> Iterator[Store]:
    """A recorded 2.8.2 cluster."""
    with Store.connect(chroot) as store:
        load(store, "2.8.2")
        yield store


def asked(store: Store, *arguments: str) -> dict[str, Any]:
    """Ask for JSON, and hold it against its schema."""
    answer = command("inspect", *arguments, "-z", store.connect_string, "-o", "json")
    assert answer.status == 0, answer.err
    value: dict[str, Any] = json.loads(answer.out)
    assert validate_value(value, f"answers/inspect-{arguments[0]}") == [], answer.out
    return value


def rows(store: Store, *arguments: str) -> list[dict[str, Any]]:
    """Ask for JSON where everything can be read."""
    value = asked(store, *arguments)
    assert value["unreadable"] == []
    found: list[dict[str, Any]] = value[arguments[0].replace("-", "_")]
    return found


def look(store: Store, arguments: list[str]) -> Inspection:
    """Read a table without a command line around it."""
    context = Context(store, Paths(), Clock(), lambda _: None)
    match arguments:
        case ["tree", *_]:
            return inspect_tree(context, "/", 9)
        case ["znode", path]:
            return inspect_znode(context, path)
    return inspect(context, arguments[0])


def read(store: Store, *arguments: str) -> list[dict[str, Any]]:
    """Read a table where everything can be read, and hold it against its schema."""
    found = look(store, list(arguments))
    value = table_answer(found.table, found.unreadable, found.unavailable)
    assert validate_value(value, f"answers/inspect-{arguments[0]}") == [], value
    assert value["unreadable"] == []
    listed: list[dict[str, Any]] = value[arguments[0].replace("-", "_")]
    return listed


def test_every_table_has_its_command() -> None:
    assert set(READ) == set(TABLES)


@pytest.mark.parametrize("version", CLUSTERS)
def test_a_recorded_cluster_of_every_version_is_shown_whole(chroot: str, version: str) -> None:
    with Store.connect(chroot) as store:
        load(store, version)
        before = store.last_zxid
        assert [row["alive"] for row in read(store, "brokers")] == [True, True, True]
        assert {row["topic"] for row in read(store, "topics")} == {"__consumer_offsets", "alpha", "beta"}
        assert all(row["condition"] == [] for row in read(store, "partitions"))
        [now] = [row for row in read(store, "controller") if row["current"]]
        assert now["broker_id"] == read(store, "cluster")[0]["controller"]
        assert {"retention.ms", "cleanup.policy"} <= {row["key"] for row in read(store, "configs")}
        assert len(read(store, "producer-ids")) == (version != "0.10.2.2")
        assert [row["path"] for row in read(store, "notifications")] == ["/config/changes/config_change_0000000000"]
        assert read(store, "acls") == []
        assert read(store, "consumers") == []
        tree = read(store, "tree")
        assert {row["condition"] for row in tree} == {None, "decoded"}
        for row in tree:
            assert read(store, "znode", row["path"])[0]["problem"] is None
        changed = [row["path"] for row in tree if (node := store.get(row["path"])) and node.mzxid > before]
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
    """One member alive with two threads; another is gone, and a partition is owned under both of its names."""
    alive = "g-1_host-a.b-1700000000123-0a1b2c3d"
    registered = b'{"version":1,"subscription":{"t":2},"pattern":"static","timestamp":"1700000000124"}'
    owners = {"0": f"{alive}-0", "1": "g-1_fixed-0", "2-0": f"{alive}-0"}
    folders = [f"/consumers/g-1{each}" for each in ("", "/ids", "/owners", "/owners/t")]
    made = [path for path in ("/consumers", *folders) if brokers.exists(path) is None]
    write(brokers, *(Create(path) for path in made), Create(f"/consumers/g-1/ids/{alive}", registered))
    write(brokers, *(Create(f"/consumers/g-1/owners/t/{name}", value.encode()) for name, value in owners.items()))
    found = {row["name"]: row for row in rows(brokers, "consumers", "--filter", "group=g-1")}
    parts = ("host", "started", "uuid", "idle_threads")
    assert [found[alive][part] for part in parts] == ["host-a.b", "2023-11-14T22:13:20Z", "0a1b2c3d", [1]]
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
    assert [each.partition(":")[0] for each in value["unavailable"]] == ["bytes on disk are not known"]
    human = command("inspect", "brokers", "-z", brokers.connect_string)
    assert "bytes on disk are not known" in human.err
    assert "bytes on disk" not in human.out


def test_sorted_filtered_and_in_every_format(brokers: Store) -> None:
    given = ["--filter", "topic=__*", "--filter", "leader!=1", "--sort", "-leader", "--sort", "partition"]
    found = rows(brokers, "partitions", *given)
    assert [(row["partition"], row["leader"]) for row in found] == [(2, 2), (0, 0), (3, 0)]
    shown = command("inspect", "partitions", *given, "-z", brokers.connect_string, "-o", "csv")
    assert [row["replicas"] for row in csv.DictReader(io.StringIO(shown.out))] == ["2;0;1", "0;1;2", "0;2;1"]
    human = command("inspect", "partitions", *given, "-z", brokers.connect_string).out.splitlines()
    assert human[0].split()[:3] == ["topic", "partition", "leader"]
    assert human[1].split()[:3] == ["__consumer_offsets", "2", "2"]
    for wrong in (["--sort", "size"], ["--filter", "size=1"], ["--filter", "leader"]):
        assert command("inspect", "partitions", *wrong, "-z", brokers.connect_string).status == 64


def test_f20_what_is_broken_or_forbidden_is_named_and_the_rest_shown(brokers: Store, zookeeper: Sandbox) -> None:
    write(
        brokers,
        SetData("/brokers/topics/beta", b"{", -1),
        SetData("/brokers/topics/alpha/partitions/0/state", b"\xff", -1),
        SetData("/latest_producer_id_block", b"[]", -1),
        Create("/isr_change_notification/isr_change_0000000001", b"nonsense"),
        Delete("/brokers/ids/2", -1),
        Create("/brokers/ids/2", b'{"version":5}'),
    )
    owner = KazooClient(zookeeper.connect_string, auth_data=[("digest", "kafka:secret")])
    owner.start()
    try:
        private = [make_acl("auth", "", all=True)]
        for path in ("/config/topics/private", "/config/users/private"):
            owner.create(brokers.chroot + path, b"{}", acl=private)
        topics = asked(brokers, "topics")
        assert {row["topic"] for row in topics["topics"]} == {"__consumer_offsets", "alpha"}
        reasons = {each["path"]: each["reason"] for each in topics["unreadable"]}
        assert set(reasons) >= {"/brokers/topics/beta", "/brokers/topics/alpha/partitions/0/state", "/brokers/ids/2"}
        assert "not JSON" in reasons["/brokers/topics/beta"]
        [first] = [
            row
            for row in asked(brokers, "partitions", "--filter", "partition=0")["partitions"]
            if row["topic"] == "alpha"
        ]
        assert (first["leader"], first["condition"]) == (None, ["no-state"])
        assert [row["broker_id"] for row in asked(brokers, "brokers", "--filter", "alive=no")["brokers"]] == [2]
        assert asked(brokers, "producer-ids")["producer_ids"] == []
        assert any("not readable" in row["subject"] for row in asked(brokers, "notifications")["notifications"])
        denied = {each["path"] for each in asked(brokers, "configs")["unreadable"] if each["denied"]}
        assert denied == {"/config/topics/private", "/config/users/private"}
        assert asked(brokers, "znode", "/config/topics/private")["unreadable"][0]["denied"]
        assert "not JSON" in asked(brokers, "znode", "/brokers/topics/beta")["znode"][0]["problem"]
        human = command("inspect", "topics", "-z", brokers.connect_string).out
        assert "not readable: /brokers/topics/beta: not JSON" in human
        table = command("inspect", "topics", "-z", brokers.connect_string, "-o", "csv")
        assert "not readable" in table.err
        assert "not readable" not in table.out
        for arguments in COMMANDS:
            assert look(brokers, arguments)
    finally:
        owner.stop()
        owner.close()


def test_a_controller_that_cannot_be_read_hides_nothing_else(brokers: Store) -> None:
    write(brokers, Delete("/controller", -1), Create("/controller", b"7"), SetData("/controller_epoch", b"x", -1))
    value = asked(brokers, "cluster")
    assert (value["cluster"][0]["controller"], value["cluster"][0]["partitions"]) == (None, 8)
    assert [each["path"] for each in value["unreadable"]] == ["/controller", "/controller_epoch"]


def test_controllers_of_before_are_seen_by_what_they_wrote_last(brokers: Store) -> None:
    """Epoch 2 wrote one state, and nobody since; 3 is the present one, whoever it is."""
    state = "/brokers/topics/beta/partitions/0/state"
    second = json.dumps({"controller_epoch": 2, "leader": 1, "version": 1, "leader_epoch": 3, "isr": [1, 0]})
    write(brokers, SetData(state, second.encode(), -1), SetData("/controller_epoch", b"3", -1))
    found = {row["epoch"]: row for row in rows(brokers, "controller")}
    written = {epoch: (row["current"], row["broker_id"], row["partition_states"]) for epoch, row in found.items()}
    assert written == {3: (True, 1, 0), 2: (False, None, 1), 1: (False, None, 7)}
    times = {path: rows(brokers, "znode", path)[0] for path in (state, "/controller")}
    assert (found[3]["elected"], found[3]["last_write"]) == (times["/controller"]["created"], None)
    written_at = times[state]["modified"]
    assert [found[2][column] for column in ("elected", "first_write", "last_write")] == [None, written_at, written_at]
    (node,) = rows(brokers, "znode", "/brokers/ids/1")
    assert [row["since"] for row in rows(brokers, "brokers", "--filter", "broker_id=1")] == [node["created"]]


def test_a_table_of_the_whole_cluster_counts_each_condition(brokers: Store) -> None:
    state = {"controller_epoch": 1, "leader": 1, "version": 1, "leader_epoch": 3, "isr": [1]}
    write(
        brokers,
        SetData("/brokers/topics/alpha/partitions/0/state", json.dumps(state).encode(), -1),
        SetData("/brokers/topics/alpha/partitions/1/state", json.dumps({**state, "leader": -1}).encode(), -1),
        SetData("/config/topics/beta", b'{"version":1,"config":{"min.insync.replicas":"2"}}', -1),
    )
    shown = ("offline", "under_replicated", "under_min_isr", "at_min_isr", "not_preferred", "no_state", "moving")
    (whole,) = rows(brokers, "cluster")
    assert [whole[column] for column in shown] == [1, 2, 0, 2, 2, 0, 0]
    topics = {row["topic"]: [row[column] for column in shown] for row in rows(brokers, "topics")}
    assert (topics["alpha"], topics["beta"]) == ([1, 2, 0, 1, 2, 0, 0], [0, 0, 0, 1, 0, 0, 0])


def test_leftovers_and_credentials_in_configs(brokers: Store) -> None:
    throttle = b'{"version":1,"config":{"leader.replication.throttled.rate":"1"}}'
    scram = json.dumps({"version": 1, "config": {"SCRAM-SHA-256": CREDENTIAL}}).encode()
    token = {"version": 1, "owner": "User:a", "renewers": [], "tokenId": "t", "hmac": CREDENTIAL}
    write(
        brokers,
        Create("/config/brokers/7", throttle),
        Create("/config/topics/gone", b'{"version":1,"config":{"retention.ms":"1"}}'),
        Create("/config/users/a%40b", scram),
        Create("/config/users/a%40b/clients"),
        Create("/config/users/a%40b/clients/app", b'{"version":1,"config":{"request_percentage":"9"}}'),
        *(Create(path) for path in ("/delegation_token", "/delegation_token/tokens")),
        Create("/delegation_token/tokens/t", json.dumps(token).encode()),
    )
    found = {(row["entity"], row["key"]): row for row in rows(brokers, "configs")}
    left = found["brokers/7", "leader.replication.throttled.rate"]
    assert left["condition"] == ["broker-not-alive", "throttle", "nothing-moving"]
    assert found["topics/gone", "retention.ms"]["condition"] == ["no-such-topic"]
    assert found["users/a@b", "SCRAM-SHA-256"]["value"] == "(hidden)"
    assert found["users/a@b/clients/app", "request_percentage"]["value"] == "9"
    for path in ("/config/users/a%40b", "/delegation_token/tokens/t"):
        answer = command("inspect", "znode", path, "-z", brokers.connect_string)
        assert answer.status == 0
        assert CREDENTIAL not in answer.out


def test_a_credential_where_it_does_not_belong_is_not_quoted(brokers: Store) -> None:
    """What is told of a value that is no string is its type."""
    documents = {
        "/config/users/odd": {"version": 1, "config": {"SCRAM-SHA-256": [CREDENTIAL]}},
        "/config/brokers/1": {"version": 1, "config": CREDENTIAL},
        "/config/brokers/2": CREDENTIAL,
    }
    write(brokers, *(Create(path, json.dumps(value).encode()) for path, value in documents.items()))
    asked = [("inspect", "configs"), ("doctor",), *(("inspect", "znode", path) for path in documents)]
    answers = [command(*each, "-z", brokers.connect_string, "-o", "json") for each in asked]
    assert all(CREDENTIAL not in answer.out + answer.err for answer in answers)
    assert "SCRAM-SHA-256 is not a string but list" in answers[0].out
    assert "config is not an object but str" in answers[1].out


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
    assert [row["topic"] for row in rows(brokers, "admin-entries", "--filter", "flaws=unknown*")] == ["no"]
    table = command("inspect", "admin", "-z", brokers.connect_string, "-o", "csv")
    assert [row["topic"] for row in csv.DictReader(io.StringIO(table.out))] == ["alpha", "no", "", "beta"]
    # The session that holds the recorded /controller watches nothing: each look is two, seconds apart.
    watched = command("inspect", "admin", "-z", brokers.connect_string, "--watch", "--timeout", "9")
    assert (watched.status, watched.out.count("/admin/delete_topics: 1 topic queued") > 1) == (0, True), watched.out
    assert watched.out.count("  not watched by the controller") == 2 * watched.out.count("/admin/delete_topics")
    listening = json.loads(command("inspect", "admin", "-z", brokers.connect_string, "-o", "json").out)["listening"]
    assert listening == {"reassignment": "deaf", "election": "deaf"}


def test_acls_of_both_layouts(brokers: Store) -> None:
    rule = {"principal": "User:a", "permissionType": "Allow", "operation": "Read", "host": "*"}
    data = json.dumps({"version": 1, "acls": [rule]}).encode()
    folders = ("/kafka-acl", "/kafka-acl/Topic", "/kafka-acl-extended")
    write(brokers, *(Create(path) for path in folders))
    write(brokers, *(Create(f"/kafka-acl-extended{path}") for path in ("/prefixed", "/prefixed/Group")))
    write(brokers, Create("/kafka-acl/Topic/orders", data), Create("/kafka-acl-extended/prefixed/Group/app-", data))
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


def test_hostile_names_reach_no_terminal(brokers: Store) -> None:
    hostile = "\u202e[red]x"
    body = json.dumps({"version": 1, "config": {"\x1b[31mk": "\u009bv\n"}}).encode()
    write(
        brokers,
        Create(f"/config/users/{hostile}", body),
        Create(f"/consumers/{hostile}"),
        Create(f"/consumers/{hostile}/ids"),
        Create(f"/consumers/{hostile}/ids/x", b'{"version":1,"subscription":{"\\u001b[2J":1},"pattern":"static"}'),
        SetData("/controller_epoch", b"1\x1b", -1),
    )
    for arguments in COMMANDS:
        found = look(brokers, arguments)
        answer = json.dumps(table_answer(found.table, found.unreadable), ensure_ascii=False)
        for shown in (table_text(found.table, found.unreadable), table_csv(found.table), answer):
            assert all(line.isprintable() for line in shown.splitlines())


def test_a_znode_that_is_not_there_is_told_with_where_to_look(brokers: Store) -> None:
    for arguments in (["znode", "/admin/nothing"], ["tree", "/admin/nothing"]):
        answer = command("inspect", *arguments, "-z", brokers.connect_string)
        assert answer.status == 4
        assert "kadmin inspect tree /admin" in answer.err


def test_a_tree_may_be_asked_for_deeper_than_it_is(brokers: Store) -> None:
    assert rows(brokers, "tree", "/config", "--depth", "999999999") == rows(brokers, "tree", "/config", "--depth", "9")


def test_what_is_no_cluster_is_refused(chroot: str) -> None:
    for arguments in (["brokers"], ["tree"], ["znode", "/"]):
        assert command("inspect", *arguments, "-z", chroot).status == 6


def test_watching_shows_the_table_again_until_the_timeout_and_never_clears_a_pipe(brokers: Store) -> None:
    answer = command("inspect", "cluster", "-z", brokers.connect_string, "--watch", "--timeout", "5", "-o", "csv")
    assert answer.status == 0, answer.err
    looks = answer.out.splitlines()
    assert len(looks) > 2
    assert set(looks[::2]) == {looks[0]}
    assert "\x1b" not in answer.out


def test_watching_on_a_terminal_clears_it_and_ends_by_a_signal(brokers: Store, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    asked_for = [sys.executable, "-m", "kadmin", "inspect", "controller", "--watch", "-z", brokers.connect_string]
    with (tmp_path / "err").open("wb") as err, subprocess.Popen(asked_for, stdout=theirs, stderr=err) as watching:
        os.close(theirs)
        seen = bytearray()

        def looked_twice() -> bool:
            seen.extend(os.read(ours, 65_536))
            return seen.count(b"\x1b[2J\x1b[H") > 1

        wait_until(looked_twice, 60)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(30) == 130
    os.close(ours)
    assert b"broker_id" in seen
