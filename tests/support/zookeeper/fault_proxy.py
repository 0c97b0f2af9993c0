"""Proxies one ZooKeeper server over TCP, and breaks connections at chosen frames.

The first frame of each side opens the session; after it a request is `xid, op, ...` and a reply
`xid, zxid, error, ...`. Pings and the openings of sessions do not count as requests. Four-letter
words pass through untouched.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from kazoo.client import KazooClient
from support.network.frame_proxy import LOOPBACK, FrameProxy, Side, request_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.network.frame_proxy import Link

MULTI = 14
SYNC = 9
EXISTS = 3
GET_DATA = 4
CLOSE = -11

_PING_XID = -2
_EVENT_XID = -1
_PASSWORD = struct.calcsize("!iiqi")

PUBLISH = request_with(MULTI, b"/steps/", b"/admin/")
"""The multi that creates a step record and its admin node."""


class FaultProxy(FrameProxy):
    """Forwards to one server.

    `sessions` holds the id and password of every session that was opened or taken up again through
    the proxy, with which a test can end it.
    """

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server
        self.sessions: list[tuple[int, bytes]] = []
        super().__init__([server])

    @property
    def connect_string(self) -> str:
        """The proxy's address, host:port."""
        return f"{LOOPBACK}:{self._ports[self._server]}"

    def expire(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """End the latest session behind its client's back, as the server does after its timeout.

        The client is cut off until `meanwhile` returns.
        """
        self.down()
        thief = KazooClient("{}:{}".format(*self._server), client_id=self.sessions[-1])
        thief.start()
        thief.stop()
        thief.close()
        meanwhile()
        self.up()

    def _op(self, link: Link, side: Side, body: bytes) -> int | None:
        if side not in link.opened:
            link.opened.add(side)
            if side is Side.REPLY:
                self._note_session(body)
            return None
        (xid,) = struct.unpack_from("!i", body)
        if xid in {_PING_XID, _EVENT_XID}:
            return None
        op: int = struct.unpack_from("!i", body, 4)[0]
        return op

    def _note_session(self, opening: bytes) -> None:
        _, _, session_id, length = struct.unpack_from("!iiqi", opening)
        if session_id:  # 0 says that the session asked for has expired
            self.sessions.append((session_id, opening[_PASSWORD : _PASSWORD + length]))
