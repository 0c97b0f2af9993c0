"""Proxies one ZooKeeper server over TCP, and breaks connections at chosen frames.

ZooKeeper's protocol is frames of a 4-byte length and a body. The first frame of each side opens the session; after it a
request is `xid, op, ...` and a reply `xid, zxid, error, ...`. Replies come in the order of their requests, so a reply
lost alone does not exist on a real network: what loses a reply is a connection that breaks before it.

Requests are numbered from 1 over all connections; pings and the openings of sessions do not count. A reply carries the
number and op of its request. Four-letter words pass through untouched.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from kazoo.client import KazooClient

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

MULTI = 14
SYNC = 9
EXISTS = 3
GET_DATA = 4
CLOSE = -11

_PING_XID = -2
_EVENT_XID = -1
_PASSWORD = struct.calcsize("!iiqi")
_LARGEST_FRAME = 0x0FFF_FFFF  # a four-letter word read as a length is larger


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
    """One frame: its side, the number and op of the request it is or answers, and its bytes without the length."""

    side: Side
    number: int
    op: int
    body: bytes


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
    return lambda frame: frame.side is Side.REQUEST and frame.op == op and all(part in frame.body for part in parts)


def reply_to(matches: Callable[[Frame], bool]) -> Callable[[Frame], bool]:
    """Match the replies to the requests that match."""
    asked: set[int] = set()

    def answers(frame: Frame) -> bool:
        if matches(frame):
            asked.add(frame.number)
        return frame.side is Side.REPLY and frame.number in asked

    return answers


PUBLISH = request_with(MULTI, b"/steps/", b"/admin/")
"""The multi that creates a step record and its admin node."""


@dataclass(slots=True)
class _Link:
    """One client's connection through the proxy."""

    client: socket.socket
    server: socket.socket
    opened: set[Side] = field(default_factory=set)
    asked: deque[tuple[int, int]] = field(default_factory=deque)
    held: set[Side] = field(default_factory=set)
    ended: set[Side] = field(default_factory=set)

    def cut(self) -> None:
        for each in (self.client, self.server):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


class FaultProxy:
    """Listens on a free loopback port and forwards to one server; a context manager.

    `faults` may be changed at any time; `frames` is everything that was seen, in order; `sessions` holds the id and
    password of every session that was opened or taken up again through the proxy, with which a test can end it.
    """

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._links: list[_Link] = []
        self._count = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._port: int = self._listener.getsockname()[1]
        self.faults: list[Fault] = []
        self.frames: list[Frame] = []
        self.sessions: list[tuple[int, bytes]] = []
        self._accept()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.down()

    @property
    def connect_string(self) -> str:
        """The proxy's address, host:port."""
        return f"127.0.0.1:{self._port}"

    def down(self) -> None:
        """Cut every connection and refuse new ones, as a server that is gone."""
        self.refuse()
        self.cut()

    def refuse(self) -> None:
        """Refuse new connections; those that are open live on."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def up(self) -> None:
        """Listen again, on the same port."""
        self._listener = socket.create_server(("127.0.0.1", self._port))
        self._accept()

    def cut(self) -> None:
        """Cut every connection; new ones are welcome."""
        with self._lock:
            links, self._links = self._links, []
        for link in links:
            link.cut()

    def expire(self) -> None:
        """End the latest session behind its client's back, as the server does after its timeout."""
        self.down()
        thief = KazooClient("{}:{}".format(*self._server), client_id=self.sessions[-1])
        thief.start()
        thief.stop()
        thief.close()
        self.up()

    def requests(self, op: int | None = None) -> list[Frame]:
        """Return the requests seen so far, of one kind or of all."""
        with self._lock:
            return [each for each in self.frames if each.side is Side.REQUEST and op in {None, each.op}]

    def _accept(self) -> None:
        listener = self._listener

        def run() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                try:
                    server = socket.create_connection(self._server, 5)
                except OSError:
                    client.close()
                    continue
                server.settimeout(None)
                for each in (client, server):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                link = _Link(client, server)
                with self._lock:
                    self._links.append(link)
                for side in Side:
                    _spawn(partial(self._pump, link, side))

        _spawn(run)

    def _pump(self, link: _Link, side: Side) -> None:
        source, target = (link.client, link.server) if side is Side.REQUEST else (link.server, link.client)
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

    def _pass(self, link: _Link, side: Side, head: bytes, body: bytes, target: socket.socket) -> bool:
        frame = self._name(link, side, body)
        fault = None if frame is None else self._fault(frame)
        if fault is not None and fault.then is not None:
            fault.then()
        action = Action.CALL if fault is None else fault.action
        if action is Action.HOLD:
            link.held.add(side)
        if side in link.held:
            return True
        if action is not Action.CUT_BEFORE:
            whole = head + body
            target.sendall(whole[: len(whole) // 2] if action is Action.CUT_HALF else whole)
        if action is Action.CALL:
            return True
        link.cut()
        return False

    def _name(self, link: _Link, side: Side, body: bytes) -> Frame | None:
        """Number a frame; None for the opening of a session, pings and events."""
        if side not in link.opened:
            link.opened.add(side)
            if side is Side.REPLY:
                self._note_session(body)
            return None
        (xid,) = struct.unpack_from("!i", body)
        if xid in {_PING_XID, _EVENT_XID}:
            return None
        with self._lock:
            if side is Side.REQUEST:
                self._count += 1
                link.asked.append((self._count, struct.unpack_from("!i", body, 4)[0]))
                number, op = link.asked[-1]
            else:
                number, op = link.asked.popleft()
            frame = Frame(side, number, op, body)
            self.frames.append(frame)
        return frame

    def _note_session(self, opening: bytes) -> None:
        _, _, session_id, length = struct.unpack_from("!iiqi", opening)
        if session_id:  # 0 says that the session asked for has expired
            self.sessions.append((session_id, opening[_PASSWORD : _PASSWORD + length]))

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
