"""Signals: the number of a query from a real HTTP server, and why a server that lies, hangs or
trickles is no answer, in bounded time and without a secret.
"""

from __future__ import annotations

import base64
import json
import logging
import math
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.live.waiting import wait_until
from support.network.authority import LOOPBACK, Authority
from support.network.prometheus_server import (
    answering,
    answering_json,
    closing,
    hanging,
    prometheus_server,
    raw,
    samples,
    trickling,
    vector,
)

from kadmin.contexts.credentials import SecretCommand, SecretFile, SecretVariable, TlsFiles, User
from kadmin.contexts.model import Signal, SignalUnit
from kadmin.contexts.signals import (
    MOST_BYTES,
    NoValueError,
    SignalReader,
    exposed_credentials,
    largest_sample,
    read_signals,
)
from kadmin.errors import NotAuthorizedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.network.prometheus_server import Answer, PrometheusServer

PATIENCE_S = 30.0
BRIEF_S = 0.3
TRICKLE_S = 2.0
"""Long after the next byte of an answer that trickles."""
SECRET = "hunter2-canary"  # noqa: S105 - a canary
QUERY = 'max by (broker) (request_seconds{quantile="0.99"} > 0)'


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("KADMIN_TEST_SECRET", SECRET)


@pytest.fixture
def server() -> Iterator[PrometheusServer]:
    with prometheus_server() as found:
        yield found


def error_of(url: str, within_s: float = PATIENCE_S, **fields: Any) -> UnreachableError:  # noqa: ANN401 - fields of a signal
    """The error of one reading."""
    return error_of_reader(SignalReader("p99", Signal(url, QUERY, **fields)), within_s)


def error_of_reader(reader: SignalReader, within_s: float = PATIENCE_S) -> UnreachableError:
    with pytest.raises(UnreachableError) as raised:
        reader.read(within_s)
    assert SECRET not in "".join(raised.value.lines()) + repr(raised.value) + repr(vars(reader))
    assert raised.value.message.startswith("The signal p99 has no value from http")
    assert raised.value.next_command
    return raised.value


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (vector("0.05"), 0.05),
        (vector("0.05", "1.5e+02", "-7"), 150.0),
        ({"status": "success", "data": {"resultType": "scalar", "result": [1, "3"]}}, 3.0),
        ({**vector("1"), "warnings": ["a replica is away"], "infos": []}, 1.0),
    ],
)
def test_the_largest_sample_counts(
    server: PrometheusServer, answer: dict[str, Any], value: float
) -> None:
    server.answer = answering_json(200, answer)
    assert SignalReader("p99", Signal(server.origin, QUERY)).read(PATIENCE_S) == value
    assert (server.paths, server.queries) == (["/api/v1/query"], [QUERY])
    assert server.credentials == [None]


def test_a_url_may_have_a_path_before_that_of_the_api(server: PrometheusServer) -> None:
    for end in ("/tenant/prometheus", "/tenant/prometheus/"):
        SignalReader("p99", Signal(f"{server.origin}{end}", QUERY)).read(PATIENCE_S)
    assert set(server.paths) == {"/tenant/prometheus/api/v1/query"}


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (vector(), "the query has no sample now"),
        (vector("1", "NaN"), 'the sample {broker="2"} is NaN'),
        (vector("+Inf"), 'the sample {broker="1"} is +Inf'),
        (
            {"status": "success", "data": {"resultType": "matrix", "result": []}},
            "the query answers a matrix, not a vector or a scalar",
        ),
        (
            {"status": "success", "data": {"resultType": "string", "result": [1, "x"]}},
            "the query answers a string, not a vector or a scalar",
        ),
        (
            {"status": "error", "errorType": "bad_data", "error": "parse error\x1b[2J"},
            "it answered 200: bad_data: parse error\\x1b[2J",
        ),
        (vector("many"), "its answer has no vector and no scalar"),
        ({**vector("1"), "status": "pending"}, "its answer has no vector and no scalar"),
        ([], "its answer has no vector and no scalar"),
        ({"status": "success"}, "its answer has no vector and no scalar"),
        (
            {
                "status": "success",
                "data": {"resultType": "vector", "result": [{"metric": {}, "histogram": [1, {}]}]},
            },
            "its answer has no vector and no scalar",
        ),
        (
            {"status": "success", "data": {"resultType": "scalar", "result": [1, 3]}},
            "its answer has no vector and no scalar",
        ),
    ],
)
def test_an_answer_that_is_no_number_is_no_value(
    server: PrometheusServer, answer: object, cause: str
) -> None:
    server.answer = answering_json(200, answer)
    assert (error_of(server.origin).cause or "").startswith(cause)


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (answering(200, b"<html>"), "its answer is not JSON"),
        (answering(200, b"[" * 500_000), "its answer is not JSON"),
        (answering(200, b"\xff"), "its answer is not JSON"),
        (answering(204, b""), "it answered 204"),
        (answering_json(201, vector("1")), "it answered 201"),
        (answering(500, b"<html>"), "it answered 500"),
        (
            answering_json(422, {"status": "error", "errorType": "execution", "error": "no"}),
            "it answered 422: execution: no",
        ),
        (answering(200, b" " * (MOST_BYTES + 1)), "its answer is larger than 1,000,000 bytes"),
        (closing, "it closed the connection"),
        (answering(200, b"{}", **{"Content-Length": "3"}), "it closed the connection"),
        (
            raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}"),
            "it closed the connection",
        ),
        (raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "its answer is not HTTP"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{"), "its answer is not JSON"),
    ],
)
def test_a_server_that_lies_is_no_answer(
    server: PrometheusServer, answer: Answer, cause: str
) -> None:
    server.answer = answer
    assert error_of(server.origin).cause == cause


def test_a_body_without_an_end_is_not_read_on(server: PrometheusServer) -> None:
    def endless(handler: Any) -> None:  # noqa: ANN401 - the server's handler
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not handler.server.over.is_set():
            handler.wfile.write(b" " * 65_536)

    server.answer = endless
    assert error_of(server.origin).cause == "its answer is larger than 1,000,000 bytes"


@pytest.mark.parametrize(
    "answer",
    [
        hanging,
        trickling(b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n"),
        trickling(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n"),
        trickling(b"HTTP/1.1 500 Oh\r\nContent-Length: 900000\r\n\r\n"),
        trickling(b"HTTP/1.1 200 OK\r\nX-Header: "),
        trickling(b"HTTP/1.1 "),
    ],
    ids=["hangs", "body", "chunk", "error", "header", "status line"],
)
def test_the_deadline_is_that_of_the_whole_answer(server: PrometheusServer, answer: Answer) -> None:
    """Each byte comes long before the deadline, and the last one never.

    Then the server recovers.
    """
    server.answer = answer
    reader = SignalReader("p99", Signal(server.origin, QUERY))
    began = time.monotonic()
    assert error_of_reader(reader, BRIEF_S).cause == f"it did not answer within {BRIEF_S} s"
    assert time.monotonic() - began < PATIENCE_S
    server.answer = samples(0.07)
    server.over.set()

    def recovered() -> bool:
        try:
            return reader.read(PATIENCE_S) == 0.07
        except UnreachableError:
            return False

    wait_until(recovered, PATIENCE_S)


def test_a_request_that_outlasts_its_deadline_gets_no_second_one_beside_it(
    server: PrometheusServer,
) -> None:
    server.answer = trickling(b"HTTP/1.1 200 OK\r\nX-Header: ")
    reader = SignalReader("p99", Signal(server.origin, QUERY))
    still_waiting = "an earlier request has not ended"
    wait_until(lambda: error_of_reader(reader, TRICKLE_S).cause == still_waiting, PATIENCE_S)
    requests = len(server.paths)
    for _ in range(3):
        assert error_of_reader(reader, TRICKLE_S).cause == still_waiting
    assert len(server.paths) == requests


def test_a_deadline_that_has_passed_is_no_answer(server: PrometheusServer) -> None:
    server.answer = hanging
    assert "it did not answer within" in (error_of(server.origin, -1.0).cause or "")


def test_nobody_listens_and_nobody_has_the_name() -> None:
    with prometheus_server() as server:
        url = server.origin
    assert error_of(url).cause == "Connection refused"
    error_of("http://a..b:9090")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_so_that_no_other_host_has_the_secret(
    server: PrometheusServer, status: int
) -> None:
    with prometheus_server() as other:
        server.answer = answering(status, b"", Location=f"{other.origin}/api/v1/query?query=up")
        token = SecretVariable("KADMIN_TEST_SECRET")
        found = error_of(server.origin, bearer_token=token)
        assert found.cause == f"it redirects, which is not followed: {status}"
        assert (len(server.paths), other.paths) == (1, [])


def test_credentials_are_sent_by_reference(server: PrometheusServer, tmp_path: Path) -> None:
    (tmp_path / "password").write_text(f"{SECRET}\n")
    user = User("kadmin", SecretFile(tmp_path / "password"))
    token = SecretVariable("KADMIN_TEST_SECRET")
    for fields in ({"basic_auth": user}, {"bearer_token": token}):
        signal = Signal(server.origin, QUERY, **fields)
        reader = SignalReader("p99", signal)
        assert reader.read(PATIENCE_S) == 0.05
        assert SECRET not in f"{signal!r} {signal} {vars(reader)!r}"
    basic = base64.b64encode(f"kadmin:{SECRET}".encode()).decode()
    assert server.credentials == [f"Basic {basic}", f"Bearer {SECRET}"]


def test_credentials_are_read_again_after_they_were_refused(
    server: PrometheusServer, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("old")
    reader = SignalReader("p99", Signal(server.origin, QUERY, bearer_token=SecretFile(file)))
    reader.read(PATIENCE_S)
    file.write_text(SECRET)
    reader.read(PATIENCE_S)
    server.answer = answering(401, b"")
    refused = error_of_reader(reader)
    assert isinstance(refused, NotAuthorizedError)
    assert refused.cause == "it refuses the request: 401"
    server.answer = samples(1)
    reader.read(PATIENCE_S)
    assert server.credentials == ["Bearer old"] * 3 + [f"Bearer {SECRET}"]


def test_a_server_that_sends_credentials_back_does_not_get_them_shown(
    server: PrometheusServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="kadmin")

    def echo(handler: Any) -> None:  # noqa: ANN401 - the server's handler
        sent = handler.headers["Authorization"]
        value = {"status": "error", "errorType": "x" * 262, "error": f"you sent {sent} {SECRET}"}
        answering_json(400, value)(handler)

    server.answer = echo
    token = SecretVariable("KADMIN_TEST_SECRET")
    for fields in ({"basic_auth": User("kadmin", token)}, {"bearer_token": token}):
        cause = error_of(server.origin, **fields).cause or ""
        assert base64.b64encode(f"kadmin:{SECRET}".encode()).decode()[:6] not in cause
        assert SECRET[:4] not in cause
    assert len(caplog.messages) == 2
    assert SECRET not in caplog.text


@pytest.mark.parametrize("token", [f"{SECRET}\nX-Other: 1", f"{SECRET}é", f"{SECRET}\r"])
def test_a_token_that_no_header_may_have_is_not_shown(
    server: PrometheusServer, tmp_path: Path, token: str
) -> None:
    (tmp_path / "token").write_text(f"{token}.", encoding="utf-8", newline="")
    found = error_of(server.origin, bearer_token=SecretFile(tmp_path / "token"))
    assert isinstance(found, NotAuthorizedError)
    assert found.cause == "bearer_token has a character that is not printable ASCII"
    assert server.paths == []


def test_a_secret_or_a_file_of_tls_that_cannot_be_had_is_named(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    found = error_of("https://127.0.0.1:1", bearer_token=SecretFile(absent))
    assert found.cause == f"A secret cannot be read: file {absent}: No such file or directory"
    waits = SecretCommand(sys.executable, ("-c", "import threading; threading.Event().wait()"))
    found = error_of("https://127.0.0.1:1", 6.0, bearer_token=waits)
    assert "it did not end within 3 s" in (found.cause or "")
    found = error_of("https://127.0.0.1:1", tls=TlsFiles(absent))
    assert found.cause == "The TLS files cannot be used: No such file or directory"


def test_tls_is_trusted_by_the_authority_of_the_signal(tmp_path: Path) -> None:
    authority = Authority.found(tmp_path / "authority")
    ca = TlsFiles(Path(authority.ca))
    with prometheus_server(authority.issue("prometheus", LOOPBACK)) as server:
        assert SignalReader("p99", Signal(server.origin, QUERY, tls=ca)).read(PATIENCE_S) == 0.05
        token = SecretVariable("KADMIN_TEST_SECRET")
        untrusted = error_of(server.origin, bearer_token=token)
        assert "unable to get local issuer certificate" in (untrusted.cause or "")
        assert "tls.ca of the signal" in (untrusted.next_command or "")
        plain = error_of(server.origin.replace("https", "http"))
        assert plain.cause == "it closed the connection"
        assert len(server.credentials) == 1
    with prometheus_server(authority.issue("elsewhere", "DNS:elsewhere.example")) as server:
        assert "IP address mismatch" in (error_of(server.origin, tls=ca).cause or "")
        assert server.paths == []


def test_signals_are_read_one_by_one_and_each_has_its_value_or_its_error(
    server: PrometheusServer,
) -> None:
    signals = {
        "p99": Signal(server.origin, QUERY, SignalUnit.SECONDS),
        "down": Signal("http://127.0.0.1:1", QUERY),
    }
    good, bad = read_signals(signals, time.monotonic() + PATIENCE_S)
    assert (good.name, good.unit, good.result) == ("p99", SignalUnit.SECONDS, 0.05)
    assert (bad.name, bad.unit) == ("down", None)
    assert isinstance(bad.result, UnreachableError)
    assert bad.result.exit_status == 6


def test_credentials_without_tls_are_warned_of() -> None:
    token = SecretVariable("KADMIN_TEST_SECRET")
    signals = {
        "a": Signal("http://p:9090", QUERY),
        "b": Signal("HTTP://p:9090", QUERY, bearer_token=token),
        "c": Signal("https://p:9090", QUERY, basic_auth=User("u", token)),
    }
    assert list(exposed_credentials(signals)) == [
        "signals.b.prometheus has no TLS: the credentials are sent unencrypted; write https://"
    ]


TEXTS = st.sampled_from(["", "1", "-2.5e+06", "NaN", "+Inf", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.sampled_from([0, 1, 2.5, math.nan]) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["status", "data", "metric", "value"]), inner, max_size=3)
    ),
    max_leaves=4,
)
SAMPLES = st.lists(
    st.fixed_dictionaries({"metric": JSON, "value": JSON | st.tuples(JSON, TEXTS)}), max_size=3
)
SHAPED = st.fixed_dictionaries(
    {
        "status": st.just("success"),
        "data": st.fixed_dictionaries(
            {"resultType": st.sampled_from(["vector", "scalar"]) | JSON, "result": JSON | SAMPLES}
        ),
    }
)


@given(JSON | SHAPED)
def test_any_answer_is_a_finite_number_or_no_value(answer: object) -> None:
    with suppress(NoValueError):
        assert math.isfinite(largest_sample(json.loads(json.dumps(answer))))
