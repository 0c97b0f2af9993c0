"""The doctor on a real ZooKeeper: planted troubles, denied paths, hostile names; and nothing is
ever written.
"""

from __future__ import annotations

import json
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_acl
from support.cli.in_process import command
from support.zookeeper.recorded_znodes import CLUSTERS, load, write

from kadmin.errors import StoppedError
from kadmin.operations.context import Clock
from kadmin.schema import validate_value
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.doctor.gather import gather
from kadmin.worlds.zookeeper.model import Create, Delete, SetData
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.zookeeper

REASSIGN = "/admin/reassign_partitions"
ELECTION = "/admin/preferred_replica_election"
WATCHED = (REASSIGN, ELECTION)


@pytest.fixture
def brokers(chroot: str) -> Iterator[Store]:
    """A recorded 2.8.2 cluster whose controller, this session, watches both admin nodes while they
    are absent.
    """
    with Store.connect(chroot) as store:
        load(store, "2.8.2")
        watch(store)
        yield store


def watch(store: Store, *paths: str) -> None:
    for path in paths or WATCHED:
        store._client.exists(store.chroot + path, watch=lambda _: None)


def doctor(store: Store) -> tuple[int, dict[str, Any]]:
    answer = command("doctor", "-z", store.connect_string, "-o", "json")
    value: dict[str, Any] = json.loads(answer.out)
    assert validate_value(value, "answers/doctor") == []
    return answer.status, value


def troubles(store: Store) -> list[str]:
    return [found["trouble"] for found in doctor(store)[1]["findings"]]


def inspected(store: Store) -> dict[str, Any]:
    answer = command("inspect", "admin", "-z", store.connect_string, "-o", "json")
    assert answer.status == 0, answer.err
    value: dict[str, Any] = json.loads(answer.out)
    assert validate_value(value, "answers/inspect-admin") == []
    return value


@pytest.mark.parametrize("version", CLUSTERS)
def test_a_recorded_cluster_of_every_version_is_healthy(chroot: str, version: str) -> None:
    with Store.connect(chroot) as store:
        load(store, version)
        watch(store)
        before = store.last_zxid
        status, found = doctor(store)
        assert (status, found["stops_apply"], found["findings"]) == (0, False, [])
        (disks,) = found["not_checked"]
        assert "copies on disk that no partition uses: Nothing listens at 127.0.0.1" in disks
        assert inspected(store)["deletions"] == {"data": None, "topics": []}
        changed = [
            path
            for path in ("/", *WATCHED, "/admin", "/brokers", "/kadmin")
            if _mzxid(store, path) > before
        ]
        assert changed == []


def _mzxid(store: Store, path: str) -> int:
    node = store.exists(path)
    return 0 if node is None else node.mzxid


def test_f35_a_controller_that_watches_only_one_of_the_two(brokers: Store) -> None:
    write(brokers, Create(REASSIGN, b"{}"), Delete(REASSIGN, -1))
    watch(brokers, ELECTION)
    status, value = doctor(brokers)
    assert status == 8
    assert [(found["trouble"], found["path"]) for found in value["findings"]] == [
        ("deaf-controller", REASSIGN)
    ]


def test_f36_troubles_that_are_there_together(brokers: Store) -> None:
    strings = {"version": 3, "partitions": {"0": ["1", "2", 0, 1]}}
    write(
        brokers,
        Create(REASSIGN, b'{"version":1}'),
        Create(ELECTION, b'{"version":1,"partitions":[{"topic":"gone","partition":0}]}'),
        Create("/admin/delete_topics/gone"),
        SetData("/admin/delete_topics", b'{"version":1,"topics":["beta"]}', -1),
        SetData("/brokers/topics/beta", json.dumps(strings).encode(), -1),
        SetData("/brokers/topics/alpha/partitions/0/state", b"{", -1),
    )
    assert troubles(brokers) == [
        "poison-node",
        "zombie-node",
        "unreadable-znode",
        "string-ids",
        "stuck-deletion",
    ]
    value = inspected(brokers)
    assert (value["reassignment"]["effect"], value["election"]["effect"]) == ("poison", "obeyed")
    assert value["deletions"]["data"] == '{"version":1,"topics":["beta"]}'
    assert [each["flaw"] for each in value["deletions"]["topics"][0]["flaws"]] == ["unknown-topic"]
    human = command("inspect", "admin", "-z", brokers.connect_string).out
    assert "no controller reads the data" in human.replace("\n    ", " ")


def test_f36_no_controller(brokers: Store) -> None:
    write(brokers, Delete("/controller", -1))
    assert troubles(brokers) == ["no-controller"]


def test_f36_an_election_loop(brokers: Store) -> None:
    """Somebody raises the epoch ten times a second, as looping controllers do."""
    stop, epoch = threading.Event(), iter(range(2, 1_000))

    def elect() -> None:
        while not stop.wait(0.1):
            write(brokers, SetData("/controller_epoch", str(next(epoch)).encode(), -1))

    electing = threading.Thread(target=elect)
    electing.start()
    try:
        assert troubles(brokers) == ["election-loop"]
    finally:
        stop.set()
        electing.join()


def test_f20_paths_that_may_not_be_read_are_a_finding(brokers: Store, zookeeper: Sandbox) -> None:
    """A node under another identity, unreadable for us: neither the doctor nor inspect fails on
    it.
    """
    owner = KazooClient(zookeeper.connect_string, auth_data=[("digest", "kafka:secret")])
    owner.start()
    private = [make_acl("auth", "", all=True)]
    try:
        for path, data in ((REASSIGN, b"{}"), ("/config/brokers/1", b'{"version":1,"config":{}}')):
            owner.create(brokers.chroot + path, data, acl=private, makepath=True)
        status, value = doctor(brokers)
        assert status == 8
        assert [found["trouble"] for found in value["findings"]] == ["wrong-acl"]
        assert REASSIGN in value["findings"][0]["evidence"][0]
        assert "/config/brokers/1" in value["findings"][0]["evidence"][0]
        seen = inspected(brokers)
        assert seen["reassignment"] is None
        assert seen["not_allowed"] == [REASSIGN]
        assert (
            f"{REASSIGN}: not allowed to be read"
            in command("inspect", "admin", "-z", brokers.connect_string).out
        )
    finally:
        owner.stop()
        owner.close()


def test_hostile_names_reach_no_terminal(brokers: Store) -> None:
    hostile = {"topic": "\x1b[31m\u009b\u202e[red]x\ud800", "partition": 0, "replicas": [0]}
    data = json.dumps({"version": 1, "partitions": [hostile] * 70}).encode()
    holder = {
        "author": {"user": "\x1b]0;x\x07", "host": "h", "pid": 1},
        "operation_id": "\x1bop",
        "started_at": "x",
    }
    write(
        brokers,
        Create(REASSIGN, data + b"\x1b\xff"),
        Create(ELECTION, data),
        Create("/admin/delete_topics/é[red]"),
        Create("/kadmin"),
        Create("/kadmin/lock", json.dumps({**holder, "session_timeout_s": 1}).encode()),
    )
    for arguments in (("doctor",), ("inspect", "admin")):
        for form in ("human", "json"):
            answer = command(*arguments, "-z", brokers.connect_string, "-o", form)
            assert answer.status in {0, 8}, answer.err
            assert all(line.isprintable() for line in answer.out.splitlines())
            if form == "human":
                assert (
                    max(len(line) for line in answer.out.splitlines() if "next:" not in line) <= 80
                )
    assert "and 20 more" in command("inspect", "admin", "-z", brokers.connect_string).out


def test_an_unfinished_operation_and_a_record_that_cannot_be_read(brokers: Store) -> None:
    write(brokers, *(Create(path) for path in ("/kadmin", "/kadmin/operations")))
    write(brokers, Create("/kadmin/operations/20260101T000000Z-abcdef", b"nonsense"))
    status, value = doctor(brokers)
    assert status == 8
    assert [found["path"] for found in value["findings"]] == ["/kadmin/operations"]


def test_looks_that_a_signal_cut_short_prove_nothing(brokers: Store) -> None:
    """F28: the pause between two looks ends at once, and so does the doctor."""
    clock = Clock()
    with clock.deferring_signals():  # as under a lock
        clock.interrupt(signal.SIGINT)
    with pytest.raises(StoppedError) as stopped:
        gather(zookeeper_context(brokers, Paths(), clock, lambda _: None))
    assert stopped.value.exit_status == 130


def test_a_controller_that_is_elected_between_two_looks_is_asked_whether_it_watches(
    brokers: Store,
) -> None:
    """Rule: no controller at the first look, a deaf one at the second: heal ended as if all were
    healed.
    """
    with Store.connect(brokers.connect_string) as deaf:

        class Electing(Clock):
            def wait(self, seconds: float) -> None:
                if deaf.exists("/controller") is None:
                    node = b'{"version":1,"brokerid":1,"timestamp":"1"}'
                    write(deaf, Create("/controller", node, ephemeral=True))
                super().wait(seconds)

        write(brokers, Delete("/controller", -1))
        found = gather(zookeeper_context(brokers, Paths(), Electing(), lambda _: None))
    assert [sample.controller is None for sample in found.samples[:2]] == [True, False]
    assert found.not_watching == frozenset(WATCHED)


def test_what_is_no_cluster_is_refused(chroot: str) -> None:
    for arguments in (("doctor",), ("inspect", "admin")):
        assert command(*arguments, "-z", chroot).status == 6
