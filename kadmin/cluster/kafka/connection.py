"""Connections to the brokers of a cluster: bootstrap, requests with deadlines, and errors translated once.

Requests and answers are kafka-python's protocol classes, since its admin client drops messages and error codes. Each
version of a request is negotiated with the broker; a field that an older broker does not know is left out silently.
"""

from __future__ import annotations

import math
import shlex
import time
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import kafka
from kafka import errors
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.broker_version_data import BROKER_API_VERSIONS
from kafka.protocol.metadata import FindCoordinatorResponse, MetadataRequest

from kadmin.cluster.ports import ASK_AFTER_S, Listener, listeners_instead
from kadmin.errors import NotAuthorizedError, NotCompletedError, UnknownOutcomeError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

BOOTSTRAP_S = 5.0
"""How long to look for a first broker that answers."""
REQUEST_S = 10.0
"""How long an answer may take."""
ATTEMPT_S = 5.0
"""How long one broker may be silent before a request that any broker can answer goes to another one."""

LAST_REQUEST_S = 0.3
"""How long the answer may take to a request that begins after the command's end: enough to release a lock."""

CLIENT_SETTINGS: dict[str, Any] = {"request_timeout_ms": int(REQUEST_S * 1000), "reconnect_backoff_max_ms": 1_000}
"""Settings of every client of kafka-python."""

_PAUSE_S = 0.05
_BOOTSTRAPS = 3
_MOST_BYTES = 100_000_000
_NOT_CONTROLLER = 41
_LOST = (errors.KafkaConnectionError, errors.KafkaTimeoutError, errors.RequestTimedOutError, errors.Cancelled)
_NAMES = {-1: "UNKNOWN_SERVER_ERROR", 39: "INVALID_REPLICA_ASSIGNMENT"}
"""Kafka's names of error codes that kafka-python names differently."""


class TooLateError(UnreachableError):
    """A request was not sent, because its time had passed before it could be."""


class KafkaConnection:
    """Connections to the brokers of one cluster, opened when a request needs them; close it, or use `with`.

    `until`, in monotonic seconds, ends every request: one that begins later has LAST_REQUEST_S. Raises UnreachableError
    when no bootstrap broker answers, naming what listens there instead of one.
    """

    def __init__(self, bootstrap: Sequence[str], *, bootstrap_s: float | None = None, until: float = math.inf) -> None:
        self.bootstrap = tuple(bootstrap)
        self._until = until
        settings = {"bootstrap_servers": list(bootstrap), **CLIENT_SETTINGS}
        self._net = NetworkSelector(**settings)
        self._manager = KafkaConnectionManager(self._net, receive_message_max_bytes=_MOST_BYTES, **settings)
        self._net.start()
        try:
            self._connect_to_any(BOOTSTRAP_S if bootstrap_s is None else bootstrap_s)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._manager.close()
        self._net.stop()
        self._net.close()

    def any_broker(self, behind: Collection[int] = ()) -> int:
        """Return the id of a broker, one with an open connection first, and one of `behind` last.

        Raises UnreachableError where each failed a moment ago.
        """
        with translated(self.bootstrap, "list the brokers"):
            found = self._least_loaded(behind)
            if found is None:
                raise errors.NodeNotReadyError("each broker that is known failed a moment ago")
            return found

    def add_node(self, node_id: int, host: str, port: int) -> None:
        """Make a server that Metadata does not name, as a controller, one that requests can go to by its id."""
        found = FindCoordinatorResponse(error_code=0, node_id=node_id, host=host, port=port)
        self._manager.cluster.add_coordinator(found, "group", f"node {node_id}", synthesize_node_id=False)

    @property
    def broker_version(self) -> str:
        """The version of Kafka that a broker has by the requests that it serves, `4.1`; `4.3 or later` for the last."""
        found: tuple[int, ...] = self._manager.broker_version
        text = ".".join(map(str, found[:2]))
        return f"{text} or later" if found == max(BROKER_API_VERSIONS) else text

    def admin(self) -> Any:  # noqa: ANN401 - kafka-python ships no types
        """Return kafka-python's admin client on these connections; it ends with them."""
        client = KafkaNetClient(net=self._net, manager=self._manager)
        return kafka.KafkaAdminClient(
            bootstrap_servers=list(self.bootstrap),
            bootstrap_timeout_ms=int(BOOTSTRAP_S * 1000),
            kafka_client=lambda **_: client,
            **CLIENT_SETTINGS,
        )

    def ask(self, what: str, request: Any, *, broker_id: int | None = None, timeout_s: float = REQUEST_S) -> Any:  # noqa: ANN401 - as admin
        """Send a request that changes nothing, to one broker or to any, and return the answer.

        `what` completes "No broker answered in time to ...". A request for any broker goes to another one when the
        first is silent. Raises UnreachableError, NotAuthorizedError or NotCompletedError.
        """
        return self.send(what, request, broker_id=broker_id, timeout_s=timeout_s)()

    def send(self, what: str, request: Any, *, broker_id: int | None, timeout_s: float) -> Callable[[], Any]:  # noqa: ANN401 - as admin
        """Send a request as `ask` does, and return the call that waits for the answer and raises as `ask` does."""
        answer = self._manager.call_soon(self._ask, request, broker_id, self._deadline(timeout_s))

        def wait() -> Any:  # noqa: ANN401 - as admin
            with translated(self.bootstrap, what):
                return self._manager.run(answer)

        return wait

    def ask_controller(self, what: str, request: Any) -> Any:  # noqa: ANN401 - as admin
        """Send a request that only the controller answers, and return the answer; raises as `ask` does.

        In KRaft mode Metadata names any broker as the controller, and that broker forwards the request. A broker that
        died or lost the controllership a moment ago may still be named: then the next one is asked.
        """
        deadline = self._deadline(REQUEST_S)
        while True:
            try:
                answer = self.ask(what, request, broker_id=self._controller_id(what), timeout_s=ATTEMPT_S)
            except UnreachableError:
                if time.monotonic() >= deadline:
                    raise
            else:
                if answer.error_code != _NOT_CONTROLLER or time.monotonic() >= deadline:
                    return answer
            time.sleep(_PAUSE_S)

    def change(
        self,
        what: str,
        request: Any,  # noqa: ANN401 - as admin
        *,
        timeout_s: float,
        broker_id: int | None = None,
        send_by: float = math.inf,
    ) -> Any:  # noqa: ANN401 - as admin
        """Send a request that changes the cluster, once, to one broker or to any, and return the answer.

        `send_by` is in seconds of `uptime_s`. Raises UnreachableError when the request was not sent, TooLateError when
        that is because `send_by` had passed, and UnknownOutcomeError when the answer is missing.
        """
        with translated(self.bootstrap, what):
            try:
                return self._manager.run(self._change, request, broker_id, self._deadline(timeout_s), send_by)
            except _UnansweredError as error:
                raise UnknownOutcomeError(
                    f"The broker that was asked to {what} did not answer in time; the change may still be applied.",
                    cause=_reason(error.__cause__),
                ) from error

    def _deadline(self, timeout_s: float) -> float:
        now = time.monotonic()
        return min(now + timeout_s, max(self._until, now + LAST_REQUEST_S))

    def _connect_to_any(self, patience_s: float) -> None:
        """Bootstrap; what listens at the addresses is asked when that takes long, or fails."""
        what, first_s = "list the brokers", min(patience_s, ASK_AFTER_S)
        try:
            with translated(self.bootstrap, what):
                self._bootstrap(first_s)
        except (UnreachableError, NotCompletedError) as error:
            if (instead := _not_brokers(self.bootstrap)) is not None:
                raise instead from error
            if not isinstance(error, UnreachableError) or first_s == patience_s:
                raise
            with translated(self.bootstrap, what):
                self._bootstrap(patience_s - first_s)

    def _bootstrap(self, patience_s: float) -> None:
        """Learn the brokers' addresses, in a few attempts: kafka-python spends one attempt on one frozen broker."""
        attempts = min(_BOOTSTRAPS, len(self.bootstrap))
        for _ in range(attempts - 1):
            with suppress(errors.KafkaTimeoutError):
                self._manager.bootstrap(patience_s / attempts * 1000)
                return
        self._manager.bootstrap(patience_s / attempts * 1000)

    def _controller_id(self, what: str) -> int:
        found: int = self.ask(what, MetadataRequest(topics=[], allow_auto_topic_creation=False)).controller_id
        if found < 0:
            raise NotCompletedError(f"The brokers at {','.join(self.bootstrap)} know no controller.")
        return found

    async def _ask(self, request: Any, broker_id: int | None, deadline: float) -> Any:  # noqa: ANN401 - as admin
        silent = set[int]()
        while True:
            connection = await self._connect(broker_id, deadline, silent)
            # A request keeps the version that was negotiated first; another broker may have another one.
            sent, limit = copy(request), _attempt(broker_id, deadline)
            try:
                return await connection.send_request(sent, request_timeout_ms=_milliseconds_until(limit))
            except _LOST:
                if broker_id is not None or time.monotonic() >= deadline:
                    raise
                silent.add(connection.node_id)

    async def _change(self, request: Any, broker_id: int | None, deadline: float, send_by: float) -> Any:  # noqa: ANN401 - as admin
        connection = await self._connect(broker_id, deadline, set())
        if uptime_s() >= send_by:
            raise TooLateError("The request was not sent: what it was decided on is too old.")
        try:
            return await connection.send_request(request, request_timeout_ms=_milliseconds_until(deadline))
        except _LOST as error:
            raise _UnansweredError from error

    def _least_loaded(self, avoided: Collection[int]) -> int | None:
        found: int | None = self._manager.least_loaded_node()
        if found not in avoided:
            return found
        known = sorted(each.node_id for each in self._manager.cluster.brokers())
        return next((each for each in known if each not in avoided), found)

    async def _connect(self, broker_id: int | None, deadline: float, silent: set[int]) -> Any:  # noqa: ANN401 - as admin
        """Return a connection on which a request leaves at once, and not at some later time.

        Where any broker will do, those that were `silent` come last; one that proves so is added. A broker that is not
        known joined the cluster since its brokers were listed: they are listed once more.
        """
        listed_again = False
        while True:
            limit = _attempt(broker_id, deadline)
            node_id = self._least_loaded(silent) if broker_id is None else broker_id
            try:
                connection = self._manager.get_connection(node_id, timeout_ms=_milliseconds_until(limit))
                await self._manager.wait_for(connection.init_future, _milliseconds_until(limit))
            except errors.NodeNotReadyError:
                if time.monotonic() >= deadline:
                    raise
            except errors.UnknownBrokerIdError:
                if listed_again:
                    raise
                listed_again = True
                await self._manager.cluster.refresh_metadata(self._manager.least_loaded_node())
            except _LOST:
                if broker_id is not None or time.monotonic() >= deadline:
                    raise
                silent.add(connection.node_id)
            else:
                return connection
            await self._net.sleep(_PAUSE_S)


def uptime_s() -> float:
    """Return seconds that go on while the machine is suspended, as those of a monotonic clock do not."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _not_brokers(bootstrap: Sequence[str]) -> UnreachableError | None:
    """Return the error for addresses where something else listens; None where that is not so, or unknown."""
    found = listeners_instead(bootstrap, Listener.BROKER, Listener.KRAFT_BROKER)
    if not found:
        return None
    return UnreachableError(
        f"No Kafka broker listens at {','.join(bootstrap)}.",
        cause="; ".join(f"{address} is {listener}" for address, listener in found.items()),
        next_command="give the address of a broker's listener, one without TLS and SASL",
    )


@contextmanager
def translated(bootstrap: Sequence[str], what: str) -> Iterator[None]:
    """Raise kadmin's errors for those of kafka-python; `what` completes "The brokers did not ..."."""
    servers = ",".join(bootstrap)
    try:
        yield
    except errors.IncompatibleBrokerVersion as error:
        raise NotServedError(
            f"The brokers at {servers} are too old to {what}.",
            cause=str(error),
            next_command="settings need Kafka 0.11, sizes 1.1 (or a file: --sizes), reassignments 2.4",
        ) from error
    except (errors.AuthorizationError, errors.SaslAuthenticationFailedError) as error:
        raise NotAuthorizedError(f"The brokers at {servers} do not allow to {what}.", cause=_reason(error)) from error
    except (*_LOST, errors.NodeNotReadyError, errors.UnknownBrokerIdError) as error:
        raise UnreachableError(
            f"No Kafka broker at {servers} answered in time to {what}.",
            cause=_reason(error),
            next_command="check the addresses, and that the brokers run",
        ) from error
    except errors.KafkaError as error:
        raise NotCompletedError(f"The brokers at {servers} did not {what}.", cause=_reason(error)) from error


@dataclass(frozen=True, slots=True)
class Right:
    """The right that a request needs: an operation as ACLs name it, on a topic, a transactional id or the cluster."""

    operation: str
    topic: str | None = None
    transactional_id: str | None = None

    def __str__(self) -> str:
        kind, name = self._resource
        return f"the right {self.operation} on {f'{kind} {name}' if name else f'the {kind}'}"

    @property
    def options(self) -> str:
        """The options of kafka-acls that name it."""
        kind, name = self._resource
        return f"--operation {self.operation} --{kind.replace(' ', '-')}{f' {shlex.quote(name)}' if name else ''}"

    @property
    def _resource(self) -> tuple[str, str | None]:
        if self.transactional_id is not None:
            return "transactional id", self.transactional_id
        return ("cluster", None) if self.topic is None else ("topic", self.topic)


def raise_for(code: int, message: str | None, bootstrap: Sequence[str], what: str, right: Right | None = None) -> None:
    """Raise the error of an answer's code; 0 is none. `right` is the one that is missing where that is the error."""
    if not code:
        return
    error = errors.for_code(code)(message or error_name(code))
    if right is not None and isinstance(error, errors.AuthorizationError):
        servers = ",".join(bootstrap)
        raise NotAuthorizedError(
            f"The brokers at {servers} do not allow to {what}.",
            cause=f"{right} is missing",
            next_command=f"kafka-acls --bootstrap-server {servers} --add --allow-principal User:NAME {right.options}",
        )
    with translated(bootstrap, what):
        raise error


def error_name(code: int) -> str:
    """Return Kafka's name of an error code, as NOT_CONTROLLER for 41."""
    return _NAMES.get(code) or getattr(errors.for_code(code), "message", None) or f"error {code}"


class NotServedError(NotCompletedError):
    """The brokers are of a version, or a mode, that does not serve a request."""


class _UnansweredError(Exception):
    """A request left and its answer did not come."""


def _attempt(broker_id: int | None, deadline: float) -> float:
    """Return when to stop waiting for a broker: one that is named has until the deadline."""
    return deadline if broker_id is not None else min(deadline, time.monotonic() + ATTEMPT_S)


def _milliseconds_until(deadline: float) -> float:
    return max(1.0, (deadline - time.monotonic()) * 1000)


def _reason(error: BaseException | None) -> str:
    return str(error) or type(error).__name__
