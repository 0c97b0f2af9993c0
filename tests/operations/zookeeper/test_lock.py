from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

import pytest
from support.network.frame_proxy import Action, Fault, Side, reply_to, request_with
from support.stores import in_znodes
from support.zookeeper.fault_proxy import MULTI

from kadmin.cluster.connect_string import parse_connect_string
from kadmin.errors import BusyError, InvalidInputError
from kadmin.operations.context import Clock
from kadmin.operations.record.holder import Holder, LostLockError
from kadmin.operations.record.record import (
    Author,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
)
from kadmin.worlds.zookeeper.model import Create, SetData
from kadmin.worlds.zookeeper.values.lock import ZnodeLock, lease_checks
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from support.network.frame_proxy import Frame
    from support.zookeeper.fault_proxy import FaultProxy

    from kadmin.operations.record.holder import Lease

pytestmark = pytest.mark.zookeeper

PATHS = Paths()
OP_1, OP_2, OP_9 = (f"20260101T000000Z-00000{number}" for number in (1, 2, 9))
REQUESTS_OF_TAKE = 6
"""The fence, the holder and the write; before them what is made where it is missing."""


def holder(operation_id: str = OP_1) -> Holder:
    return Holder(Author("ann", "host-a", 7), operation_id, "2026-11-21T08:00:00Z", 10.0)


def grab(store: Store, operation_id: str = OP_1, wait_s: float = 0) -> Lease:
    return ZnodeLock(store, PATHS, Clock()).take(holder(operation_id), wait_s)


def record(operation_id: str) -> OperationRecord:
    return OperationRecord(
        operation_id,
        OperationKind.ELECTION,
        "{}",
        "sha256:0",
        None,
        "now",
        Author("ann", "host-a", 7),
        {},
    )


def test_taking_makes_the_lock_ephemeral_and_moves_the_fence(store: Store) -> None:
    first = grab(store)
    node = store.get(PATHS.lock)
    assert node is not None
    assert node.ephemeral_owner == store.session_id
    assert ZnodeLock(store, PATHS, Clock()).holder() == Holder(
        Author("ann", "host-a", 7), OP_1, "2026-11-21T08:00:00Z", 10.0, store.session_id
    )
    ZnodeLock(store, PATHS, Clock()).release(first)
    assert ZnodeLock(store, PATHS, Clock()).holder() is None
    assert grab(store).token > first.token


def test_a_second_taker_is_told_who_holds_it(store: Store, chroot: str) -> None:
    grab(store)
    with (
        Store.connect(chroot) as other,
        pytest.raises(BusyError, match=rf"ann@host-a \(pid 7\).*{OP_1}"),
    ):
        grab(other, OP_2)


def test_a_lock_goes_with_its_session_and_a_waiting_taker_gets_it(
    store: Store, chroot: str
) -> None:
    with Store.connect(chroot) as other:
        grab(other)
    assert grab(store, OP_2, wait_s=5).session_id == store.session_id


def taken_again(store: Store, lease: Lease) -> LostLockError:
    """What the holder is told that wants its lock back."""
    with pytest.raises(LostLockError) as lost:
        ZnodeLock(store, PATHS, Clock()).retake(lease, holder())
    return lost.value


def test_a_holder_whose_lock_was_released_by_hand_writes_nothing_more(
    store: Store, chroot: str
) -> None:
    """The lock alone does not fence: a node made again at the same path has the same version."""
    lease = grab(store)
    journal = in_znodes(store, PATHS)
    journal.create(record(OP_1), lease, "now")
    with Store.connect(chroot) as other:
        assert ZnodeLock(other, PATHS, Clock()).release_by_hand(OP_1).operation_id == OP_1
        with pytest.raises(LostLockError):
            journal.set_status(OP_1, OperationStatus(OperationState.FAILED, "later"), lease)
        assert taken_again(store, lease).successor is None
        again = grab(other, OP_2)
        lost = taken_again(store, lease)
        assert f"ann@host-a (pid 7) took over, for operation {OP_2}" in lost.message
        assert lost.next_command == "kadmin status"
        with pytest.raises(LostLockError):
            journal.set_status(OP_1, OperationStatus(OperationState.FAILED, "later"), lease)
        ZnodeLock(store, PATHS, Clock()).release(lease)
        assert ZnodeLock(other, PATHS, Clock()).holder() is not None, (
            "a late release of the old holder must not free the new one's lock"
        )
        assert again.token > lease.token
    assert journal.status(OP_1).state is OperationState.RUNNING


@pytest.mark.parametrize("lost", [True, False], ids=["reply lost", "reply comes"])
def test_a_taker_that_stands_still_past_its_session_never_writes_beside_its_successor(
    store: Store, chroot: str, proxy: FaultProxy, *, lost: bool
) -> None:
    """It stands still before each request of `take` in turn, until none is left: another one takes
    the lock then.
    """
    broken = f"{proxy.connect_string}{parse_connect_string(chroot).chroot}"
    for number in itertools.count():
        paths = Paths(f"/kadmin-{number}")
        proxy.faults = (
            [Fault(Action.CUT_BEFORE, reply_to(request_with(MULTI, b"/lock")))] if lost else []
        )
        still = Fault(
            Action.CALL, Skipped(number), then=partial(proxy.expire, partial(grabbed, store, paths))
        )
        with Store.connect(broken) as zombie:
            proxy.faults.append(still)
            lease = grabbed(zombie, paths)
            if still.times:
                proxy.faults.clear()
                break
            if lease is not None:
                with pytest.raises(LostLockError):
                    in_znodes(zombie, paths).create(record(OP_1), lease, "now")
        owner = store.exists(paths.lock)
        assert owner is not None
        assert owner.ephemeral_owner == store.session_id
    assert number > REQUESTS_OF_TAKE + lost, "it stood still before each of them"


class Skipped:
    """Matches the first request after some."""

    def __init__(self, requests: int) -> None:
        self._left = requests

    def __call__(self, frame: Frame) -> bool:
        if frame.side is Side.REQUEST:
            self._left -= 1
        return self._left < 0


def grabbed(store: Store, paths: Paths) -> Lease | None:
    try:
        return ZnodeLock(store, paths, Clock()).take(holder(), 0)
    except BusyError:
        return None


def test_a_holder_has_its_own_lock_already(store: Store) -> None:
    assert grab(store) == grab(store)


def test_a_lock_that_another_had_meanwhile_is_not_taken_again(
    store: Store, chroot: str, proxy: FaultProxy
) -> None:
    """Its successor may have completed the operation, and freed the lock."""

    def take_and_free() -> None:
        lock = ZnodeLock(store, PATHS, Clock())
        lock.release(lock.take(holder(OP_2), 0))

    with Store.connect(f"{proxy.connect_string}{parse_connect_string(chroot).chroot}") as zombie:
        lease = grab(zombie)
        proxy.expire(take_and_free)
        with pytest.raises(LostLockError):
            in_znodes(zombie, PATHS).create(record(OP_1), lease, "now")
        assert taken_again(zombie, lease).successor is None
        assert store.exists(PATHS.lock) is None


@pytest.mark.usefixtures("store")
def test_a_lock_that_expired_is_taken_again_where_nobody_had_it(
    chroot: str, proxy: FaultProxy
) -> None:
    with Store.connect(f"{proxy.connect_string}{parse_connect_string(chroot).chroot}") as sleeper:
        lease, journal = grab(sleeper), in_znodes(sleeper, PATHS)
        proxy.expire()
        with pytest.raises(LostLockError):
            journal.create(record(OP_1), lease, "now")
        again = ZnodeLock(sleeper, PATHS, Clock()).retake(lease, holder())
        journal.create(record(OP_1), again, "now")
    assert again.session_id != lease.session_id


def test_releasing_by_hand_wants_the_right_operation(store: Store) -> None:
    with pytest.raises(InvalidInputError, match="The lock is free"):
        ZnodeLock(store, PATHS, Clock()).release_by_hand(OP_1)
    grab(store)
    with pytest.raises(BusyError, match=f"{OP_1}, not {OP_9}"):
        ZnodeLock(store, PATHS, Clock()).release_by_hand(OP_9)


def test_a_lock_that_somebody_else_wrote_is_still_a_lock(store: Store) -> None:
    store.multi(
        [Create("/kadmin", b""), Create("/kadmin/operations", b""), Create("/kadmin/fence", b"")]
    )
    store.multi([Create("/kadmin/lock", b"not json")])
    with pytest.raises(BusyError, match="unknown"):
        grab(store)


def test_everything_carries_the_acl_of_admin(store: Store) -> None:
    grab(store)
    for path in ("/kadmin", "/kadmin/operations", "/kadmin/fence", "/kadmin/lock"):
        assert store.acl(path) == store.acl("/admin")


def test_the_root_can_lie_elsewhere(store: Store) -> None:
    paths = Paths("/ops/tools/kadmin")
    lease = ZnodeLock(store, paths, Clock()).take(holder(), 0)
    assert store.exists("/ops/tools/kadmin/lock") is not None
    assert lease_checks(lease, paths)[0].path == "/ops/tools/kadmin/fence"


def test_a_foreign_write_to_the_fence_is_noticed(store: Store) -> None:
    lease = grab(store)
    store.multi([SetData(PATHS.fence, b"x", lease.token)])
    with pytest.raises(LostLockError):
        in_znodes(store, PATHS).create(record(OP_1), lease, "now")
