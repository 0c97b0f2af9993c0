from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

import pytest
from support.live.waiting import freeze, thaw

from kadmin.cluster.tls import Tls
from kadmin.errors import (
    InvalidInputError,
    NotAuthorizedError,
    NotZooKeeperModeError,
    UnreachableError,
)
from kadmin.worlds.zookeeper.model import Acl, Check, Create, Delete, MultiResult, SetData
from kadmin.worlds.zookeeper.wire.authentication import Authentication, Digest
from kadmin.worlds.zookeeper.wire.store import MAX_PACKET_BYTES, WINDOW, Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kadmin.sandbox import Sandbox
    from kadmin.worlds.zookeeper.model import Op

pytestmark = pytest.mark.zookeeper

OPEN = (Acl(31, "world", "anyone"),)
BROKERS = Acl(31, "digest", "kafka:8qvViWqT4kfbSwFT3BoKTiYmvJs=")  # the password is pw


@pytest.fixture
def store(chroot: str) -> Iterator[Store]:
    with Store.connect(chroot) as connected:
        yield connected


def committed(store: Store, *ops: Op) -> None:
    assert store.multi(ops) == MultiResult(committed=True)


def test_what_is_written_is_read(store: Store) -> None:
    committed(store, Create("/a", b"one"), Create("/a/b", b""), Create("/a/c"))
    node = store.get("/a")
    assert node is not None
    assert (node.path, node.data, node.version, node.cversion, node.ephemeral_owner) == (
        "/a",
        b"one",
        0,
        2,
        0,
    )
    assert node.czxid == node.mzxid > 0
    assert [each.data if each else 0 for each in store.get_many(["/a/b", "/nope", "/a/c"])] == [
        b"",
        0,
        None,
    ]
    assert store.children("/a") == ("b", "c")
    assert (store.children("/nope"), store.children("/a/b"), store.get("/nope")) == (None, (), None)
    facts = store.exists("/a")
    assert facts is not None
    assert (facts.data, facts.version, facts.mzxid) == (None, 0, node.mzxid)
    assert store.exists("/nope") is None
    assert store.acl("/a") == OPEN


def test_paths_are_below_the_chroot(store: Store, chroot: str) -> None:
    assert chroot.endswith(store.chroot)
    assert store.connect_string == chroot
    committed(store, Create("/a"))
    assert store.children("/") == ("a",)
    assert store.children_outside_chroot(store.chroot) == ("a",)
    assert store.chroot.removeprefix("/") in (store.children_outside_chroot("/") or ())
    assert store.children_outside_chroot("/nope") is None


def test_a_chroot_that_does_not_exist_is_never_created(zookeeper: Sandbox) -> None:
    with Store.connect(f"{zookeeper.connect_string}/mistyped") as store:
        assert store.exists("/") is None
        assert store.multi([Create("/a")]) == MultiResult(
            committed=False, failed=Create("/a"), reason="NoNode"
        )
        assert "mistyped" not in (store.children_outside_chroot("/") or ())
        with pytest.raises(NotZooKeeperModeError, match="/admin"):
            store.acl("/admin")


def test_a_multi_is_all_or_nothing_and_names_the_op_that_failed(store: Store) -> None:
    """Every element of kazoo's answer is inspected: it returns errors, and marks bystanders with
    errors too.
    """
    committed(store, Create("/a", b"one"), Create("/a/b"))
    refused: list[tuple[Op, str]] = [
        (Create("/a"), "NodeExists"),
        (Create("/x/y"), "NoNode"),
        (Check("/nope"), "NoNode"),
        (Check("/a", 7), "BadVersion"),
        (SetData("/a", b"two", 7), "BadVersion"),
        (SetData("/nope", b"two", -1), "NoNode"),
        (Delete("/a", -1), "NotEmpty"),
        (Delete("/a/b", 3), "BadVersion"),
        (Create("/c", acl=()), "InvalidACL"),
        (Create("/c", acl=(Acl(31, "auth", ""),)), "InvalidACL"),
    ]
    for failing, reason in refused:
        alone: list[Op] = [failing]
        for ops in (
            alone,
            [Create("/n"), failing, Create("/m")],
            [Check("/a"), failing, Check("/nope", 9)],
        ):
            assert store.multi(ops) == MultiResult(committed=False, failed=failing, reason=reason)
    assert store.children("/") == ("a",)
    assert getattr(store.get("/a"), "data", None) == b"one"


def test_checks_and_versions(store: Store) -> None:
    committed(store, Create("/a", b"0"))
    committed(store, Check("/a"), Check("/a", 0), SetData("/a", b"1", 0))
    committed(store, Check("/a", 1), SetData("/a", b"2", -1), Delete("/a", 2))
    assert store.exists("/a") is None


def test_ephemeral_and_sequential_znodes(store: Store, chroot: str) -> None:
    with Store.connect(chroot) as other:
        committed(
            other, Create("/lock", b"x", ephemeral=True), Create("/change_", b"y", sequential=True)
        )
        lock = store.get("/lock")
        assert lock is not None
        assert lock.ephemeral_owner == other.session_id != store.session_id
        assert store.children("/") == ("change_0000000001", "lock")
    assert store.children("/") == ("change_0000000001",)


def test_acls_are_copied_as_they_are(store: Store, chroot: str) -> None:
    """Who may change `/admin` sees its ACL whole; to others ZooKeeper masks the digest, and a mask
    is no copy.
    """
    secured = (BROKERS, Acl(1, "world", "anyone"))
    committed(store, Create("/admin", b"", secured))
    with pytest.raises(NotAuthorizedError, match="the ACL of /admin"):
        store.acl("/admin")
    with Store.connect(
        chroot, authentication=Authentication(digest=Digest("kafka", "pw"))
    ) as brokers:
        assert brokers.acl("/admin") == secured
        committed(brokers, Create("/admin/copy", b"", brokers.acl("/admin")))
        assert brokers.acl("/admin/copy") == secured


def test_what_an_acl_forbids(store: Store, chroot: str) -> None:
    committed(store, Create("/admin", b"secret", (BROKERS,)))
    with pytest.raises(NotAuthorizedError, match="/admin") as caught:
        store.get("/admin")
    assert "brokers' principal" in (caught.value.next_command or "")
    failed = Create("/admin/x")
    assert store.multi([Check("/"), failed]) == MultiResult(
        committed=False, failed=failed, reason="NoAuth"
    )
    with Store.connect(
        chroot, authentication=Authentication(digest=Digest("kafka", "wrong"))
    ) as wrong:
        assert wrong.multi([failed]).reason == "NoAuth"
    with Store.connect(
        chroot, authentication=Authentication(digest=Digest("kafka", "pw"))
    ) as brokers:
        assert getattr(brokers.get("/admin"), "data", None) == b"secret"
        committed(brokers, failed)


def test_a_bulk_read_keeps_its_order(store: Store) -> None:
    count = 3 * WINDOW + 7
    committed(store, *(Create(f"/{number}", str(number).encode()) for number in range(count)))
    paths = [f"/{number}" for number in range(count + 5)]
    found = store.get_many(paths)
    assert [None if each is None else each.data for each in found] == [
        *(str(number).encode() for number in range(count)),
        *[None] * 5,
    ]
    assert [each is not None for each in store.exists_many(paths)] == [True] * count + [False] * 5
    assert store.children_many(["/", "/1", "/nope"])[1:] == [(), None]
    assert store.get_many([]) == []


def test_the_last_transaction_stands_still_while_nothing_changes(store: Store) -> None:
    store.get("/")
    before = store.last_zxid
    store.get_many(["/", "/a"])
    assert store.last_zxid == before
    committed(store, Create("/a"))
    assert store.last_zxid > before


@pytest.mark.parametrize(
    "path", ["a", "", "/a/", "//a", "/a//b", "/.", "/a/../b", "/\0", "/\ud800", "/a\n"], ids=ascii
)
def test_paths_that_would_end_the_client_are_refused_first(store: Store, path: str) -> None:
    """A lone surrogate in a path ends kazoo's I/O thread: nothing of the kind reaches it."""
    for call in (
        store.get,
        store.exists,
        store.children,
        store.acl,
        store.sync,
        store.children_outside_chroot,
    ):
        with pytest.raises(InvalidInputError, match="not a znode path"):
            call(path)
    with pytest.raises(InvalidInputError, match="not a znode path"):
        store.multi([Create(path)])
    assert store.exists("/") is not None


@pytest.mark.parametrize("size", [MAX_PACKET_BYTES, 1_048_500, 2_000_000])
def test_what_is_too_large_is_refused_before_it_is_sent(store: Store, size: int) -> None:
    """ZooKeeper shows an oversize write as a lost connection: kadmin names the size instead."""
    session = store.session_id
    with pytest.raises(InvalidInputError, match=r"[12],[0-9]{3},[0-9]{3} bytes"):
        store.multi([Create("/large", b"x" * size)])
    with pytest.raises(InvalidInputError, match="too large"):
        store.multi([Create(f"/{number}", b"x" * (size // 10)) for number in range(10)])
    committed(store, Create("/large", b"x" * (MAX_PACKET_BYTES - 200)))
    assert (store.session_id, store.connected) == (session, True)


def test_the_session_timeout_is_the_one_granted(zookeeper: Sandbox) -> None:
    """With a tick of 800 ms a server grants between 1.6 and 16 seconds."""
    for target, granted in ((0.5, 1.6), (6.0, 6.0), (60.0, 16.0)):
        with Store.connect(zookeeper.connect_string, session_timeout_s=target) as store:
            assert store.session_timeout_s == granted


def test_four_letter_words(store: Store, zookeeper: Sandbox) -> None:
    server = zookeeper.connect_string
    assert "Zookeeper version" in (store.four_letter_words("srvr")[server] or "")
    assert f"sid=0x{store.session_id & 0xFFFF_FFFF_FFFF_FFFF:x}" in (
        store.four_letter_words("cons")[server] or ""
    )
    assert store.four_letter_words("wchp")[server] is not None


def test_a_server_that_is_not_there_has_no_words(zookeeper: Sandbox) -> None:
    with Store.connect(f"{zookeeper.connect_string},127.0.0.1:1") as store:
        answers = store.four_letter_words("srvr")
        assert (answers[zookeeper.connect_string] is None, answers["127.0.0.1:1"]) == (False, None)


def test_nobody_there() -> None:
    started = time.monotonic()
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:1") as caught:
        Store.connect("127.0.0.1:1", timeout_s=0.5)
    assert time.monotonic() - started < 30.0
    assert "refused" in (caught.value.cause or "")


def test_a_name_that_nobody_knows() -> None:
    with pytest.raises(UnreachableError) as caught:
        Store.connect("no-such-host.invalid:2181", timeout_s=0.5)
    assert "cannot be resolved" in (caught.value.cause or "")


def test_somebody_else_answers_there(live_port: int) -> None:
    with pytest.raises(UnreachableError) as caught:
        Store.connect(f"127.0.0.1:{live_port}", timeout_s=0.5)
    assert "not a ZooKeeper server" in (caught.value.cause or "")


@pytest.fixture
def live_port() -> Iterator[int]:
    """The port of a server that says something else to everybody."""
    import socketserver

    class Greeting(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(b"220 mail.example.org ESMTP\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Greeting) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield server.server_address[1]
        server.shutdown()
        serving.join()


def test_tls_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="TLS files"):
        Store.connect(
            "127.0.0.1:1", authentication=Authentication(tls=Tls(str(tmp_path / "ca.pem")))
        )


def test_secrets_are_in_no_log_and_no_text(chroot: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.NOTSET)
    identity = Authentication(digest=Digest("kafka", "canary-7f"))
    with Store.connect(chroot, authentication=identity) as store:
        store.get("/")
        with pytest.raises(InvalidInputError):
            store.get("nope")
    assert "canary-7f" not in caplog.text + repr(identity) + store.connect_string


@pytest.fixture
def frozen(zookeeper: Sandbox) -> Iterator[int]:
    """The process id of a ZooKeeper that may be stopped; it runs on afterwards in any case."""
    process = zookeeper.zookeepers[1]
    yield process.pid
    thaw(process.pid)


def test_f06_a_server_that_hangs_never_makes_a_call_hang(chroot: str, frozen: int) -> None:
    """Each call ends at its deadline, and closing does not wait for the server either."""
    with Store.connect(chroot, timeout_s=1.0) as store:
        freeze(frozen)
        for call in (store.get, store.children, store.acl, store.sync):
            started = time.monotonic()
            with pytest.raises(UnreachableError, match="did not answer within 1 s"):
                call("/")
            assert time.monotonic() - started < 30.0
        started = time.monotonic()
    assert time.monotonic() - started < 30.0


def test_a_read_outlives_a_short_hang(chroot: str, frozen: int) -> None:
    with Store.connect(chroot) as store:
        freeze(frozen)
        waker = threading.Timer(1.0, thaw, (frozen,))
        waker.start()
        assert store.exists("/") is not None
        waker.join()


def test_connecting_to_a_server_that_hangs(chroot: str, frozen: int) -> None:
    freeze(frozen)
    started = time.monotonic()
    with pytest.raises(UnreachableError) as caught:
        Store.connect(chroot, timeout_s=0.5)
    assert time.monotonic() - started < 30.0
    assert "does not answer" in (caught.value.cause or "")
