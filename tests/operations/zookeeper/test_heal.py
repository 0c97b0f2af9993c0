"""Healing on a real ZooKeeper, with a client that stands for a broker: it elects itself when
`/controller` goes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from kazoo.client import KazooClient
from support.cli.in_process import command

from kadmin.errors import InvalidInputError, KadminError, UsageError
from kadmin.operations.context import Clock
from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.record.record import OperationKind, OperationRecord, OperationState
from kadmin.operations.record.step_codec import decode_step, encode_step
from kadmin.operations.record.steps import HealStep, Replaced, StepKind
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.heal.heal import heal
from kadmin.worlds.zookeeper.model import Create
from kadmin.worlds.zookeeper.values.lock import ZnodeLock
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.worlds.zookeeper.context import ZooKeeperContext
    from kadmin.worlds.zookeeper.wire.store import Store


def test_a_step_keeps_what_it_replaced_byte_for_byte() -> None:
    for data in (None, b"", b"null", bytes(range(256)) * 100):
        step = HealStep(3, "now", Replaced("/x", 7, data))
        assert decode_step(encode_step(step)) == step


@pytest.fixture
def context(store: Store) -> Iterator[ZooKeeperContext]:
    """A cluster of one broker, which is no controller."""
    topics = b'{"version":1,"partitions":{"0":[1]}}'
    for path in ("/brokers", "/brokers/ids", "/brokers/topics", "/config", "/admin/delete_topics"):
        store.multi([Create(path, b"")])
    store.multi([Create("/controller_epoch", b"1"), Create("/brokers/topics/a", topics)])
    broker = KazooClient(store.connect_string)
    broker.start()
    registration = {"version": 4, "host": "h", "port": 1, "endpoints": ["PLAINTEXT://h:1"]}
    broker.create("/brokers/ids/1", json.dumps(registration).encode(), ephemeral=True)

    def elect(event: object) -> None:
        if getattr(event, "type", "") == "DELETED":
            broker.set("/controller_epoch", b"2")
            broker.create(
                "/controller", b'{"version":1,"brokerid":1,"timestamp":"1"}', ephemeral=True
            )
        else:
            broker.exists("/controller", watch=elect)

    broker.exists("/controller", watch=elect)
    yield zookeeper_context(store, Paths(), Clock(), lambda _: None)
    broker.stop()
    broker.close()


def agree(_finding: str, _cure: str) -> None:
    """Say yes."""


@pytest.mark.zookeeper
def test_without_a_controller_it_stands_in_and_steps_down(context: ZooKeeperContext) -> None:
    """The record tells what was done; what is not healed by that (here nobody watches) is not
    claimed.
    """
    context.clock.until = context.clock.now() + 12
    with pytest.raises(KadminError):
        heal(context, 0, agree)
    assert (
        json.loads((context.store.get("/controller") or Create("")).data or b"{}")["brokerid"] == 1
    )
    (listing,) = context.operations.listings()
    assert listing.kind is OperationKind.HEAL
    (step, *_) = context.operations.steps(listing.operation_id)
    assert step.kind is StepKind.REPAIR


@pytest.mark.zookeeper
def test_who_declines_leaves_everything_as_it_is(context: ZooKeeperContext) -> None:
    def decline(_finding: str, _cure: str) -> None:
        raise UsageError("Not confirmed; nothing was changed.")

    with pytest.raises(UsageError, match="nothing was changed"):
        heal(context, 0, decline)
    assert context.store.exists("/kadmin") is None


@pytest.mark.zookeeper
def test_a_heal_that_died_is_named_and_taken_over(context: ZooKeeperContext) -> None:
    record = heal_record(context, "20261121T000000Z-abcdef")
    for arguments in (("status",), ("history",)):
        shown = command(*arguments, "-z", context.store.connect_string)
        assert shown.status == 0, shown.err
    assert "kadmin heal" in command("status", "-z", context.store.connect_string).out
    with pytest.raises(InvalidInputError, match="is a heal"):
        spec_of(record)
    context.clock.until = context.clock.now() + 5
    with pytest.raises(KadminError):
        heal(context, 0, agree)
    (listing,) = context.operations.listings()
    assert listing.operation_id == record.operation_id
    assert listing.status.state is OperationState.FAILED


def heal_record(context: ZooKeeperContext, operation_id: str) -> OperationRecord:
    """Leave a heal unfinished, as one that was killed."""
    holder = context.new_holder(operation_id)
    lease = ZnodeLock(context.store, context.paths, context.clock).take(holder, 0)
    record = OperationRecord(
        operation_id, OperationKind.HEAL, "{}", "sha256:0", None, "now", holder.author, {}
    )
    context.operations.create(record, lease, "now")
    ZnodeLock(context.store, context.paths, Clock()).release(lease)
    return record
