from __future__ import annotations

import socketserver
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from kadmin.cluster.connect_string import server_name
from kadmin.cluster.model import Listening
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.zookeeper.listening import controller_listens
from kadmin.worlds.zookeeper.model import ControllerNode
from kadmin.worlds.zookeeper.wire import four_letter
from kadmin.worlds.zookeeper.wire.four_letter import ask, ask_all, complaints
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

Address = tuple[str, int]
NOT_SERVING = "This ZooKeeper instance is not currently serving requests\n"
NOT_ALLOWED = "wchp is not executed because it is not in the whitelist.\n"


@contextmanager
def answering(answer: bytes | None) -> Iterator[Address]:
    """A server that reads a word and gives one answer; None: it never does."""
    done = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(4)
            if answer is None:
                done.wait(30)
            else:
                self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield "127.0.0.1", server.server_address[1]
        done.set()
        server.shutdown()
        serving.join()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"/a\n\t0x1\n", "/a\n\t0x1\n"),
        (b"\n", "\n"),
        (b"x" * 1_000_000, "x" * 1_000_000),
        (b"\xff", "\ufffd"),
        (b"", None),
        (NOT_ALLOWED.encode(), None),
        (NOT_SERVING.encode(), None),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_an_answer_or_none(answer: bytes, expected: str | None) -> None:
    """Refused, not serving and no answer at all are the same: nothing is known."""
    with answering(answer) as server:
        assert ask(server, "wchp") == expected


def test_a_server_that_hangs_is_left_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(four_letter, "DEADLINE_S", 0.3)
    with answering(None) as server:
        started = time.monotonic()
        assert ask(server, "wchp") is None
        assert time.monotonic() - started < 30.0


def test_servers_are_asked_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(four_letter, "DEADLINE_S", 4.0)
    with answering(None) as first, answering(None) as second, answering(b"yes") as third:
        started = time.monotonic()
        answers = ask_all([first, second, third], "srvr")
        assert time.monotonic() - started < 8.0, "one after the other takes two deadlines"
        assert list(answers.values()) == [None, None, "yes"]
        assert list(answers) == [f"{host}:{port}" for host, port in (first, second, third)]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (NOT_SERVING.encode(), "not serving: no quorum"),
        (b"Zookeeper version: 3.9.5\nMode: read-only\n", "read-only mode"),
        (b"Zookeeper version: 3.9.5\nMode: follower\n", "gave no session in time"),
        (b"", "gave no session in time"),
        (b"HTTP/1.1 400 Bad Request\r\n", "not a ZooKeeper server"),
        (None, "does not answer"),
    ],
)
def test_what_stands_in_the_way_of_a_connection(answer: bytes | None, said: str) -> None:
    with answering(answer) as server:
        assert said in complaints([server], None, 1.0)[server_name(server)]


def test_names_that_mean_nothing() -> None:
    found = complaints(
        [("no-such-host.invalid", 2181), ("a" * 80 + ".example", 2181), ("127.0.0.1", 1)], None, 1.0
    )
    *unknown, closed = found.values()
    assert all("cannot be resolved" in each for each in unknown)
    assert "refused" in closed


@pytest.mark.zookeeper
def test_where_the_words_are_closed_listening_is_unknown(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("closed") / "sandbox"
    sandbox = Sandbox.up(SandboxSpec(folder, brokers=0, four_letter_words=False))
    try:
        with Store.connect(sandbox.connect_string) as store:
            assert list(store.four_letter_words("wchp").values()) == [None]
            assert (
                controller_listens(store, "/a", ControllerNode(1, session_id=store.session_id))
                is Listening.UNKNOWN
            )
    finally:
        sandbox.down()
