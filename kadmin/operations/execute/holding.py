"""Who takes the lock: this process, for an operation of its own or one that it takes over."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kadmin.errors import UnknownOutcomeError, UnreachableError
from kadmin.operations.execute import events
from kadmin.operations.record.record import Author
from kadmin.operations.zookeeper.lock import Holder, release, take

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.operations.execute.runner import Context
    from kadmin.operations.zookeeper.lock import Lease


def new_operation_id(now: str) -> str:
    """Return the id of an operation that begins at the timestamp; ids sort by time."""
    return f"{now.translate({ord(c): None for c in '-:'})}-{secrets.token_hex(3)}"


def new_holder(context: Context, operation_id: str, now: str) -> Holder:
    """Return this process as the holder of the lock for an operation."""
    author = Author(_user(), socket.gethostname(), os.getpid())
    return Holder(author, operation_id, now, context.store.session_timeout_s)


def give_back(context: Context, lease: Lease) -> None:
    """Give the lock back, best effort: it goes with our session anyway, and an error on its way out matters more."""
    try:
        release(context.store, context.paths, lease)
    except (UnreachableError, UnknownOutcomeError):
        context.tell(events.Noted("the lock could not be given back; it goes with the session"))


@contextmanager
def leased(context: Context, purpose: str, lock_timeout_s: float) -> Iterator[Lease]:
    """Hold the lock for a short write that is no operation; `purpose` stands where holders name theirs."""
    holder = new_holder(context, purpose, context.clock.timestamp())
    lease = take(context.store, context.paths, holder, context.clock, lock_timeout_s)
    try:
        yield lease
    finally:
        give_back(context, lease)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name for this uid, as in many containers
        return str(os.getuid())
