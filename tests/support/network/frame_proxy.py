"""Proxies servers over TCP, and breaks connections at chosen frames.

The protocols of ZooKeeper and of Kafka are frames of a 4-byte length and a body. Replies come in
the order of their requests, so a reply lost alone does not exist on a real network: what loses a
reply is a connection that breaks before it. Requests are numbered from 1 over all connections; a
reply carries the number and op of its request.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

LOOPBACK = "127.0.0.1"

_LARGEST_FRAME = 0x0FFF_FFFF  # a four-letter word of ZooKeeper's, read as a length, is larger


class Side(Enum):
    """Which way a frame goes."""

    REQUEST = "request"
    REPLY = "reply"


class Action(Enum):
    """What happens at a frame that a fault matches."""

    CUT_BEFORE = "the connection breaks, the frame never passes"
    CUT_AFTER = "the frame passes, then the connection breaks"
    CUT_HALF = "half of the frame passes, then the connection breaks"
    HOLD = "this frame and all later ones of its side stay here, the connection looks alive"
    CALL = "nothing breaks, but `then` runs before the frame passes"


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: its side, the number and op of the request it is or answers, and its bytes without
    the length.

    `port` is that of the server that it goes to or comes from.
    """

    side: Side
    number: int
    op: int
    body: bytes
    port: int


@dataclass(slots=True)
class Fault:
    """At the next `times` frames that match, do the action; `then` runs just before it."""

    action: Action
    matches: Callable[[Frame], bool]
    times: int = 1
    then: Callable[[], object] | None = None


def request_number(number: int) -> Callable[[Frame], bool]:
    """Match one request."""
    return lambda frame: frame.side is Side.REQUEST and frame.number == number


def reply_number(number: int) -> Callable[[Frame], bool]:
    """Match the reply to one request."""
    return lambda frame: frame.side is Side.REPLY and frame.number == number


def request_of(op: int) -> Callable[[Frame], bool]:
    """Match requests of a kind."""
    return lambda frame: frame.side is Side.REQUEST and frame.op == op


def reply_of(op: int) -> Callable[[Frame], bool]:
    """Match replies to requests of a kind."""
    return lambda frame: frame.side is Side.REPLY and frame.op == op


def request_with(op: int, *parts: bytes) -> Callable[[Frame], bool]:
    """Match requests of a kind that hold all of these bytes."""
    return lambda frame: (
        frame.side is Side.REQUEST and frame.op == op and all(part in frame.body for part in parts)
    )


def reply_to(matches: Callable[[Frame], bool]) -> Callable[[Frame], bool]:
    """Match the replies to the requests that match."""
    asked: set[int] = set()

    def answers(frame: Frame) -> bool:
        if matches(frame):
            asked.add(frame.number)
        return frame.side is Side.REPLY and frame.number in asked

    return answers


@dataclass(slots=True)
class Link:
    """One client's connection through the proxy."""

    client: socket.socket
    server: socket.socket
    port: int
    opened: set[Side] = field(default_factory=set)
    asked: deque[tuple[int, int]] = field(default_factory=deque)
    held: set[Side] = field(default_factory=set)
    ended: set[Side] = field(default_factory=set)

    def cut(self) -> None:
        for each in (self.client, self.server):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


class FrameProxy(ABC):
    """Listens on a free loopback port for each server and forwards to it; a context manager.

    `faults` may be changed at any time; `frames` is everything that was seen, in order.
    """

    def __init__(self, servers: Iterable[tuple[str, int]]) -> None:
        self._lock = threading.Lock()
        self._links: list[Link] = []
        self._count = 0
        self._listeners = {socket.create_server((LOOPBACK, 0)): server for server in servers}
        self._ports: dict[tuple[str, int], int] = {
            server: listener.getsockname()[1] for listener, server in self._listeners.items()
        }
        self.faults: list[Fault] = []
        self.frames: list[Frame] = []
        self._accept()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.down()

    def down(self) -> None:
        """Cut every connection and refuse new ones, as servers that are gone."""
        self.refuse()
        self.cut()

    def refuse(self) -> None:
        """Refuse new connections; those that are open live on."""
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def up(self) -> None:
        """Listen again, on the same ports."""
        self._listeners = {
            socket.create_server((LOOPBACK, port)): server for server, port in self._ports.items()
        }
        self._accept()

    def cut(self) -> None:
        """Cut every connection; new ones are welcome."""
        with self._lock:
            links, self._links = self._links, []
        for link in links:
            link.cut()

    def requests(self, op: int | None = None) -> list[Frame]:
        """Return the requests seen so far, of one kind or of all."""
        with self._lock:
            return [
                each for each in self.frames if each.side is Side.REQUEST and op in {None, each.op}
            ]

    @abstractmethod
    def _op(self, link: Link, side: Side, body: bytes) -> int | None:
        """Return the op of a request, anything for a reply, and None for a frame that does not
        count.
        """

    def _rewritten(self, frame: Frame) -> bytes:
        """Return the body to forward, of the same length."""
        return frame.body

    def _accept(self) -> None:
        for listener, server in self._listeners.items():
            _spawn(partial(self._serve, listener, server))

    def _serve(self, listener: socket.socket, address: tuple[str, int]) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(address, 5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = Link(client, server, address[1])
            with self._lock:
                self._links.append(link)
            for side in Side:
                _spawn(partial(self._pump, link, side))

    def _pump(self, link: Link, side: Side) -> None:
        source, target = (
            (link.client, link.server) if side is Side.REQUEST else (link.server, link.client)
        )
        try:
            head = _exactly(source, 4)
            while head:
                length = struct.unpack("!i", head)[0]
                if not 0 <= length <= _LARGEST_FRAME:
                    _copy(head, source, target)
                    break
                body = _exactly(source, length)
                if len(body) < length or not self._pass(link, side, head, body, target):
                    break
                head = _exactly(source, 4)
        except OSError:
            pass
        # Only this way is ended: the answer to a four-letter word may still come the other way.
        link.ended.add(side)
        if len(link.ended) == len(Side):
            link.cut()
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _pass(
        self, link: Link, side: Side, head: bytes, body: bytes, target: socket.socket
    ) -> bool:
        frame = self._name(link, side, body)
        fault = None if frame is None else self._fault(frame)
        if fault is not None and fault.then is not None:
            fault.then()
        action = Action.CALL if fault is None else fault.action
        if action is Action.HOLD:
            link.held.add(side)
        if side in link.held:
            return True
        if action is Action.CUT_AFTER:
            # The answer may be here before the connection is cut.
            link.held.update(Side)
        if action is not Action.CUT_BEFORE:
            whole = head + (body if frame is None else self._rewritten(frame))
            target.sendall(whole[: len(whole) // 2] if action is Action.CUT_HALF else whole)
        if action is Action.CALL:
            return True
        link.cut()
        return False

    def _name(self, link: Link, side: Side, body: bytes) -> Frame | None:
        """Number a frame that counts."""
        op = self._op(link, side, body)
        if op is None:
            return None
        with self._lock:
            if side is Side.REQUEST:
                self._count += 1
                link.asked.append((self._count, op))
                number = self._count
            else:
                number, op = link.asked.popleft()
            frame = Frame(side, number, op, body, link.port)
            self.frames.append(frame)
        return frame

    def _fault(self, frame: Frame) -> Fault | None:
        with self._lock:
            for fault in self.faults:
                if fault.times > 0 and fault.matches(frame):
                    fault.times -= 1
                    return fault
        return None


def _spawn(run: Callable[[], None]) -> None:
    threading.Thread(target=run, daemon=True).start()


def _exactly(source: socket.socket, length: int) -> bytes:
    """Read that many bytes; fewer only where the connection ends."""
    chunks = bytearray()
    while len(chunks) < length:
        chunk = source.recv(length - len(chunks))
        if not chunk:
            return b""
        chunks += chunk
    return bytes(chunks)


def _copy(head: bytes, source: socket.socket, target: socket.socket) -> None:
    while head:
        target.sendall(head)
        head = source.recv(65_536)
