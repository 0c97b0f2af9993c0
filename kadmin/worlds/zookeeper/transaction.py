"""Writes with a known outcome: after a lost reply it is read from the cluster."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kadmin.errors import BusyError, NotAuthorizedError, UnknownOutcomeError, UnreachableError
from kadmin.next_step import command
from kadmin.worlds.zookeeper.model import Create, Delete
from kadmin.worlds.zookeeper.rights import granting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kadmin.worlds.zookeeper.model import Acl, MultiResult, Op
    from kadmin.worlds.zookeeper.wire.store import Store

ATTEMPTS = 5


class CutOffError(UnreachableError):
    """A write that never arrives although others do."""


def write(
    store: Store, ops: Sequence[Op], happened: Callable[[], bool], what: str
) -> MultiResult | None:
    """Send one multi; None means that its reply was lost and `happened()` found it applied.

    After a lost reply `sync` and `happened` show whether it was applied; where it was not, it is
    sent again. Raises UnknownOutcomeError where they fail, NotAuthorizedError where an ACL forbids
    the write.
    """
    times_lost = 0
    while True:
        try:
            result = store.multi(ops)
        except UnknownOutcomeError as lost:
            if _look(store, happened, what, lost):
                return None
            times_lost += 1
            if times_lost == ATTEMPTS:
                raise _never_arrives(what, lost) from lost
            continue
        if result.reason == "NoAuth":
            raise _denied(store, result)
        return result


def _denied(store: Store, result: MultiResult) -> NotAuthorizedError:
    """Build the error for a multi that an ACL forbids, with the command that grants the right."""
    op = result.failed
    path = "/" if op is None else op.path
    guarded = path.rpartition("/")[0] or "/" if isinstance(op, Create | Delete) else path
    return NotAuthorizedError(
        f"Not allowed to write {path}.",
        cause=f"the ACL of {guarded} grants {store.authentication} no such right",
        next_step=granting(store, [guarded]),
    )


def _never_arrives(what: str, lost: UnknownOutcomeError) -> CutOffError:
    # Each time the write was found not applied: the outcome is known, and something cuts off this
    # write.
    return CutOffError(
        f"A write was cut off {ATTEMPTS} times and never happened: {what}.",
        cause=lost.cause or lost.message,
        next_step="check jute.maxbuffer on the ZooKeeper servers, or lower spec.waves.max_payload",
    )


def _look(store: Store, happened: Callable[[], bool], what: str, lost: UnknownOutcomeError) -> bool:
    try:
        store.sync("/")
        return happened()
    except UnreachableError as error:
        raise UnknownOutcomeError(
            f"The outcome of a write is unknown: {what}.",
            cause=f"{lost.message} Afterwards: {error.message}",
            next_step=command("status")
            + ", when ZooKeeper is reachable; then "
            + command("resume"),
        ) from error


def ensure(store: Store, paths: Sequence[str], acl: tuple[Acl, ...]) -> None:
    """Create the persistent nodes that do not exist, parents first, all or none of them."""
    while missing := [path for path in paths if store.exists(path) is None]:
        ops = [Create(path, b"", acl) for path in missing]
        result = write(store, ops, partial(_exists, store, missing[-1]), f"create {missing[-1]}")
        if result is not None and not result.committed and result.reason != "NodeExists":
            raise BusyError(
                f"{missing[-1]} could not be created: {result.reason}.", next_step=command("status")
            )


def _exists(store: Store, path: str) -> bool:
    return store.exists(path) is not None
