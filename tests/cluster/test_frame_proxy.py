"""The proxy of servers breaks a connection exactly where a fault says so, however fast the server
answers.
"""

from __future__ import annotations

import socket
import struct
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from support.live.waiting import wait_until
from support.network.frame_proxy import LOOPBACK, Action, Fault, FrameProxy, Link, Side, request_of

if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT_S = 60
OP = 7
FRAME = struct.pack("!ii", 4, OP)


class PlainProxy(FrameProxy):
    """Forwards to one server whose requests are their op alone."""

    @property
    def port(self) -> int:
        """The port that it listens at."""
        (port,) = self._ports.values()
        return port

    def _op(self, link: Link, side: Side, body: bytes) -> int | None:
        del link, side
        op: int = struct.unpack("!i", body)[0]
        return op


@pytest.fixture
def quick_server() -> Iterator[tuple[str, int]]:
    """A server that answers the first request of one client at once, and closes."""
    with socket.create_server((LOOPBACK, 0)) as listener:

        def serve() -> None:
            client, _ = listener.accept()
            with client:
                client.sendall(client.recv(len(FRAME)))

        Thread(target=serve, daemon=True).start()
        yield listener.getsockname()


def test_no_answer_passes_once_the_request_before_the_cut_has(
    quick_server: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is cut late, as by a thread that waits for a processor: the answer has come by
    then.
    """
    cut = Link.cut

    def late_cut(link: Link) -> None:
        wait_until(lambda: Side.REPLY in link.ended, WAIT_S)
        cut(link)

    monkeypatch.setattr(Link, "cut", late_cut)
    with PlainProxy([quick_server]) as proxy:
        proxy.faults.append(Fault(Action.CUT_AFTER, request_of(OP)))
        with socket.create_connection((LOOPBACK, proxy.port), WAIT_S) as client:
            client.sendall(FRAME)
            assert client.recv(len(FRAME)) == b""
        assert [each.side for each in proxy.frames] == [Side.REQUEST, Side.REPLY]
