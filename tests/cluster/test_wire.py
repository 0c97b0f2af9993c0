"""Sockets that gather: nothing is lost, changed or held back, however the two sides take turns."""

from __future__ import annotations

import socket
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from kadmin.cluster.wire import UNSENT_BYTES, Bell, Wire, wait

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def ends() -> Iterator[tuple[Wire, socket.socket]]:
    """Return a wire and the plain socket at its other end."""
    ours, theirs = socket.socketpair()
    wire = Wire.of(ours)
    wire.settimeout(0)
    with closing(wire), closing(theirs):
        yield wire, theirs


def test_what_is_sent_leaves_when_somebody_waits(ends: tuple[Wire, socket.socket]) -> None:
    wire, theirs = ends
    assert wait([], [wire]) == ([], [wire])
    assert [wire.send(b"one "), wire.send(b"two")] == [4, 3]
    theirs.settimeout(0)
    with pytest.raises(BlockingIOError):
        theirs.recv(100)
    assert wait([wire], [], 0.0) == ([], [])
    assert theirs.recv(100) == b"one two"


def test_what_came_is_taken_piece_by_piece(ends: tuple[Wire, socket.socket]) -> None:
    wire, theirs = ends
    with pytest.raises(BlockingIOError):
        wire.recv(4)
    theirs.send(b"abcdef")
    assert wait([wire], [], 5) == ([wire], [])
    assert (wire.recv(4), wire.pending()) == (b"abcd", 2)
    assert wait([wire], [], 0.0) == ([wire], [])
    assert (wire.recv(4), wire.pending()) == (b"ef", 0)
    assert wait([wire], [], 0.0) == ([], [])


def test_an_end_that_closes_is_seen(ends: tuple[Wire, socket.socket]) -> None:
    wire, theirs = ends
    theirs.close()
    assert wait([wire], [], 5) == ([wire], [])
    assert wire.recv(1) == b""
    wire.send(b"lost")
    with pytest.raises(BrokenPipeError):
        wait([wire], [], 5)


def test_more_than_the_system_takes_arrives_whole_while_we_wait_for_the_answer(
    ends: tuple[Wire, socket.socket],
) -> None:
    """An end that reads late: what waits to be sent goes on leaving, and room is told of when there is some."""
    wire, theirs = ends
    sent = bytes(range(256)) * 8192

    def read_then_answer() -> None:
        taken = b""
        while len(taken) < len(sent):
            taken += theirs.recv(65_536)
        theirs.send(b"y" if taken == sent else b"n")

    wire.send(sent)
    assert wire.unsent > UNSENT_BYTES
    assert wait([], [wire], 0.0) == ([], [])
    other = threading.Thread(target=read_then_answer)
    other.start()
    assert wait([], [wire], 60) == ([], [wire])
    assert wait([wire], [], 60) == ([wire], [])
    other.join()
    assert (wire.recv(2), wire.unsent) == (b"y", 0)


def test_a_bell_is_heard_as_often_as_it_was_rung() -> None:
    with closing(Bell()) as bell:
        assert wait([bell], [], 0.0) == ([], [])
        for _ in range(3):
            bell.send(b"\0")
        for _ in range(3):
            assert wait([bell], [], 0.0) == ([bell], [])
            assert bell.recv(1) == b"\0"
        assert wait([bell], [], 0.0) == ([], [])
        with pytest.raises(BlockingIOError):
            bell.recv(1)


def test_a_bell_wakes_who_waits_and_nobody_rings_a_closed_one() -> None:
    bell = Bell()
    other = threading.Thread(target=bell.send, args=(b"\0",))
    other.start()
    assert wait([bell], [], 60) == ([bell], [])
    other.join()
    bell.close()
    with pytest.raises(OSError, match="descriptor"):
        bell.send(b"\0")


def test_plain_sockets_wait_as_they_do_with_select() -> None:
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        assert wait([ours], [ours], 5) == ([], [ours])
        theirs.send(b"x")
        assert wait([ours], [], 5) == ([ours], [])
