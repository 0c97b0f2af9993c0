"""`kadmin inspect` on a real ZooKeeper: options, broken and forbidden znodes, credentials, hostile
names.
"""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_acl
from support.cli.in_process import command
from support.live.waiting import wait_until
from support.zookeeper.inspection import COMMANDS, asked, look, rows
from support.zookeeper.recorded_znodes import write

from kadmin.report.cluster.tables import table_answer, table_csv, table_text
from kadmin.schema.shapes import to_json
from kadmin.worlds.zookeeper.model import Create, Delete, SetData

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.sandbox import Sandbox
    from kadmin.worlds.zookeeper.wire.store import Store


pytestmark = [pytest.mark.zookeeper, pytest.mark.usefixtures("unanswered")]
CREDENTIAL = "kJ8s-not-to-be-seen"


def test_sorted_filtered_and_in_every_format(brokers: Store) -> None:
    given = [
        "--filter",
        "topic=__*",
        "--filter",
        "leader!=1",
        "--sort",
        "-leader",
        "--sort",
        "partition",
    ]
    found = rows(brokers, "partitions", *given)
    assert [(row["partition"], row["leader"]) for row in found] == [(2, 2), (0, 0), (3, 0)]
    shown = command("inspect", "partitions", *given, "-z", brokers.connect_string, "-o", "csv")
    assert [row["replicas"] for row in csv.DictReader(io.StringIO(shown.out))] == [
        "2;0;1",
        "0;1;2",
        "0;2;1",
    ]
    human = command("inspect", "partitions", *given, "-z", brokers.connect_string).out.splitlines()
    assert human[0].split()[:3] == ["topic", "partition", "leader"]
    assert human[1].split()[:3] == ["__consumer_offsets", "2", "2"]
    for wrong in (["--sort", "size"], ["--filter", "size=1"], ["--filter", "leader"]):
        assert command("inspect", "partitions", *wrong, "-z", brokers.connect_string).status == 64


def test_f20_what_is_broken_or_forbidden_is_named_and_the_rest_shown(
    brokers: Store, zookeeper: Sandbox
) -> None:
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
        assert set(reasons) >= {
            "/brokers/topics/beta",
            "/brokers/topics/alpha/partitions/0/state",
            "/brokers/ids/2",
        }
        assert "not JSON" in reasons["/brokers/topics/beta"]
        [first] = [
            row
            for row in asked(brokers, "partitions", "--filter", "partition=0")["partitions"]
            if row["topic"] == "alpha"
        ]
        assert (first["leader"], first["condition"]) == (None, ["no-state"])
        assert [
            row["broker_id"] for row in asked(brokers, "brokers", "--filter", "alive=no")["brokers"]
        ] == [2]
        assert asked(brokers, "producer-ids")["producer_ids"] == []
        assert any(
            "not readable" in row["subject"]
            for row in asked(brokers, "notifications")["notifications"]
        )
        denied = {
            each["path"] for each in asked(brokers, "configs")["unreadable"] if each["denied"]
        }
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
        Create(
            "/config/users/a%40b/clients/app", b'{"version":1,"config":{"request_percentage":"9"}}'
        ),
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
    asked = [
        ("inspect", "configs"),
        ("doctor",),
        *(("inspect", "znode", path) for path in documents),
    ]
    answers = [command(*each, "-z", brokers.connect_string, "-o", "json") for each in asked]
    assert all(CREDENTIAL not in answer.out + answer.err for answer in answers)
    assert "SCRAM-SHA-256 is not a string but list" in answers[0].out
    assert "config is not an object but str" in answers[1].out


def test_hostile_names_reach_no_terminal(brokers: Store) -> None:
    hostile = "\u202e[red]x"
    body = json.dumps({"version": 1, "config": {"\x1b[31mk": "\u009bv\n"}}).encode()
    write(
        brokers,
        Create(f"/config/users/{hostile}", body),
        Create(f"/consumers/{hostile}"),
        Create(f"/consumers/{hostile}/ids"),
        Create(
            f"/consumers/{hostile}/ids/x",
            b'{"version":1,"subscription":{"\\u001b[2J":1},"pattern":"static"}',
        ),
        SetData("/controller_epoch", b"1\x1b", -1),
    )
    for arguments in COMMANDS:
        found = look(brokers, arguments)
        answer = to_json(table_answer(found.table, found.unreadable))
        for shown in (table_text(found.table, found.unreadable), table_csv(found.table), answer):
            assert all(line.isprintable() for line in shown.splitlines())


def test_a_znode_that_is_not_there_is_told_with_where_to_look(brokers: Store) -> None:
    for arguments in (["znode", "/admin/nothing"], ["tree", "/admin/nothing"]):
        answer = command("inspect", *arguments, "-z", brokers.connect_string)
        assert answer.status == 4
        assert "kadmin inspect tree /admin" in answer.err


def test_a_tree_may_be_asked_for_deeper_than_it_is(brokers: Store) -> None:
    assert rows(brokers, "tree", "/config", "--depth", "999999999") == rows(
        brokers, "tree", "/config", "--depth", "9"
    )


def test_what_is_no_cluster_is_refused(chroot: str) -> None:
    for arguments in (["brokers"], ["tree"], ["znode", "/"]):
        assert command("inspect", *arguments, "-z", chroot).status == 6


def test_watching_shows_the_table_again_until_the_timeout_and_never_clears_a_pipe(
    brokers: Store,
) -> None:
    answer = command(
        "inspect", "cluster", "-z", brokers.connect_string, "--watch", "--timeout", "5", "-o", "csv"
    )
    assert answer.status == 0, answer.err
    looks = answer.out.splitlines()
    assert len(looks) > 2
    assert set(looks[::2]) == {looks[0]}
    assert "\x1b" not in answer.out


def test_watching_on_a_terminal_clears_it_and_ends_by_a_signal(
    brokers: Store, tmp_path: Path
) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 200))
    asked_for = [
        sys.executable,
        "-m",
        "kadmin",
        "inspect",
        "controller",
        "--watch",
        "-z",
        brokers.connect_string,
    ]
    terminal = {**os.environ, "TERM": "xterm"}
    with (
        (tmp_path / "err").open("wb") as err,
        subprocess.Popen(asked_for, stdout=theirs, stderr=err, env=terminal) as watching,
    ):
        os.close(theirs)
        seen = bytearray()

        def looked_twice() -> bool:
            if select.select([ours], [], [], 0)[0]:
                seen.extend(os.read(ours, 65_536))
            return seen.count(b"\x1b[2J\x1b[H") > 1

        try:
            wait_until(looked_twice, 60)
            watching.send_signal(signal.SIGINT)
            assert watching.wait(30) == 130
        finally:
            watching.kill()
    os.close(ours)
    assert b"broker_id" in seen
