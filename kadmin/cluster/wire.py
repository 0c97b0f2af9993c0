"""Sockets that gather: very many small requests and answers in few calls of the system.

kazoo makes some ten calls of the system for each request, and between two threads each costs far more than the work
they do. Its handlers may bring sockets of their own; these are such, and `wait` is the select that knows them. What is
gathered leaves before anybody waits for an answer, so nothing is held back.
"""

from __future__ import annotations

import select
import socket
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

RECEIVED_BYTES = 16_384
"""Asked of the system at once: a part of what is in flight only, so that the server has work while we read."""

UNSENT_BYTES = 65_536
"""More is not gathered."""


class Wire(socket.socket):
    """A connection that does not block: `send` gathers, `recv` takes from what came, `flush` sends."""

    def __init__(self, fileno: int) -> None:
        super().__init__(fileno=fileno)
        self._received, self._taken = b"", 0
        self._unsent = bytearray()

    @classmethod
    def of(cls, connection: socket.socket) -> Self:
        """Take over a connection."""
        return cls(connection.detach())

    def pending(self) -> int:
        """Return how many bytes have come that nobody took."""
        return len(self._received) - self._taken

    @property
    def unsent(self) -> int:
        """How many bytes wait for `flush`."""
        return len(self._unsent)

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Take up to `size` bytes; as a socket's own where none have come yet."""
        if not self.pending():
            self._received, self._taken = super().recv(RECEIVED_BYTES, flags), 0
        found = self._received[self._taken : self._taken + size]
        self._taken += len(found)
        return found

    def send(self, data: bytes | bytearray | memoryview, _flags: int = 0) -> int:  # type: ignore[override] # no buffers of other kinds
        """Gather all of it."""
        self._unsent += data
        return len(data)

    def flush(self) -> None:
        """Send what the system takes now."""
        try:
            del self._unsent[: super().send(self._unsent)]
        except BlockingIOError:
            return


class Bell:
    """A socket pair by which one thread wakes another, as one object for both ends; rung often, it wakes once."""

    def __init__(self) -> None:
        self._outer, self._inner = socket.socketpair()
        self._lock = threading.Lock()
        self._rung = 0

    @property
    def rung(self) -> int:
        """How often it was rung and not heard."""
        return self._rung

    def fileno(self) -> int:
        """Return what to poll."""
        return self._inner.fileno()

    def send(self, signal: bytes) -> int:
        """Ring it once."""
        with self._lock:
            if not self._rung or self._outer.fileno() < 0:
                self._outer.send(signal)
            self._rung += 1
        return len(signal)

    def recv(self, size: int) -> bytes:
        """Hear it once; raises BlockingIOError where it was not rung."""
        with self._lock:
            if not self._rung:
                raise BlockingIOError
            self._rung -= 1
            return b"\0" if self._rung else self._inner.recv(size)

    def close(self) -> None:
        """Close both ends; to ring it then raises OSError."""
        self._outer.close()
        self._inner.close()


def wait(
    readers: Sequence[socket.socket | Bell], writers: Sequence[socket.socket], timeout_s: float | None = None
) -> tuple[list[socket.socket | Bell], list[socket.socket]]:
    """Return those that can be read and those that can be written, as select does; sends before it waits."""
    heard, roomy = [each for each in readers if _has_come(each)], _roomy(writers)
    end = None if timeout_s is None else time.monotonic() + timeout_s
    while not (heard or roomy):
        for each in (*readers, *writers):
            if isinstance(each, Wire) and each.unsent:
                each.flush()
        roomy = _roomy(writers)
        found = {} if roomy else _polled(readers, writers, end)
        if not found:
            break
        heard = [each for each in readers if found.get(each.fileno(), 0) & ~select.POLLOUT]
        plain = [each for each in writers if not isinstance(each, Wire)]
        roomy = [each for each in plain if found.get(each.fileno(), 0) & ~select.POLLIN]
    return heard, roomy


def _has_come(reader: socket.socket | Bell) -> bool:
    if isinstance(reader, Wire):
        return reader.pending() > 0
    return isinstance(reader, Bell) and reader.rung > 0


def _roomy(writers: Sequence[socket.socket]) -> list[socket.socket]:
    return [each for each in writers if isinstance(each, Wire) and each.unsent < UNSENT_BYTES]


def _polled(
    readers: Sequence[socket.socket | Bell], writers: Sequence[socket.socket], end: float | None
) -> dict[int, int]:
    # By file descriptor what happened to it, nothing where time is up.
    masks = dict.fromkeys((each.fileno() for each in writers), select.POLLOUT)
    for each in readers:
        unsent = select.POLLOUT if isinstance(each, Wire) and each.unsent else 0
        masks[each.fileno()] = masks.get(each.fileno(), 0) | select.POLLIN | unsent
    poll = select.poll()
    for descriptor, mask in masks.items():
        poll.register(descriptor, mask)
    return dict(poll.poll(None if end is None else max(0.0, end - time.monotonic()) * 1000))
