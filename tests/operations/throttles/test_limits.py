"""How many notifications and bytes a throttle writes at a time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.executor.fast_clock import FastClock
from support.executor.throttling import (
    LOCKED,
    OFF,
    PATHS,
    Told,
    configs,
    recorded,
    targets,
    throttling,
)
from support.zookeeper.znode_cluster import config, configure, notified, seed

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.errors import BusyError, NotCompletedError
from kadmin.operations.context import Clock
from kadmin.plan.throttle import FOLLOWER_REPLICAS, ConfigChange
from kadmin.worlds.zookeeper.configs import PER_MINUTE
from kadmin.worlds.zookeeper.model import Create
from kadmin.worlds.zookeeper.values.lock import ZnodeLock
from kadmin.worlds.zookeeper.znodes.configs import MANY_CONFIG_CHANGES

if TYPE_CHECKING:
    from kadmin.operations.record.holder import Lease
    from kadmin.worlds.zookeeper.wire.store import Store


pytestmark = pytest.mark.zookeeper


def test_no_more_than_a_thousand_notifications_a_minute(store: Store) -> None:
    topics = [f"t{number:04d}" for number in range(PER_MINUTE + 100)]
    seed(store, {topic: {0: (1, 2)} for topic in topics})
    lease = ZnodeLock(store, PATHS, Clock()).take(LOCKED, 0)
    record = recorded(store, targets(topics))
    clock = FastClock()
    clock.until = 59.0
    with pytest.raises(NotCompletedError, match="deadline"):
        throttling(store, record, clock=clock).set_up(lease)
    assert clock.time == 0, "no wait for what the deadline forbids"
    assert PER_MINUTE - 50 <= len(notified(store)) <= PER_MINUTE
    clock.until = math.inf
    throttle = throttling(store, record, clock=clock)
    throttle.set_up(lease)
    assert clock.time == 0, "what is set is not set again"
    throttle.take_down(lease, OFF)
    assert clock.time >= 60
    assert len(notified(store)) == 2 * (len(topics) + 3)


def test_with_ten_thousand_notifications_waiting_none_is_added(store: Store, lease: Lease) -> None:
    told = Told()
    set_before = throttling(store, recorded(store, targets()), told)
    set_before.set_up(lease)
    before = configs(store)
    for _ in range(MANY_CONFIG_CHANGES // 1000):
        store.multi([Create("/config/changes/config_change_", b"{}", sequential=True)] * 1000)
    with pytest.raises(BusyError, match="10004 notifications"):
        set_before.take_down(lease, OFF)
    set_before.leave(NotCompletedError("The deadline passed."), lease)
    assert told[1].startswith("the throttle remains: /config/changes holds 10004 notifications")
    assert configs(store) == before


def test_what_is_no_throttle_is_never_written(store: Store, lease: Lease) -> None:
    """Whatever is on record: configs are as before, the throttles beside it too."""
    record = recorded(store, targets())
    assert record.throttle is not None
    forged = {
        **record.throttle.changes,
        ConfigEntity.of_topic("bystander"): {"retention.ms": ConfigChange(None, "1000")},
    }
    seed(store, {"bystander": {0: (1, 2)}})
    before = configs(store)
    throttle = throttling(store, replace(record, throttle=replace(record.throttle, changes=forged)))
    with pytest.raises(NotCompletedError, match=r"retention.ms of topics/bystander is no throttle"):
        throttle.set_up(lease)
    assert configs(store) == before


def test_large_configs_go_in_groups_that_fit_a_packet(store: Store) -> None:
    topics = ["a", "b", "c"]
    seed(store, {topic: {0: (1, 2)} for topic in topics})
    for topic in topics:
        configure(store, f"topics/{topic}", {"x": topic * 300_000})
    lease = ZnodeLock(store, PATHS, Clock()).take(LOCKED, 0)
    throttle = throttling(store, recorded(store, targets(topics)))
    throttle.set_up(lease)
    assert [config(store, f"topics/{topic}")[FOLLOWER_REPLICAS] for topic in topics] == ["0:3"] * 3
    throttle.take_down(lease, OFF)
    assert config(store, "topics/b") == {"x": "b" * 300_000}
