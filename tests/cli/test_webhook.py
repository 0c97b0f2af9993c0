"""Events are posted to a webhook that may hang, refuse or vanish; real HTTP on the loopback
interface.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from support.live.waiting import wait_until
from support.network.webhook_server import CLOSES, SECRET, webhook_server

from kadmin.cli import webhook
from kadmin.cli.webhook import MOST_WAITING, Poster, Webhook
from kadmin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from support.network.webhook_server import WebhookServer

PATIENCE_S = 30.0


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts follow each other at once, and no proxy of this machine takes them."""
    monkeypatch.setattr(webhook, "PAUSES_S", (0.0, 0.0))
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def post(server: WebhookServer, numbers: Sequence[int], within_s: float = PATIENCE_S) -> list[str]:
    """Post numbered values, and return the complaints."""
    return post_values(server, [{"number": number, "text": "é"} for number in numbers], within_s)


def post_values(
    server: WebhookServer, values: Sequence[Mapping[str, object]], within_s: float = PATIENCE_S
) -> list[str]:
    complaints: list[str] = []
    poster = Poster(Webhook.parse(server.url), complaints.append)
    poster.start()
    for value in values:
        poster.post(value)
    poster.close(within_s)
    return complaints


def numbers(values: list[dict[str, int]]) -> list[int]:
    return [each["number"] for each in values]


def test_posts_arrive_in_their_order() -> None:
    with webhook_server() as server:
        assert post(server, range(20)) == []
        assert server.taken == [{"number": number, "text": "é"} for number in range(20)]


def test_a_name_that_is_no_utf_8_is_posted_and_so_is_what_follows() -> None:
    names = [{"plan": "\udcff.yaml"}, {"plan": "next.yaml"}]
    with webhook_server() as server:
        assert post_values(server, names) == []
        assert server.taken == names


def test_a_post_that_is_refused_is_sent_again_and_counts_once() -> None:
    with webhook_server(500, 503) as server:
        assert post(server, [1, 2]) == []
        assert numbers(server.taken) == [1, 2]
        assert numbers(server.tried) == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (500, "it answered 500"),
        (404, "it answered 404"),
        (302, "it answered 302"),
        (CLOSES, "it closed the connection"),
    ],
)
def test_the_first_post_that_fails_is_told_once_and_the_later_ones_are_still_sent(
    status: int, reason: str
) -> None:
    """A redirection would turn the post into a GET."""
    with webhook_server(*[status] * 6) as server:
        complaints = post(server, [1, 2, 3])
        assert complaints == [
            f"warning: events do not reach {server.origin}: {reason}; the command continues"
        ]
        assert numbers(server.tried) == [1, 1, 1, 2, 2, 2, 3]
        assert numbers(server.taken) == [3]
        assert server.methods == []


def test_a_webhook_that_hangs_costs_the_time_of_the_flush_and_the_oldest_events() -> None:
    with webhook_server() as server:
        server.gate.clear()
        complaints: list[str] = []
        poster = Poster(Webhook.parse(server.url), complaints.append)
        poster.start()
        poster.post({"number": -1})
        wait_until(lambda: bool(server.tried), PATIENCE_S)
        for number in range(3 * MOST_WAITING):
            poster.post({"number": number})
        began = time.monotonic()
        poster.close(0.2)
        assert time.monotonic() - began < webhook.ANSWER_S
        told = (
            f"warning: events do not reach {server.origin}: it did not answer within 0.2 s; the "
            "command continues"
        )
        assert complaints == [told]
        server.gate.set()
        poster.close(PATIENCE_S)
        assert numbers(server.taken) == [-1, *range(2 * MOST_WAITING, 3 * MOST_WAITING)]


def test_a_webhook_that_nobody_serves_is_told_without_its_address() -> None:
    with webhook_server() as server:
        url = server.url
    complaints: list[str] = []
    for each in (url, f"http://a..b/{SECRET}"):
        poster = Poster(Webhook.parse(each), complaints.append)
        poster.start()
        poster.post({"number": 1})
        poster.close(PATIENCE_S)
    refused, no_host = complaints
    assert refused == (
        f"warning: events do not reach {server.origin}: Connection refused; the command continues"
    )
    assert no_host.startswith("warning: events do not reach http://a..b: ")
    assert SECRET not in no_host


@pytest.mark.parametrize(
    "url",
    [
        f"hooks.example.com/{SECRET}",
        f"ftp://hooks.example.com/{SECRET}",
        f"https:///{SECRET}",
        f"https://me:{SECRET}@hooks.example.com/",
        f"https://hooks.example.com:port/{SECRET}",
        f"https://[::1/{SECRET}",
        f"https://hooks.example.com/{SECRET}\n",
        f"https://hooks.example.com/{SECRET} x",
        f"https://hooks.example.com/{SECRET}é",
    ],
)
def test_what_is_no_address_of_a_webhook_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        Webhook.parse(url)
    assert SECRET not in "\n".join(refused.value.lines())


def test_an_address_is_shown_by_scheme_and_host_alone() -> None:
    found = Webhook.parse(f"https://hooks.example.com:8443/services/{SECRET}?k={SECRET}")
    assert str(found) == "https://hooks.example.com:8443"
    assert SECRET not in repr(found)
