"""Reads the signals of a context: numbers that a metrics system answers now."""

from __future__ import annotations

import base64
import json
import logging
import math
import ssl
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException, IncompleteRead
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request

from kadmin.cluster.names import escaped
from kadmin.contexts.secrets import read_secret, read_tls
from kadmin.errors import InvalidInputError, NotAuthorizedError, UnreachableError
from kadmin.http_client import REDIRECTS, direct_opener, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from urllib.request import OpenerDirector

    from kadmin.contexts.model import Signal, SignalUnit
    from kadmin.next_step import NextStep

ANSWER_S = 10.0
"""Seconds that `read_signals` waits for a signal."""
MOST_BYTES = 1_000_000
"""Bytes of an answer that are read, at most."""
_CHUNK_BYTES = 65_536
_SHORTEST_S = 0.001
_REFUSED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
_CHECK_URL = "check the signal's URL, and that Prometheus runs there"
_TRY_QUERY = "try the signal's query in Prometheus"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SignalReading:
    """The present value of a signal in its unit, or the error in its place."""

    name: str
    unit: SignalUnit | None
    result: float | UnreachableError


def read_signals(signals: Mapping[str, Signal], until: float) -> Iterator[SignalReading]:
    """Read each signal once, in their order.

    `until` is the end of all on the monotonic clock.
    """
    for name, signal in signals.items():
        within_s = min(ANSWER_S, until - time.monotonic())
        result: float | UnreachableError
        try:
            result = SignalReader(name, signal).read(within_s)
        except UnreachableError as error:
            result = error
        yield SignalReading(name, signal.unit, result)


def exposed_credentials(signals: Mapping[str, Signal]) -> Iterator[str]:
    """Yield a warning for each signal whose credentials are sent without TLS."""
    for name, signal in signals.items():
        has_credentials = signal.basic_auth is not None or signal.bearer_token is not None
        if has_credentials and urlsplit(signal.prometheus).scheme == "http":
            yield (
                f"signals.{name}.prometheus has no TLS: the credentials are sent unencrypted; "
                "write https://"
            )


class SignalReader:
    """Reads one signal again and again.

    Secrets and TLS files are read before the first request, and again after a failure: a token
    that has ended is replaced.
    """

    def __init__(self, name: str, signal: Signal) -> None:
        self._name = name
        self._signal = signal
        self._access: _Access | None = None
        self._answer: Future[float] | None = None

    def read(self, within_s: float) -> float:
        """Return the largest sample of the signal's query now, in the signal's unit.

        Raises UnreachableError, and no other error, within `within_s` whatever the server does. It
        has no secret.
        """
        began = time.monotonic()
        try:
            value = self._wait(max(within_s, _SHORTEST_S))
        except NoValueError as error:
            self._log(began, error.cause)
            raise error.kind(
                f"The signal {self._name} has no value from {self._signal.prometheus}.",
                cause=error.cause,
                next_step=error.next_step,
            ) from None
        self._log(began, f"{value:g}")
        return value

    def _log(self, began: float, result: str) -> None:
        took_ms = (time.monotonic() - began) * 1000
        _LOG.debug("prometheus: signal %s: %s (%.0f ms)", self._name, result, took_ms)

    def _wait(self, within_s: float) -> float:
        # Resolving a name has no timeout, and headers that trickle outlast that of a socket: a
        # thread of its own waits for both. One that still waits gets no second one beside it.
        if self._answer is not None and not self._answer.done():
            raise NoValueError("an earlier request has not ended", _CHECK_URL)
        self._answer = answer = Future[float]()
        Thread(target=self._run, args=(answer, within_s), name="signal", daemon=True).start()
        try:
            return answer.result(within_s)
        except TimeoutError as error:
            raise NoValueError(reason_of(error, within_s), _CHECK_URL) from None

    def _run(self, answer: Future[float], within_s: float) -> None:
        try:
            answer.set_result(self._ask(within_s))
        except Exception as error:  # noqa: BLE001 - it is raised in `read`
            answer.set_exception(error)

    def _ask(self, within_s: float) -> float:
        # Secrets have half of the time, so that their own error comes before that of the deadline.
        access, self._access = self._access or _open(self._signal, within_s / 2), None
        query = urlencode({"query": self._signal.query})
        url = f"{self._signal.prometheus.rstrip('/')}/api/v1/query?{query}"
        request = Request(url, headers=access.headers)  # noqa: S310 - http or https
        try:
            value = _value(*_get(access.opener, request, within_s))
        except NoValueError as error:
            raise error.without(access.secrets) from None
        self._access = access
        return value


class NoValueError(Exception):
    """The cause why there is no value, the next step, and the error that `read` raises.

    The cause may quote the server.
    """

    def __init__(
        self,
        cause: str,
        next_step: NextStep | str | None,
        kind: type[UnreachableError] = UnreachableError,
    ) -> None:
        super().__init__(cause)
        self.cause = escaped(cause)
        self.next_step = next_step
        self.kind = kind

    def without(self, secrets: tuple[str, ...]) -> NoValueError:
        """Return the same error without secrets that a server has sent back."""
        cause = str(self)
        for secret in secrets:
            cause = cause.replace(secret, "***")
        return NoValueError(cause, self.next_step, self.kind)


@dataclass(frozen=True, slots=True)
class _Access:
    """The opener with its TLS, the headers with the credentials, and the secrets in them."""

    opener: OpenerDirector
    headers: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)


def _open(signal: Signal, within_s: float) -> _Access:
    try:
        opener = direct_opener(
            None if signal.tls is None else read_tls(signal.tls, within_s).context()
        )
        if signal.bearer_token is not None:
            token = read_secret(signal.bearer_token, within_s)
            return _Access(opener, {"Authorization": f"Bearer {_legal(token)}"}, (token,))
        if signal.basic_auth is not None:
            password = read_secret(signal.basic_auth.password, within_s)
            pair = f"{signal.basic_auth.username}:{password}"
            encoded = base64.b64encode(pair.encode(errors="surrogateescape")).decode()
            return _Access(opener, {"Authorization": f"Basic {encoded}"}, (encoded, password))
    except (InvalidInputError, NotAuthorizedError) as error:
        cause = f"{error.message.rstrip('.')}: {error.cause}"
        next_step = error.next_step or "correct tls of the signal"
        raise NoValueError(cause, next_step, NotAuthorizedError) from None
    return _Access(opener, {}, ())


def _legal(token: str) -> str:
    """Return a token that a header may have; an error of the HTTP client would show it."""
    if not token.isascii() or not token.isprintable():
        raise NoValueError(
            "bearer_token has a character that is not printable ASCII",
            "write the token alone, in one line",
            NotAuthorizedError,
        )
    return token


def _get(opener: OpenerDirector, request: Request, within_s: float) -> tuple[int, bytes]:
    """Return status and body of an answer; a body is not read on beyond MOST_BYTES."""
    until = time.monotonic() + within_s
    try:
        try:
            answer = opener.open(request, timeout=within_s)
        except HTTPError as error:
            answer = error
        with answer:
            body = bytearray()
            while len(body) <= MOST_BYTES and (chunk := answer.read1(_CHUNK_BYTES)):
                body += chunk
                if time.monotonic() > until:
                    raise TimeoutError
            if len(body) <= MOST_BYTES and answer.length:
                raise ConnectionResetError
            return answer.status, bytes(body)
    except IncompleteRead:
        raise NoValueError("it closed the connection", _CHECK_URL) from None
    except (OSError, UnicodeError) as error:
        untrusted = isinstance(getattr(error, "reason", None), ssl.SSLCertVerificationError)
        next_step = "name the authority of its certificate in tls.ca of the signal"
        raise NoValueError(
            reason_of(error, within_s), next_step if untrusted else _CHECK_URL
        ) from None
    except HTTPException:
        raise NoValueError("its answer is not HTTP", _CHECK_URL) from None


def _value(status: int, body: bytes) -> float:
    """Return the largest sample of an answer."""
    if status in REDIRECTS:
        raise NoValueError(
            f"it redirects, which is not followed: {status}", "write the URL that it redirects to"
        )
    if status in _REFUSED:
        raise NoValueError(
            f"it refuses the request: {status}",
            "correct basic_auth or bearer_token of the signal, or write one of them",
            NotAuthorizedError,
        )
    if len(body) > MOST_BYTES:
        raise NoValueError(
            f"its answer is larger than {MOST_BYTES:,} bytes",
            "let the query answer fewer samples, as max(...) does",
        )
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        cause = f"it answered {status}" if status != HTTPStatus.OK else "its answer is not JSON"
        raise NoValueError(cause, _CHECK_URL) from None
    failed = isinstance(answer, dict) and answer.get("status") == "error"
    if failed or status != HTTPStatus.OK:
        said = f": {answer.get('errorType')}: {answer.get('error')}" if failed else ""
        raise NoValueError(f"it answered {status}{said}", _TRY_QUERY)
    return largest_sample(answer)


def largest_sample(answer: Any) -> float:  # noqa: ANN401 - any JSON
    """Return the largest sample of a successful instant query; raises NoValueError."""
    try:
        samples = [(labels, text, float(text)) for labels, text in _samples(answer)]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise NoValueError("its answer has no vector and no scalar", _CHECK_URL) from None
    for labels, text, number in samples:
        if not math.isfinite(number):
            raise NoValueError(
                f"the sample {labels} is {text}",
                "leave such samples out of the query: (...) >= 0 drops NaN",
            )
    if not samples:
        raise NoValueError("the query has no sample now", _TRY_QUERY)
    return max(number for _, _, number in samples)


def _samples(answer: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Return labels and number of each sample of a vector or a scalar."""
    if answer["status"] != "success":
        raise ValueError
    kind, result = answer["data"]["resultType"], answer["data"]["result"]
    if kind == "scalar":
        return [("{}", _text(result))]
    if kind != "vector":
        raise NoValueError(
            f"the query answers a {kind}, not a vector or a scalar",
            "write an instant query: without a range such as [5m] at its end",
        )
    return [(_labels(each["metric"]), _text(each["value"])) for each in result]


def _labels(metric: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in metric.items()) + "}"


def _text(sample: Any) -> str:  # noqa: ANN401 - any JSON
    """Return the number of a sample as its text, which is beside its time."""
    _, text = sample
    if not isinstance(sample, list) or not isinstance(text, str):
        raise TypeError
    return text
