"""Config writes of a throttle that are lost, cut off or overtaken by an edit."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.executor.throttling import (
    BEFORE,
    ENTITIES,
    LOCKED,
    OFF,
    PATHS,
    RATES,
    configs,
    recorded,
    targets,
    throttling,
)
from support.network.frame_proxy import Action, Fault, Side
from support.stores import OPERATION
from support.zookeeper.fault_proxy import MULTI, FaultProxy
from support.zookeeper.znode_cluster import config, configure, notified, reassigned

from kadmin.errors import BusyError, KadminError
from kadmin.operations.context import Clock
from kadmin.plan.throttle import FOLLOWER_REPLICAS, LEADER_REPLICAS
from kadmin.worlds.zookeeper.values.lock import ZnodeLock
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.network.frame_proxy import Frame

    from kadmin.operations.record.holder import Lease
    from kadmin.operations.throttles.operation import Throttling


pytestmark = pytest.mark.zookeeper


def writes_configs(side: Side) -> Callable[[Frame], bool]:
    """Match the multi that writes configs with their notifications, or its reply."""
    asked: list[int] = []

    def matches(frame: Frame) -> bool:
        if frame.side is Side.REQUEST and frame.op == MULTI and b"config_change_" in frame.body:
            asked.append(frame.number)
            return side is Side.REQUEST
        return side is frame.side is Side.REPLY and frame.number in asked

    return matches


@contextmanager
def through_a_proxy(chroot: str) -> Iterator[tuple[FaultProxy, str]]:
    address, _, path = chroot.partition("/")
    host, port = address.split(":")
    with FaultProxy((host, int(port))) as proxy:
        yield proxy, f"{proxy.connect_string}/{path}"


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("way", ["on", "off"])
def test_a_lost_request_or_reply_is_resolved_and_nobody_is_notified_twice(
    store: Store, lease: Lease, chroot: str, side: Side, way: str
) -> None:
    del lease
    ZnodeLock(store, PATHS, Clock()).release_by_hand(OPERATION)
    record = recorded(store, targets())
    with through_a_proxy(chroot) as (proxy, connect), Store.connect(connect) as cut:
        lease = ZnodeLock(cut, PATHS, Clock()).take(LOCKED, 0)
        throttle = throttling(cut, record)
        if way == "off":
            throttle.set_up(lease)
        proxy.faults.append(Fault(Action.CUT_BEFORE, writes_configs(side)))
        if way == "on":
            throttle.set_up(lease)
            assert config(store, "brokers/1") == RATES
        reassigned(store, "a", (1, 3))
        throttle.take_down(lease, OFF)
        assert proxy.faults[0].times == 0
    assert configs(store) == BEFORE
    assert notified(store) == ENTITIES * 2


def on_and_off(throttle: Throttling, lease: Lease) -> None:
    throttle.set_up(lease)
    throttle.take_down(lease, OFF)


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("nth", [1, 2])
def test_killed_at_any_write_another_machine_restores_every_value(
    store: Store, lease: Lease, chroot: str, side: Side, nth: int
) -> None:
    """F27: throttles are restored, whichever config write the runner died at."""
    del lease
    ZnodeLock(store, PATHS, Clock()).release_by_hand(OPERATION)
    record, seen = recorded(store, targets()), 0
    matches = writes_configs(side)

    def the_nth(frame: Frame) -> bool:
        nonlocal seen
        seen += matches(frame)
        return matches(frame) and seen == nth

    with (
        through_a_proxy(chroot) as (proxy, connect),
        Store.connect(connect, timeout_s=1.0) as dying,
    ):
        lease = ZnodeLock(dying, PATHS, Clock()).take(LOCKED, 0)
        proxy.faults.append(Fault(Action.CUT_BEFORE, the_nth, then=proxy.refuse))
        with pytest.raises(KadminError):
            on_and_off(throttling(dying, record), lease)
        assert proxy.faults[0].times == 0
    ZnodeLock(store, PATHS, Clock()).release_by_hand(OPERATION)
    lease = ZnodeLock(store, PATHS, Clock()).take(LOCKED, 0)
    taken_over = throttling(store, record)
    taken_over.set_up(lease)
    assert config(store, "brokers/1") == RATES
    reassigned(store, "a", (1, 3))
    taken_over.take_down(lease, OFF)
    assert configs(store) == BEFORE


def test_an_edit_in_the_very_moment_of_our_write_is_seen(
    store: Store, lease: Lease, chroot: str
) -> None:
    """Kafka's own tools check no version: an edit between our read and our write would be lost with
    them.
    """
    del lease
    ZnodeLock(store, PATHS, Clock()).release_by_hand(OPERATION)
    record = recorded(store, targets())
    with through_a_proxy(chroot) as (proxy, connect), Store.connect(connect) as behind:
        lease = ZnodeLock(behind, PATHS, Clock()).take(LOCKED, 0)
        throttle = throttling(behind, record)
        throttle.set_up(lease)
        edit = {"retention.ms": "8", LEADER_REPLICAS: "7:7,0:1,0:2,9:9", FOLLOWER_REPLICAS: "0:3"}
        proxy.faults.append(
            Fault(
                Action.CALL,
                writes_configs(Side.REQUEST),
                then=lambda: configure(store, "topics/a", edit),
            )
        )
        reassigned(store, "a", (1, 3))
        throttle.take_down(lease, OFF)
    assert config(store, "topics/a") == {"retention.ms": "8", LEADER_REPLICAS: "7:7,9:9"}


def test_an_entity_that_never_stands_still_is_named(
    store: Store, lease: Lease, chroot: str
) -> None:
    del lease
    ZnodeLock(store, PATHS, Clock()).release_by_hand(OPERATION)
    edits = iter(range(100))
    with through_a_proxy(chroot) as (proxy, connect), Store.connect(connect) as behind:
        lease = ZnodeLock(behind, PATHS, Clock()).take(LOCKED, 0)
        throttle = throttling(behind, recorded(store, targets()))

        def edit() -> None:
            configure(store, "topics/a", {LEADER_REPLICAS: "7:7", "x": str(next(edits))})

        proxy.faults.append(Fault(Action.CALL, writes_configs(Side.REQUEST), times=99, then=edit))
        with pytest.raises(BusyError, match=r"brokers/1, .*topics/a keep changing"):
            throttle.set_up(lease)
    assert config(store, "brokers/1") == {}, "all or nothing"
