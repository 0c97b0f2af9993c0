"""When the controller may be moved: the pure rules, and the waiting on a real ZooKeeper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.executor.fast_clock import FastClock

from kadmin.errors import NotCompletedError, StoppedError
from kadmin.operations.port import Postponed
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.controller_move import (
    PATIENCE_S,
    STILL_S,
    ControllerLook,
    ControllerMove,
    ControllerMover,
    await_successor,
    look,
    not_yet,
    poisoned,
)
from kadmin.worlds.zookeeper.model import Create, Delete, SetData, Znode
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from kadmin.worlds.zookeeper.context import ZooKeeperContext
    from kadmin.worlds.zookeeper.wire.store import Store

NODE = "/admin/reassign_partitions"
ELECTION = "/admin/preferred_replica_election"
SESSIONS = {1: 11, 2: 22}


def seen(*watching: int, complete: bool = True, controller: int | None = 0) -> ControllerLook:
    return ControllerLook(controller, 5, SESSIONS, frozenset(watching), complete)


@pytest.mark.parametrize(
    ("look_", "still_s", "allowed"),
    [
        (seen(1, 2), 0, True),
        (seen(1, 2, complete=False), 0, True),
        (seen(1), 1000, False),
        (seen(1, complete=False), STILL_S - 1, False),
        (seen(complete=False), STILL_S, True),
        (seen(1, 2, controller=None), 1000, False),
        (ControllerLook(0, 5, {}, frozenset(), complete=True), 1000, False),
    ],
)
def test_once_when_all_watch_or_all_stood_still(
    look_: ControllerLook, still_s: float, *, allowed: bool
) -> None:
    assert (not_yet(look_, still_s) is None) is allowed


@pytest.mark.parametrize(
    ("path", "data", "poison"),
    [
        (NODE, b'{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1]}]}', False),
        (NODE, b'{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[]}]}', True),
        (NODE, b'{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":["1"]}]}', True),
        (NODE, b'{"version":1}', True),
        (NODE, None, True),
        (ELECTION, b'{"version":1,"partitions":[]}', False),
        (ELECTION, b'{"version":1}', True),
        ("/brokers/topics/a", b'{"version":1,"partitions":{"0":[1,2]}}', False),
        ("/brokers/topics/a", b'{"version":1,"partitions":{"0":["1",2]}}', True),
        (
            "/brokers/topics/a",
            b'{"version":3,"partitions":{"0":[1,2]},"removing_replicas":{"0":[2]}}',
            False,
        ),
        (
            "/brokers/topics/a",
            b'{"version":3,"partitions":{"0":[1,2]},"removing_replicas":{"0":[1,2]}}',
            True,
        ),
    ],
)
def test_what_no_new_controller_could_read(path: str, data: bytes | None, *, poison: bool) -> None:
    assert poisoned([Znode(path, data, 0)]) == ((path,) if poison else ())


@pytest.fixture
def context(store: Store) -> ZooKeeperContext:
    """A cluster of one broker whose session is ours, with a controller; nobody watches it."""
    paths = ("/brokers", "/brokers/ids", "/brokers/topics")
    store.multi([Create(path, b"") for path in paths])
    store.multi(
        [
            Create("/brokers/ids/1", b"{}", ephemeral=True),
            Create("/controller", b"{}", ephemeral=True),
        ]
    )
    store.multi([Create("/controller_epoch", b"1")])
    return zookeeper_context(store, Paths(), FastClock(), lambda _: None)


@pytest.mark.zookeeper
def test_a_broker_that_does_not_watch_is_waited_for_and_named(context: ZooKeeperContext) -> None:
    failover = ControllerMover(context.store, context.clock)
    assert look(context.store).brokers == {1: context.store.session_id}
    assert "1" in str(failover.ask())
    context.clock.wait(PATIENCE_S + 1)
    with pytest.raises(NotCompletedError, match="not every broker watches"):
        failover.ask()


@pytest.mark.zookeeper
def test_where_zookeeper_does_not_tell_everything_must_stand_still(
    context: ZooKeeperContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(context.store), "four_letter_words", lambda *_: {"server": None})
    failover = ControllerMover(context.store, context.clock)
    assert isinstance(failover.ask(), Postponed)
    context.clock.wait(STILL_S - 1)
    context.store.multi([SetData("/controller_epoch", b"2", -1)])
    assert isinstance(failover.ask(), Postponed), "it moved, so the time begins anew"
    context.clock.wait(STILL_S)
    assert failover.ask() == ControllerMove(epoch_version=1, controller_version=0)


@pytest.mark.zookeeper
def test_never_over_a_node_that_the_next_one_could_not_read_unless_it_goes_with_it(
    context: ZooKeeperContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(context.store), "four_letter_words", lambda *_: {"server": None})
    context.store.multi(
        [Create(NODE, b'{"version":1}'), Create("/brokers/topics/a", b'{"partitions":{"0":["1"]}}')]
    )
    failover = ControllerMover(context.store, context.clock)
    failover.ask()
    context.clock.wait(STILL_S)
    with pytest.raises(NotCompletedError, match="could not read"):
        failover.ask([NODE])
    assert isinstance(failover.ask([NODE, "/brokers/topics/a"]), ControllerMove)


@pytest.mark.zookeeper
def test_a_move_holds_only_for_the_controller_that_was_seen(context: ZooKeeperContext) -> None:
    bump = ControllerMove(epoch_version=0, controller_version=0)
    context.store.multi([SetData("/controller_epoch", b"2", -1)])
    assert not context.store.multi(bump.ops()).committed
    assert context.store.exists("/controller") is not None


@pytest.mark.zookeeper
def test_a_successor_is_waited_for(context: ZooKeeperContext) -> None:
    context.store.multi([Delete("/controller", -1)])
    with pytest.raises(NotCompletedError, match="no broker has taken over"):
        await_successor(context.store, context.clock, 0)
    assert context.clock.now() >= 30
    context.store.multi(
        [SetData("/controller_epoch", b"2", -1), Create("/controller", b"{}", ephemeral=True)]
    )
    await_successor(context.store, context.clock, 0)
    with context.clock.deferring_signals():
        context.clock.interrupt(15)
    with pytest.raises(StoppedError):
        await_successor(context.store, context.clock, 1)
