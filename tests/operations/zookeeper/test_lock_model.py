"""The lock in ZooKeeper in every order of two runners, with lost replies, sessions that expire, and
pauses anywhere.
"""

from __future__ import annotations

import itertools
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.network.frame_proxy import Action, Fault, reply_of, request_of
from support.stores import in_znodes
from support.zookeeper.explore import explore
from support.zookeeper.fault_proxy import MULTI, FaultProxy
from support.zookeeper.modelled import Ensemble

from kadmin.cluster.connect_string import parse_connect_string
from kadmin.errors import BusyError, KadminError, UnknownOutcomeError
from kadmin.operations.context import Clock
from kadmin.operations.record.codec import encode_status
from kadmin.operations.record.holder import Holder, Lease, LostLockError
from kadmin.operations.record.keys import key_of, step_key
from kadmin.operations.record.record import (
    Author,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
)
from kadmin.operations.record.steps import ElectionStep
from kadmin.worlds.zookeeper.model import Check, Create, Delete, SetData, Znode
from kadmin.worlds.zookeeper.values.lock import ZnodeLock, lease_checks
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.zookeeper.explore import Explored, Program, World

    from kadmin.worlds.zookeeper.model import MultiResult, Op

PATHS = Paths()
OP = "20260101T000000Z-000001"
RUNNING = OperationStatus(OperationState.RUNNING, "now")
COMPLETED = OperationStatus(OperationState.COMPLETED, "later")


def runner(number: int) -> Program:
    """Take the lock, write a step, complete the operation and free the lock, as a runner of
    kadmin's does.
    """
    holder = Holder(Author(f"runner-{number}", "host", number), OP, "now", 10.0)

    def run(store: Store) -> object:
        lock, journal = ZnodeLock(store, PATHS, Clock()), in_znodes(store, PATHS)
        writes: tuple[Callable[[Lease], None], ...] = (
            lambda lease: journal.write_step(ElectionStep(number, "now", ()), lease),
            lambda lease: journal.set_status(OP, COMPLETED, lease),
        )
        try:
            lease = lock.take(holder, 0)
            for write in () if journal.status(OP).state.finished else writes:
                lease = written(lock, lease, write)
        except LostLockError:
            return "lost"
        except BusyError:
            return "busy"
        with suppress(UnknownOutcomeError):
            lock.release(lease)
        return "ended"

    def written(lock: ZnodeLock, lease: Lease, write: Callable[[Lease], None]) -> Lease:
        """Write under the lock, which is taken again where it expired; return the lease."""
        try:
            write(lease)
        except LostLockError:
            again = lock.retake(lease, holder)
            assert again.token == lease.token + 1, "somebody had it meanwhile"
            write(again)
            return again
        return lease

    return run


def release_by_hand(store: Store) -> object:
    """Take the lock away from whoever holds it."""
    try:
        ZnodeLock(store, PATHS, Clock()).release_by_hand(OP)
    except KadminError:
        return "was free"
    return "released"


def check(before: World, number: int, ops: tuple[Op, ...]) -> None:
    """What depends on the fence is written by the owner of the lock."""
    if isinstance(ops[0], Check):
        assert ops[0].path == PATHS.fence
        assert before.owner_of(PATHS.lock) == number


def prepared() -> Ensemble:
    """An ensemble with an operation that is running."""
    record = OperationRecord(
        OP, OperationKind.ELECTION, "{}", "", None, "now", Author("ann", "host", 1), {}
    )
    parents = [
        "/kadmin",
        PATHS.fence,
        PATHS.operations,
        PATHS.of(key_of(OP, "status")),
        PATHS.of(key_of(OP, "steps")),
    ]
    znodes = [Znode(path, b"", 0) for path in parents]
    znodes[3] = Znode(PATHS.of(key_of(OP, "status")), encode_status(RUNNING, record), 0)
    return Ensemble(tuple(znodes))


def explored(*programs: Program, losses: int = 0, expiries: int = 0) -> Explored:
    return explore(prepared(), programs, check, losses=losses, expiries=expiries)


def test_two_runners_in_every_order() -> None:
    """One reply or request is lost, and one session expires."""
    found = explored(runner(1), runner(2), losses=1, expiries=1)
    assert found.worlds > 100_000
    assert any("lost" in results for results in found.ends)


def test_a_lock_that_is_released_by_hand_in_every_order() -> None:
    assert explored(runner(1), release_by_hand, losses=1, expiries=1).worlds > 5_000


@pytest.mark.executor
def test_two_runners_with_two_losses_in_every_order() -> None:
    assert explored(runner(1), runner(2), losses=2, expiries=1).worlds > 500_000


@pytest.mark.executor
def test_two_runners_and_a_release_by_hand_in_every_order() -> None:
    assert explored(runner(1), runner(2), release_by_hand, expiries=1).worlds > 200_000


def test_a_taker_that_reads_its_token_after_the_write_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    take = ZnodeLock._try_take

    def read_later(lock: ZnodeLock, holder: Holder, version: int) -> Lease | None:
        lease = take(lock, holder, version)
        return None if lease is None else replace(lease, token=lock._fence_version())

    monkeypatch.setattr(ZnodeLock, "_try_take", read_later)
    with pytest.raises(AssertionError):
        explored(runner(1), runner(2), expiries=1)


def test_a_runner_that_takes_a_lock_again_which_another_had_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ZnodeLock, "retake", lambda lock, _, holder: lock.take(holder, 0))
    with pytest.raises(AssertionError, match="somebody had it meanwhile"):
        explored(runner(1), runner(2), expiries=1)


class Modelled:
    """Two sessions with a modelled ensemble."""

    def __init__(self) -> None:
        self._ensemble, self._sessions = prepared(), dict[str, int]()
        for who in "ab":
            self._ensemble, self._sessions[who] = self._ensemble.open()

    def get(self, path: str) -> Znode | None:
        return self._ensemble.get(path)

    def multi(self, who: str, ops: list[Op], lost: str) -> MultiResult:
        if self._sessions[who] not in self._ensemble.sessions:
            self._ensemble, self._sessions[who] = self._ensemble.open()
        if lost != "request":
            self._ensemble, result = self._ensemble.multi(self._sessions[who], ops)
        if lost:
            raise UnknownOutcomeError(lost)
        return result

    def expire(self, who: str) -> None:
        self._ensemble = self._ensemble.expire(self._sessions[who])

    def session_id(self, who: str) -> int:
        return self._sessions[who]


class Live:
    """The same with a real ZooKeeper, each session through a proxy of its own."""

    def __init__(self, chroot: str, resources: ExitStack) -> None:
        address, self._proxies, self._stores = (
            parse_connect_string(chroot),
            dict[str, FaultProxy](),
            dict[str, Store](),
        )
        for who in "ab":
            proxy = resources.enter_context(FaultProxy(address.servers[0]))
            self._proxies[who] = proxy
            self._stores[who] = resources.enter_context(
                Store.connect(f"{proxy.connect_string}{address.chroot}")
            )
            self.session_id(who)  # a store that is cut off knows the last one that was asked for
        self._reader = resources.enter_context(Store.connect(chroot))
        self._reader.multi([Create(each.path, each.data) for each in prepared().znodes])

    def get(self, path: str) -> Znode | None:
        return self._reader.get(path)

    def multi(self, who: str, ops: list[Op], lost: str) -> MultiResult:
        matches = {"request": request_of(MULTI), "reply": reply_of(MULTI)}
        self._proxies[who].faults = [Fault(Action.CUT_BEFORE, matches[lost])] if lost else []
        return self._stores[who].multi(ops)

    def expire(self, who: str) -> None:
        self._proxies[who].expire()

    def session_id(self, who: str) -> int:
        return self._stores[who].session_id


def play(
    side: Modelled | Live, sequence: tuple[str, ...]
) -> Iterator[tuple[str, str, str | None, int]]:
    """Make the calls; after each one yield it, its outcome, who owns the lock, and the version of
    the fence.
    """
    tokens, numbers = dict.fromkeys("ab", 0), itertools.count()
    for call in sequence:
        (who, what, *lost), outcome = call.split(), "done"
        fence = side.get(PATHS.fence)
        assert fence is not None
        if what == "expires":
            side.expire(who)
        else:
            if what == "takes":
                tokens[who] = fence.version + 1
            lease = Lease(tokens[who], 0, OP)
            step = Create(PATHS.of(step_key(OP, next(numbers))), b"")
            ops: dict[str, list[Op]] = {
                "takes": [
                    Create(PATHS.lock, b"", ephemeral=True),
                    SetData(PATHS.fence, b"", fence.version),
                ],
                "writes": [*lease_checks(lease, PATHS), step],
                "frees": [Check(PATHS.fence, lease.token), Delete(PATHS.lock, -1)],
                "releases": [Delete(PATHS.lock, -1), SetData(PATHS.fence, b"", fence.version)],
            }
            try:
                result = side.multi(who, ops[what], "".join(lost))
                outcome = (
                    "committed"
                    if result.failed is None
                    else f"{result.reason} of {result.failed.path}"
                )
            except UnknownOutcomeError:
                outcome = "lost"
        lock, fence = side.get(PATHS.lock), side.get(PATHS.fence)
        assert fence is not None
        owners = {side.session_id(each): each for each in "ab"}
        yield call, outcome, None if lock is None else owners[lock.ephemeral_owner], fence.version


SEQUENCES = (
    (
        "a takes",
        "b takes",
        "a writes",
        "b writes",
        "b frees",
        "a frees",
        "a frees",
        "b takes",
        "b writes",
        "a writes",
    ),
    (
        "a takes reply",
        "a takes",
        "a writes reply",
        "a writes",
        "a frees reply",
        "b takes",
        "a frees",
    ),
    (
        "a takes request",
        "b takes",
        "a takes",
        "b writes request",
        "b writes",
        "b frees request",
        "b frees",
    ),
    ("a takes", "a expires", "a writes", "a frees", "b takes", "a writes", "a takes", "b writes"),
    (
        "a takes reply",
        "a expires",
        "b takes",
        "a writes",
        "b expires",
        "b writes",
        "a takes",
        "b writes",
        "a writes",
    ),
    (
        "a releases",
        "a takes",
        "b releases",
        "a writes",
        "b takes",
        "a writes",
        "a frees",
        "b writes",
    ),
)


@pytest.mark.zookeeper
@pytest.mark.parametrize("sequence", SEQUENCES, ids=", ".join)
def test_the_model_does_what_zookeeper_does(chroot: str, sequence: tuple[str, ...]) -> None:
    with ExitStack() as resources:
        assert list(play(Live(chroot, resources), sequence)) == list(play(Modelled(), sequence))
