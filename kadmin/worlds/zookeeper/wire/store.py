"""Reads and writes ZooKeeper with kazoo, which only this folder imports.

Goals: no call exceeds its deadline; reads are repeated until then; a write is sent once, and an
unknown outcome is raised. Every path is relative to the chroot of the connect string, which is
never created.

Constraints of kazoo: synchronous calls block without limit while the connection is suspended, so
only asynchronous ones are used, each with a timeout. `commit()` returns errors instead of raising
them. A name that cannot be encoded ends the I/O thread, so paths are checked first. Starting with a
chroot blocks, so the chroot is prepended here.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from kazoo import exceptions as zookeeper
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol import serialization
from kazoo.protocol.states import KeeperState

from kadmin.cluster.connect_string import parse_connect_string
from kadmin.cluster.ports import ASK_AFTER_S
from kadmin.cluster.znode_names import require_path
from kadmin.errors import NotZooKeeperModeError
from kadmin.wording import name_some
from kadmin.worlds.zookeeper.model import Acl
from kadmin.worlds.zookeeper.wire import four_letter
from kadmin.worlds.zookeeper.wire.authentication import Authentication
from kadmin.worlds.zookeeper.wire.client import client_of
from kadmin.worlds.zookeeper.wire.connection import Connection
from kadmin.worlds.zookeeper.wire.outcome import FORBIDDEN, LOST, described, error_name, fate_of
from kadmin.worlds.zookeeper.wire.requests import request_of, znode_of
from kadmin.worlds.zookeeper.wire.sasl import SaslLogin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    from kadmin.errors import UnreachableError
    from kadmin.worlds.zookeeper.model import MultiResult, Op, Znode

MAX_PACKET_BYTES = 1_000_000
"""A server closes the connection at 1,048,575 bytes by default, which the client cannot distinguish
from an outage."""

WINDOW = 500
"""Requests in flight in a bulk read."""

CLOSE_S = 2.0
_LOOK_S = 0.05


_LOG = logging.getLogger(__name__)
"""Paths, amounts and times: never data of znodes, which may be secret."""


class Store:
    """One session with an ensemble; a context manager, for one thread."""

    def __init__(self, connection: Connection) -> None:
        """Prepare without connecting; use `Store.connect`."""
        self._connection = connection
        self._chroot = connection.connect.chroot
        sasl = connection.authentication.sasl
        self._login = None if sasl is None else SaslLogin(sasl)
        self._client = client_of(connection, self._login)
        self._negotiated_s = connection.session_timeout_s
        self._session_id = 0
        self._learn_negotiated_timeout()

    @classmethod
    def connect(
        cls,
        connect: str,
        *,
        timeout_s: float = 15.0,
        session_timeout_s: float = 10.0,
        authentication: Authentication | None = None,
        until: float = math.inf,
    ) -> Store:
        """Connect and read once, so that wrong credentials are reported here.

        `timeout_s` bounds the connection and then every call, `until` (monotonic) all of them.
        Raises InvalidInputError for a wrong address, UnreachableError without an answer,
        NotZooKeeperModeError where no ZooKeeper listens, NotAuthorizedError for refused
        credentials.
        """
        identity = authentication or Authentication()
        address = parse_connect_string(connect)
        store = cls(
            Connection(
                address, timeout_s, session_timeout_s, identity, identity.tls_context(), until
            )
        )
        try:
            store._client.start_async()
            began = time.monotonic()
            store._require_zookeeper()
            store.exists("/")
            _log(began, f"connected to {address}, session timeout {store.session_timeout_s:g} s")
        except BaseException:
            store.close()
            raise
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session, which deletes its ephemeral znodes.

        Gives up waiting after CLOSE_S seconds.
        """
        # kazoo waits for its own I/O thread without a limit, even where a server hangs. Without a
        # connection the session cannot be ended anyconnection.
        patience_s = min(CLOSE_S, _left(self._connection.end())) if self.connected else 0.0
        closing = threading.Thread(target=self._stop, daemon=True)
        closing.start()
        closing.join(patience_s)

    @property
    def authentication(self) -> Authentication:
        """The identities and credentials of this session."""
        return self._connection.authentication

    @property
    def connect_string(self) -> str:
        """The servers and the chroot, as given."""
        return str(self._connection.connect)

    @property
    def chroot(self) -> str:
        """The chroot, empty where there is none."""
        return self._chroot

    @property
    def connected(self) -> bool:
        """Whether the session is connected at this moment."""
        return bool(self._client.connected)

    @property
    def session_id(self) -> int:
        """The current session, as in `ephemeral_owner`; the last known one while disconnected.

        After an expiry kazoo opens a new session: the id changes, and ephemeral znodes are gone.
        """
        present = self._client.client_id
        if present is not None and present[0]:
            self._session_id = int(present[0])
        return self._session_id

    @property
    def session_timeout_s(self) -> float:
        """The session timeout that the server granted."""
        return self._negotiated_s

    @property
    def last_zxid(self) -> int:
        """The last transaction in the latest answer.

        Where it is equal, nothing in the ensemble changed between.
        """
        return int(self._client.last_zxid)

    def get(self, path: str) -> Znode | None:
        """Read a znode, None where there is none."""
        return self.get_many([path])[0]

    def get_many(self, paths: Iterable[str]) -> list[Znode | None]:
        """Read many znodes, pipelined, in the order asked.

        The deadline counts from answer to answer.
        """
        asked = list(paths)
        found = self._read(self._client.get_async, asked)
        return [
            None if each is None else znode_of(path, *each)
            for path, each in zip(asked, found, strict=True)
        ]

    def exists(self, path: str) -> Znode | None:
        """Read a znode without its data."""
        return self.exists_many([path])[0]

    def exists_many(self, paths: Iterable[str]) -> list[Znode | None]:
        """Read many znodes without their data, as `get_many`."""
        asked = list(paths)
        found = self._read(self._client.exists_async, asked)
        return [
            None if each is None else znode_of(path, None, each)
            for path, each in zip(asked, found, strict=True)
        ]

    def children(self, path: str) -> tuple[str, ...] | None:
        """List the children's names, sorted; None where the znode does not exist."""
        return self.children_many([path])[0]

    def children_many(self, paths: Iterable[str]) -> list[tuple[str, ...] | None]:
        """List the children of many znodes, as `get_many`."""
        found = self._read(self._client.get_children_async, list(paths))
        return [None if each is None else tuple(sorted(each)) for each in found]

    def children_outside_chroot(self, path: str) -> tuple[str, ...] | None:
        """List the children of a path outside the chroot, to suggest chroots."""
        found = self._pipeline(self._client.get_children_async, [require_path(path)])[0]
        return None if found is None else tuple(sorted(found))

    def acl(self, path: str) -> tuple[Acl, ...]:
        """Read a znode's ACL, to copy it.

        Raises NotZooKeeperModeError where the znode does not exist, and NotAuthorizedError where
        ZooKeeper shows a digest as `name:x` only: a copy of that would deny everyone.
        """
        (found,) = self.acl_many([path])
        if found is None:
            raise NotZooKeeperModeError(
                f"There is no {path} at {self.connect_string}, so its ACL cannot be copied."
            )
        return found

    def acl_many(self, paths: Sequence[str]) -> list[tuple[Acl, ...] | None]:
        """Read the ACLs of many znodes, as `get_many`; raises NotAuthorizedError as `acl` does."""
        found = self._read(self._client.get_acls_async, paths)
        acls = [
            None if each is None else tuple(Acl(e.perms, e.id.scheme, e.id.id) for e in each[0])
            for each in found
        ]
        for path, acl in zip(paths, acls, strict=True):
            if any(
                each.scheme == "digest" and each.credential.endswith(":x") for each in acl or ()
            ):
                raise self._connection.forbidden(f"the ACL of {path}", "its digests are masked")
        return acls

    def sync(self, path: str) -> None:
        """Bring the server that answers us up to date with its leader."""
        self._read(self._client.sync_async, [path])

    def multi(self, ops: Sequence[Op]) -> MultiResult:
        """Send one multi, exactly once, waiting for a connection first.

        Every element of the answer is inspected. Raises InvalidInputError when it is too large to
        send, UnreachableError when it was never sent, NotAuthorizedError when the session is
        refused as a whole, and UnknownOutcomeError when it was sent, or may have been, and no
        answer came.
        """
        deadline = self._connection.deadline(self._connection.end())
        requests = [request_of(op, self._absolute(op.path)) for op in ops]
        size = len(serialization.Transaction(requests).serialize())
        if size > MAX_PACKET_BYTES:
            raise self._connection.too_large(size, MAX_PACKET_BYTES)
        self._await_connection(deadline)
        transaction = self._client.transaction()
        transaction.operations.extend(requests)
        pending, began = transaction.commit_async(), time.monotonic()
        try:
            results = pending.get(timeout=_left(deadline))
        except (*LOST, KazooTimeoutError) as lost:
            raise self._connection.unknown(error_name(lost), size) from lost
        except zookeeper.KazooException as error:
            raise self._refused(error, "a write") from error
        except Exception as odd:  # an answer that kazoo cannot decode; the write was sent
            raise self._connection.unknown(error_name(odd), size) from odd
        if len(results) != len(ops):
            raise self._connection.unknown("an answer for another number of ops", size)
        fate = fate_of(ops, results)
        _log(
            began,
            f"wrote {described(ops)}, {size} bytes: "
            f"{'committed' if fate.committed else fate.reason}",
        )
        return fate

    def four_letter_words(self, word: str) -> Mapping[str, str | None]:
        """Ask every server of the connect string.

        None where one refuses, is not serving or does not answer.
        """
        return four_letter.ask_all(self._connection.connect.servers, word, self._connection.tls)

    def _read(self, send: Callable[[str], Any], paths: Sequence[str]) -> list[Any]:
        began = time.monotonic()
        found = self._pipeline(send, [self._absolute(path) for path in paths])
        if paths and _LOG.isEnabledFor(logging.DEBUG):
            _log(began, f"{send.__name__.removesuffix('_async')} {name_some(paths, most=1)}")
        return found

    def _pipeline(self, send: Callable[[str], Any], paths: Sequence[str]) -> list[Any]:
        """Send reads with at most WINDOW in flight; a znode that does not exist answers None."""
        answers: list[Any] = [None] * len(paths)
        todo = deque(range(len(paths)))
        in_flight: deque[tuple[int, Any]] = deque()
        end = self._connection.end()
        deadline = self._connection.deadline(end)
        while todo or in_flight:
            while todo and len(in_flight) < WINDOW and (self.connected or not in_flight):
                self._await_connection(deadline)
                in_flight.append((todo[0], send(paths[todo.popleft()])))
            # Answers come in order, so half of them are awaited together: waking for each takes a
            # quarter more time.
            half = len(in_flight) // 2
            in_flight[half][1].wait(_left(deadline))
            for index, pending in [in_flight.popleft() for _ in range(half + 1)]:
                try:
                    answers[index] = pending.get(timeout=_left(deadline))
                except zookeeper.NoNodeError:
                    pass
                except (*LOST, KazooTimeoutError) as lost:
                    if _left(deadline) <= 0:
                        raise self._connection.unreachable(error_name(lost)) from lost
                    todo.append(index)
                    threading.Event().wait(_LOOK_S if not in_flight else 0)
                    continue
                except zookeeper.KazooException as error:
                    raise self._refused(error, paths[index].removeprefix(self._chroot)) from error
                deadline = self._connection.deadline(end)
        return answers

    def _require_zookeeper(self) -> None:
        """Raise an error where there is no session after a moment and the servers show the reason.

        NotZooKeeperModeError: something else listens there; NotAuthorizedError: one side does not
        trust the other.
        """
        give_up = min(time.monotonic() + ASK_AFTER_S, self._connection.end())
        while not self._client.connected and not self._is_refused() and time.monotonic() < give_up:
            threading.Event().wait(_LOOK_S)
        if self._client.connected or self._is_refused():
            return
        if (
            error := self._connection.not_zookeeper() or self._connection.tls_refusal()
        ) is not None:
            raise error

    def _await_connection(self, deadline: float) -> None:
        while not self._client.connected:
            if self._is_refused():
                raise self._refused(zookeeper.AuthFailedError(), "the session")
            if _left(deadline) <= 0:
                raise self._connection.unreachable("no connection")
            threading.Event().wait(min(_LOOK_S, _left(deadline)))

    def _is_refused(self) -> bool:
        # kazoo leaves AUTH_FAILED at once for CLOSED.
        refused = self._login is not None and self._login.refusal is not None
        return refused or self._client.client_state == KeeperState.AUTH_FAILED

    def _absolute(self, path: str) -> str:
        require_path(path)
        return (self._chroot or "/") if path == "/" else self._chroot + path

    def _stop(self) -> None:
        self._client.stop()
        self._client.close()

    def _learn_negotiated_timeout(self) -> None:
        # kazoo keeps the granted timeout in its connection only, as two thirds of it.
        connection = self._client._connection  # noqa: SLF001 - no public way exists
        connect = connection._connect  # noqa: SLF001 - as above

        def connect_and_learn(*where: object) -> tuple[float, float]:
            read_timeout_ms, connect_timeout_ms = connect(*where)
            self._negotiated_s = round(read_timeout_ms * 1.5) / 1000
            return read_timeout_ms, connect_timeout_ms

        connection._connect = connect_and_learn  # noqa: SLF001 - as above

    def _refused(self, error: Exception, what: str) -> UnreachableError:
        if self._login is not None and self._login.refusal is not None:
            return self._connection.sasl_refusal(self._login.refusal)
        if isinstance(error, FORBIDDEN):
            return self._connection.forbidden(what, error_name(error))
        return self._connection.refused(what, error_name(error))


def _log(began: float, what: str) -> None:
    _LOG.debug("zookeeper: %s (%.0f ms)", what, (time.monotonic() - began) * 1000)


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())
