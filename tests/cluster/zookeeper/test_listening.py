from __future__ import annotations

import pytest

from kadmin.cluster.model import Listening
from kadmin.worlds.zookeeper.listening import (
    controller_listens,
    judge_listening,
    sessions,
    watchers,
)
from kadmin.worlds.zookeeper.model import ControllerNode, Create, Znode
from kadmin.worlds.zookeeper.wire.store import Store
from kadmin.worlds.zookeeper.znodes.controller import decode_controller

PATH = "/kafka/admin/reassign_partitions"
SESSION = 0x1000033A0A60006
HEX = "1000033a0a60006"

# As ZooKeeper 3.5 and later print them: each path, then its watching sessions; each connection on a
# line.
WATCHED = (
    f"/kafka/controller\n\t0x1000033a0a60001\n\t0x{HEX}\n{PATH}\n\t0x1000033a0a60001\n\t0x{HEX}\n\n"
)
UNWATCHED = f"/kafka/controller\n\t0x{HEX}\n{PATH}\n\t0x1000033a0a60001\n{PATH}_x\n\t0x{HEX}\n\n"
CONNECTED = (
    " /127.0.0.1:50480[0](queued=0,recved=1,sent=0)\n"
    " "
    f"/127.0.0.1:50460[1](queued=0,recved=9,sent=9,sid=0x{HEX},lop=PING,est=1795250864838,to=4000)\n\n"
)
ELSEWHERE = " /127.0.0.1:50461[1](queued=0,recved=9,sent=9,sid=0x2000033a0a60000,lop=PING)\n\n"


def judge(
    watches: list[str | None], connections: list[str | None], session: int = SESSION
) -> Listening:
    return judge_listening(
        {f"zk{number}:2181": answer for number, answer in enumerate(watches)},
        {f"zk{number}:2181": answer for number, answer in enumerate(connections)},
        PATH,
        session,
    )


def test_what_the_answers_say() -> None:
    assert watchers(WATCHED, PATH) == {"1000033a0a60001", HEX}
    assert watchers(UNWATCHED, PATH) == {"1000033a0a60001"}
    assert watchers("\n", PATH) == watchers("", PATH) == frozenset()
    assert sessions(CONNECTED) == {HEX}
    assert sessions("\n") == frozenset()


@pytest.mark.parametrize(
    ("watches", "connections", "expected"),
    [
        ([WATCHED], [CONNECTED], Listening.LISTENING),
        ([UNWATCHED], [CONNECTED], Listening.DEAF),
        (["\n"], [CONNECTED], Listening.DEAF),
        ([UNWATCHED], [ELSEWHERE], Listening.UNKNOWN),
        ([UNWATCHED], [None], Listening.UNKNOWN),
        ([None], [CONNECTED], Listening.UNKNOWN),
        # Three servers: the words are per server, so all are asked and joined.
        ([UNWATCHED, WATCHED, "\n"], [ELSEWHERE, CONNECTED, "\n"], Listening.LISTENING),
        ([UNWATCHED, WATCHED, None], [ELSEWHERE, None, None], Listening.LISTENING),
        ([UNWATCHED, "\n", "\n"], [ELSEWHERE, CONNECTED, "\n"], Listening.DEAF),
        ([UNWATCHED, "\n", None], [ELSEWHERE, CONNECTED, "\n"], Listening.UNKNOWN),
        ([UNWATCHED, "\n", "\n"], [ELSEWHERE, CONNECTED, None], Listening.UNKNOWN),
        ([UNWATCHED, "\n", "\n"], [ELSEWHERE, ELSEWHERE, "\n"], Listening.UNKNOWN),
    ],
)
def test_deaf_needs_every_server_and_a_connected_session(
    watches: list[str | None], connections: list[str | None], expected: Listening
) -> None:
    assert judge(watches, connections) is expected


def test_a_session_id_that_is_negative_as_a_long() -> None:
    """Ids are unsigned in four-letter words and signed in a znode's facts."""
    watched = f"{PATH}\n\t0xff00033a0a60006\n\t0xffffffffffffff85\n"
    assert judge([watched], [CONNECTED], -123) is Listening.LISTENING
    assert judge([watched], [CONNECTED], -124) is Listening.UNKNOWN


@pytest.mark.zookeeper
def test_the_answers_of_a_real_server(chroot: str) -> None:
    """A session that is connected and watches nothing is deaf; one that nobody knows is unknown."""
    with Store.connect(chroot) as store:
        store.multi(
            [Create("/controller", b'{"version":1,"brokerid":1,"timestamp":"1"}', ephemeral=True)]
        )
        node = store.get("/controller")
        assert isinstance(node, Znode)
        controller = decode_controller(node)
        assert controller.session_id == store.session_id
        assert controller_listens(store, "/admin/reassign_partitions", controller) is Listening.DEAF
        stranger = ControllerNode(1, session_id=0x1234)
        assert (
            controller_listens(store, "/admin/reassign_partitions", stranger) is Listening.UNKNOWN
        )
