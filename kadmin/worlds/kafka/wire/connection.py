"""Connections to a cluster's brokers: bootstrap, requests with deadlines, errors translated once.

Requests and answers are kafka-python's protocol classes, since its admin client drops messages and
error codes. Each version of a request is negotiated with the broker; a field that an older broker
lacks is left out without an error.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, Self

from kafka import errors
from kafka.net.selector import NetworkSelector
from kafka.protocol.broker_version_data import BROKER_API_VERSIONS
from kafka.protocol.metadata import FindCoordinatorResponse, MetadataRequest
from kafka.protocol.sasl import SaslHandshakeRequest

from kadmin.cluster.ports import ASK_AFTER_S
from kadmin.cluster.servers import PLAIN
from kadmin.errors import NotCompletedError, UnknownOutcomeError, UnreachableError
from kadmin.worlds.kafka.wire.client import (
    REQUEST_S,
    ConnectionManager,
    client_settings,
    logged,
    named,
)
from kadmin.worlds.kafka.wire.errors import (
    LOST,
    TooLateError,
    not_brokers,
    reason_of,
    refusal_of,
    translated,
    unanswered,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from kadmin.cluster.servers import Servers
    from kadmin.errors import NotAuthorizedError

BOOTSTRAP_S = 5.0
"""Seconds to look for a first broker that answers."""
ATTEMPT_S = 5.0
"""Seconds without an answer after which a request for any broker goes to another one."""

LAST_REQUEST_S = 0.3
"""Seconds for the answer to a request that begins after the command's end: enough to release a
lock."""


_PAUSE_S = 0.05
_BOOTSTRAPS = 3
_MOST_BYTES = 100_000_000
_NOT_CONTROLLER = 41


class KafkaConnection:
    """Connections to the brokers of one cluster, opened when a request needs them.

    Close it, or use `with`. `until`, in monotonic seconds, ends every request: one that begins
    later has LAST_REQUEST_S. Raises UnreachableError when no bootstrap broker answers, naming what
    listens there instead of one.
    """

    def __init__(
        self, servers: Servers, *, bootstrap_s: float | None = None, until: float = math.inf
    ) -> None:
        servers.require()
        self.servers = servers
        self._until = until
        settings = client_settings(servers)
        self._net = NetworkSelector(**settings)
        self._manager = ConnectionManager(
            self._net, receive_message_max_bytes=_MOST_BYTES, **settings
        )
        self._net.start()
        try:
            patience_s = BOOTSTRAP_S if bootstrap_s is None else bootstrap_s
            with logged(f"connect to {servers}"):
                self._connect_to_any(max(LAST_REQUEST_S, min(patience_s, until - time.monotonic())))
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
        with translated(self.servers, "list the brokers"):
            found = self._least_loaded(behind)
            if found is None:
                raise errors.NodeNotReadyError("each broker that is known failed a moment ago")
            return found

    def add_node(self, node_id: int, host: str, port: int) -> None:
        """Let requests go by its id to a server that Metadata does not name, as a controller."""
        found = FindCoordinatorResponse(error_code=0, node_id=node_id, host=host, port=port)
        self._manager.cluster.add_coordinator(
            found, "group", f"node {node_id}", synthesize_node_id=False
        )

    @property
    def broker_version(self) -> str:
        """The version of Kafka by the requests that a broker serves, `4.1`, or `4.3 or later`."""
        found: tuple[int, ...] = self._manager.broker_version
        text = ".".join(map(str, found[:2]))
        return f"{text} or later" if found == max(BROKER_API_VERSIONS) else text

    def serves(self, request: Any, version: int = 0) -> bool:  # noqa: ANN401 - kafka-python ships no types
        """Whether the broker that listed the others serves this version; nothing is sent."""
        served = self._manager.broker_version_data.api_versions
        return bool(served.get(request.API_KEY, (0, -1))[1] >= version)

    def ask(
        self,
        what: str,
        request: Any,  # noqa: ANN401 - as serves
        *,
        broker_id: int | None = None,
        timeout_s: float = REQUEST_S,
    ) -> Any:  # noqa: ANN401 - as serves
        """Send a request that changes nothing, to one broker or to any, and return the answer.

        `what` completes "No broker answered in time to ...". A request for any broker goes to
        another one when the first does not answer. Raises UnreachableError, NotAuthorizedError or
        NotCompletedError.
        """
        return self.send(what, request, broker_id=broker_id, timeout_s=timeout_s)()

    def send(
        self,
        what: str,
        request: Any,  # noqa: ANN401 - as serves
        *,
        broker_id: int | None,
        timeout_s: float,
    ) -> Callable[[], Any]:
        """Send a request as `ask` does.

        Return the call that waits for the answer and raises as `ask` does.
        """
        answer = self._manager.call_soon(self._ask, request, broker_id, self._deadline(timeout_s))

        def wait() -> Any:  # noqa: ANN401 - as serves
            with logged(named(request, broker_id)), translated(self.servers, what):
                return self._manager.run(answer)

        return wait

    def ask_controller(self, what: str, request: Any) -> Any:  # noqa: ANN401 - as serves
        """Send a request that only the controller answers, and return the answer.

        Raises as `ask` does. In KRaft mode Metadata names any broker as the controller, and that
        broker forwards the request. A broker that failed or lost the controllership a moment ago
        may still be named: then the next one is asked.
        """
        deadline = self._deadline(REQUEST_S)
        while True:
            try:
                answer = self.ask(
                    what, request, broker_id=self._controller_id(what), timeout_s=ATTEMPT_S
                )
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
        request: Any,  # noqa: ANN401 - as serves
        *,
        timeout_s: float,
        broker_id: int | None = None,
        send_by: float = math.inf,
    ) -> Any:  # noqa: ANN401 - as serves
        """Send a request that changes the cluster, once, to one broker or any; return the answer.

        `send_by` is in seconds of `uptime_s`. Raises UnreachableError when the request was not
        sent, TooLateError when that is because `send_by` had passed, and UnknownOutcomeError when
        the answer is missing.
        """
        with logged(named(request, broker_id)), translated(self.servers, what):
            try:
                return self._manager.run(
                    self._change, request, broker_id, self._deadline(timeout_s), send_by
                )
            except _UnansweredError as error:
                raise UnknownOutcomeError(
                    f"The broker that was asked to {what} did not answer in time; the change may "
                    "still be applied.",
                    cause=reason_of(error.__cause__),
                ) from error

    def _deadline(self, timeout_s: float) -> float:
        now = time.monotonic()
        return min(now + timeout_s, max(self._until, now + LAST_REQUEST_S))

    def _connect_to_any(self, patience_s: float) -> None:
        """Bootstrap.

        Where that takes long or fails, the kind of listener at each address is checked.
        """
        first_s = min(patience_s, ASK_AFTER_S)
        for part_s in (first_s, patience_s - first_s):
            try:
                with translated(self.servers, "list the brokers"):
                    self._bootstrap(part_s)
            except (UnreachableError, NotCompletedError) as error:
                if (reason := self._reason()) is not None:
                    raise reason from error
                if (
                    not isinstance(error, UnreachableError)
                    or part_s == patience_s
                    or part_s != first_s
                ):
                    if isinstance(error.__cause__, errors.KafkaTimeoutError):
                        raise unanswered(self.servers, error) from error
                    raise
            else:
                return

    def _reason(self) -> UnreachableError | None:
        """Return the reason that no bootstrap server takes a connection.

        None where it is unknown.
        """
        found = not_brokers(self.servers)
        if found is None and self.servers.security is not PLAIN:
            found = self._manager.run(self._refusal, ASK_AFTER_S)
        return found

    def _bootstrap(self, patience_s: float) -> None:
        """Get the brokers' addresses, in a few attempts.

        kafka-python spends one attempt on one frozen broker.
        """
        attempts = min(_BOOTSTRAPS, len(self.servers.addresses))
        for _ in range(attempts - 1):
            with suppress(errors.KafkaTimeoutError):
                self._manager.bootstrap(patience_s / attempts * 1000)
                return
        self._manager.bootstrap(patience_s / attempts * 1000)

    async def _refusal(self, patience_s: float) -> NotAuthorizedError | None:
        """Return the reason that a bootstrap server takes no connection.

        kafka-python only logs it.
        """
        node_id, limit_ms = self._manager.cluster.bootstrap_brokers()[0].node_id, patience_s * 1000
        self._manager.reset_backoff(node_id)
        try:
            # The failure is kept from the manager: a bootstrap of its own would have no deadline.
            connection = self._manager.get_connection(
                node_id, limit_ms, refresh_metadata_on_err=False
            )
            await self._manager.wait_for(connection.init_future, limit_ms)
            if not self.servers.security.protocol.has_sasl:
                asked = SaslHandshakeRequest(mechanism="", max_version=1)
                answer = await connection.send_request(asked, request_timeout_ms=limit_ms)
                if answer.mechanisms:
                    said = f"the listener asks for SASL, by {', '.join(answer.mechanisms)}"
                    raise errors.SaslAuthenticationFailedError(said)
        except errors.KafkaError as error:
            return refusal_of(self.servers, error)
        return None

    def _controller_id(self, what: str) -> int:
        found: int = self.ask(
            what, MetadataRequest(topics=[], allow_auto_topic_creation=False)
        ).controller_id
        if found < 0:
            raise NotCompletedError(f"The brokers at {self.servers} know no controller.")
        return found

    async def _ask(self, request: Any, broker_id: int | None, deadline: float) -> Any:  # noqa: ANN401 - as serves
        silent = set[int]()
        while True:
            connection = await self._connect(broker_id, deadline, silent)
            # A request keeps the version that was negotiated first; another broker may have another
            # one.
            sent, limit = copy(request), _attempt(broker_id, deadline)
            try:
                return await connection.send_request(
                    sent, request_timeout_ms=_milliseconds_until(limit)
                )
            except LOST:
                if broker_id is not None or time.monotonic() >= deadline:
                    raise
                silent.add(connection.node_id)

    async def _change(
        self,
        request: Any,  # noqa: ANN401 - as serves
        broker_id: int | None,
        deadline: float,
        send_by: float,
    ) -> Any:  # noqa: ANN401 - as serves
        while True:
            connection = await self._connect(broker_id, deadline, set())
            if uptime_s() >= send_by:
                raise TooLateError(
                    "The request was not sent: the readings that it is based on are too old."
                )
            if not connection._reauth.is_reauthenticating:  # noqa: SLF001 - no public way exists
                break
            # Meanwhile the connection keeps requests, and sends them afterwards, however late that
            # is.
            if time.monotonic() >= deadline:
                raise errors.KafkaTimeoutError("the broker did not answer to SASL")
            await self._net.sleep(_PAUSE_S)
        try:
            return await connection.send_request(
                request, request_timeout_ms=_milliseconds_until(deadline)
            )
        except LOST as error:
            raise _UnansweredError from error

    def _least_loaded(self, avoided: Collection[int]) -> int | None:
        found: int | None = self._manager.least_loaded_node()
        if found not in avoided:
            return found
        broker_ids = sorted(each.node_id for each in self._manager.cluster.brokers())
        return next((each for each in broker_ids if each not in avoided), found)

    async def _connect(self, broker_id: int | None, deadline: float, silent: set[int]) -> Any:  # noqa: ANN401 - as serves
        """Return a connection on which a request is sent at once, and not at some later time.

        Where any broker will do, those in `silent` come last; one that does not answer is added. An
        unknown broker may have joined the cluster since its brokers were listed: they are listed
        once more.
        """
        listed_again = False
        while True:
            limit = _attempt(broker_id, deadline)
            node_id = self._least_loaded(silent) if broker_id is None else broker_id
            try:
                connection = self._manager.get_connection(
                    node_id, timeout_ms=_milliseconds_until(limit)
                )
                await self._manager.wait_for(connection.init_future, _milliseconds_until(limit))
            except errors.NodeNotReadyError:
                if time.monotonic() >= deadline:
                    raise
            except errors.UnknownBrokerIdError:
                if listed_again:
                    raise
                listed_again = True
                await self._manager.cluster.refresh_metadata(self._manager.least_loaded_node())
            except LOST:
                if broker_id is not None or time.monotonic() >= deadline:
                    raise
                silent.add(connection.node_id)
            else:
                return connection
            await self._net.sleep(_PAUSE_S)


def uptime_s() -> float:
    """Return seconds since boot with time in suspension, which a monotonic clock leaves out."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class _UnansweredError(Exception):
    """A request was sent and its answer did not come."""


def _attempt(broker_id: int | None, deadline: float) -> float:
    """Return the time to stop waiting for a broker: one that is named has until the deadline."""
    return deadline if broker_id is not None else min(deadline, time.monotonic() + ATTEMPT_S)


def _milliseconds_until(deadline: float) -> float:
    return max(1.0, (deadline - time.monotonic()) * 1000)
