"""Connections that break at chosen frames, in front of a real ZooKeeper."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from support.live.waiting import wait_until
from support.network.frame_proxy import (
    Action,
    Fault,
    reply_number,
    reply_of,
    request_number,
    request_of,
)
from support.zookeeper.fault_proxy import EXISTS, GET_DATA, MULTI

from kadmin.cluster.connect_string import parse_connect_string
from kadmin.errors import UnknownOutcomeError, UnreachableError
from kadmin.worlds.zookeeper.model import Create, MultiResult
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.zookeeper.fault_proxy import FaultProxy

pytestmark = pytest.mark.zookeeper


@pytest.fixture
def store(chroot: str, proxy: FaultProxy) -> Iterator[Store]:
    """A store that reaches the chroot through the proxy."""
    path = parse_connect_string(chroot).chroot
    with Store.connect(
        f"{proxy.connect_string}{path}", timeout_s=5.0, session_timeout_s=4.0
    ) as connected:
        yield connected


@pytest.fixture
def observer(chroot: str) -> Iterator[Store]:
    """A store that sees the truth, past the proxy."""
    with Store.connect(chroot) as connected:
        yield connected


def multis(proxy: FaultProxy) -> int:
    return len(proxy.requests(MULTI))


def test_nothing_changes_for_who_goes_through_the_proxy(store: Store, proxy: FaultProxy) -> None:
    assert store.multi([Create("/a", b"1")]) == MultiResult(committed=True)
    assert getattr(store.get("/a"), "data", None) == b"1"
    assert "Zookeeper version" in (store.four_letter_words("srvr")[proxy.connect_string] or "")
    assert [frame.op for frame in proxy.requests()] == [EXISTS, MULTI, GET_DATA]


@pytest.mark.parametrize("action", [Action.CUT_BEFORE, Action.CUT_HALF], ids=["F01", "F01-half"])
def test_a_write_whose_reply_is_lost_is_unknown_and_was_applied(
    store: Store, proxy: FaultProxy, observer: Store, action: Action
) -> None:
    proxy.faults = [Fault(action, reply_of(MULTI))]
    with pytest.raises(UnknownOutcomeError, match="did not answer a write") as caught:
        store.multi([Create("/a", b"x" * 100_000)])
    assert "100,0" in (caught.value.cause or "")
    assert "jute.maxbuffer" in (caught.value.cause or "")
    assert store.exists("/a") is not None
    assert observer.exists("/a") is not None
    assert multis(proxy) == 1


@pytest.mark.parametrize("action", [Action.CUT_BEFORE, Action.CUT_HALF], ids=["F02", "F03"])
def test_a_write_lost_on_its_way_is_unknown_and_was_not_applied(
    store: Store, proxy: FaultProxy, observer: Store, action: Action
) -> None:
    proxy.faults = [Fault(action, request_of(MULTI))]
    with pytest.raises(UnknownOutcomeError, match="did not answer a write") as caught:
        store.multi([Create("/a")])
    assert "jute.maxbuffer" not in (caught.value.cause or "")
    store.sync("/")
    assert observer.exists("/a") is None
    assert multis(proxy) == 1


def test_a_write_is_never_sent_again_by_itself(
    store: Store, proxy: FaultProxy, observer: Store
) -> None:
    """Whatever breaks and comes back: one call, one multi on the wire."""
    for number, fault in enumerate(
        [
            Fault(Action.CUT_BEFORE, reply_of(MULTI)),
            Fault(Action.CUT_AFTER, request_of(MULTI)),
            Fault(Action.CUT_BEFORE, request_of(MULTI)),
            Fault(Action.CUT_HALF, request_of(MULTI)),
        ],
        start=1,
    ):
        proxy.faults = [fault]
        with pytest.raises(UnknownOutcomeError):
            store.multi([Create("/change_", sequential=True)])
        store.sync("/")
        assert multis(proxy) == number
    assert len(observer.children("/") or ()) in {1, 2}


def test_a_write_waits_for_the_connection(store: Store, proxy: FaultProxy) -> None:
    proxy.cut()
    wait_until(lambda: not store.connected, 5)
    assert store.multi([Create("/a")]) == MultiResult(committed=True)


def test_a_write_without_a_connection_was_never_sent(
    store: Store, proxy: FaultProxy, observer: Store
) -> None:
    """Then it is no riddle: unreachable, not unknown."""
    proxy.down()
    wait_until(lambda: not store.connected, 5)
    started = time.monotonic()
    with pytest.raises(UnreachableError, match="no connection") as caught:
        store.multi([Create("/a")])
    assert 4.5 < time.monotonic() - started < 30.0
    assert "refused" in (caught.value.cause or "")
    proxy.up()
    assert store.exists("/a") is None
    assert observer.exists("/a") is None


def test_a_reply_that_never_comes_ends_at_the_deadline(store: Store, proxy: FaultProxy) -> None:
    proxy.faults = [Fault(Action.HOLD, reply_of(MULTI))]
    started = time.monotonic()
    with pytest.raises(UnknownOutcomeError):
        store.multi([Create("/a")])
    assert time.monotonic() - started < 30.0
    assert store.exists("/a") is not None


@pytest.mark.parametrize("action", [Action.CUT_BEFORE, Action.CUT_AFTER, Action.CUT_HALF])
@pytest.mark.parametrize(
    "matches", [request_of(GET_DATA), reply_of(GET_DATA)], ids=["request", "reply"]
)
def test_a_read_is_repeated(
    store: Store, proxy: FaultProxy, action: Action, matches: object
) -> None:
    store.multi([Create("/a", b"1")])
    assert callable(matches)
    proxy.faults = [Fault(action, matches, times=2)]
    for _ in range(3):
        assert getattr(store.get("/a"), "data", None) == b"1"


def test_a_bulk_read_survives_cuts_in_its_middle(store: Store, proxy: FaultProxy) -> None:
    count = 2_000
    store.multi([Create(f"/{number}", str(number).encode()) for number in range(count)])
    sent = len(proxy.requests())
    proxy.faults = [
        Fault(Action.CUT_BEFORE, request_number(sent + 300)),
        Fault(Action.CUT_AFTER, reply_number(sent + 1_100)),
        Fault(Action.CUT_HALF, reply_number(sent + 2_000)),
    ]
    found = store.get_many([f"/{number}" for number in range(count)])
    assert [each.data for each in found if each is not None] == [
        str(number).encode() for number in range(count)
    ]
    assert [fault.times for fault in proxy.faults] == [0, 0, 0]


def test_a_connection_that_breaks_keeps_the_session(store: Store, proxy: FaultProxy) -> None:
    store.multi([Create("/lock", ephemeral=True)])
    session = store.session_id
    proxy.cut()
    wait_until(lambda: not store.connected, 5)
    assert store.session_id == session
    assert getattr(store.exists("/lock"), "ephemeral_owner", None) == session == store.session_id


def test_an_expired_session_is_replaced_and_its_znodes_are_gone(
    store: Store, proxy: FaultProxy, observer: Store
) -> None:
    """kazoo makes a new session by itself: the store tells its id, and who held a lock has lost
    it.
    """
    store.multi([Create("/lock", ephemeral=True)])
    first = store.session_id
    proxy.down()
    wait_until(lambda: observer.exists("/lock") is None, 20)
    assert store.session_id == first
    proxy.up()
    assert store.exists("/lock") is None
    assert store.session_id not in {0, first}
    assert store.multi([Create("/lock", ephemeral=True)]) == MultiResult(committed=True)
    assert getattr(observer.exists("/lock"), "ephemeral_owner", None) == store.session_id


def test_a_write_in_flight_when_the_session_expires_is_unknown(
    store: Store, proxy: FaultProxy, observer: Store
) -> None:
    store.multi([Create("/lock", ephemeral=True)])
    proxy.faults = [Fault(Action.CUT_BEFORE, request_of(MULTI), then=proxy.down)]
    with pytest.raises(UnknownOutcomeError):
        store.multi([Create("/a")])
    wait_until(lambda: observer.exists("/lock") is None, 20)
    proxy.up()
    assert store.exists("/a") is None


def test_f05_a_server_that_is_gone_for_good(store: Store, proxy: FaultProxy) -> None:
    """A lost reply and then nobody to ask: first unknown, then unreachable, each at its
    deadline.
    """
    proxy.faults = [Fault(Action.CUT_BEFORE, reply_of(MULTI), then=proxy.down)]
    with pytest.raises(UnknownOutcomeError):
        store.multi([Create("/a")])
    with pytest.raises(UnreachableError):
        store.sync("/")
