"""Posts the events of a run to a webhook.

It does so from a thread of its own: the run never waits for it, nor fails by it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request

from kadmin.cluster.addresses import is_http_url
from kadmin.errors import UsageError
from kadmin.http_client import direct_opener, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable

ANSWER_S = 5.0
"""Seconds that a webhook may take to answer."""
PAUSES_S = (1.0, 3.0)
"""Seconds before the second and the third attempt to post an event."""
FLUSH_S = 5.0
"""Seconds that the end of a command waits for posts, at most."""
MOST_WAITING = 100
"""Events that wait to be posted; the oldest ones go first."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """The address of a webhook, which is a secret: only scheme and host are shown."""

    url: str = field(repr=False)

    @classmethod
    def parse(cls, url: str) -> Webhook:
        """Parse the address of a webhook; raises UsageError, which does not show it."""
        if not is_http_url(url):
            raise UsageError(
                "The address of --notify is no URL of a webhook; it is a secret, and not shown.",
                cause=(
                    "it begins with https:// or http:// and a host, and has no blank, user or "
                    "password"
                ),
                next_step="correct --notify, or the variable KADMIN_NOTIFY",
            )
        return cls(url)

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


class Poster:
    """Posts values as JSON, in their order, a few times each.

    `complain` gets the first failure, and no other.
    """

    def __init__(self, webhook: Webhook, complain: Callable[[str], None]) -> None:
        self._webhook = webhook
        self._complain = complain
        self._waiting: deque[object] = deque(maxlen=MOST_WAITING)
        self._changed = threading.Condition()
        self._closing = False
        self._failed = False
        # A post that is answered with a redirection would become a GET: it counts as refused.
        self._opener = direct_opener()
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)

    def start(self) -> None:
        """Begin to post."""
        self._thread.start()

    def post(self, value: object) -> None:
        """Queue a value to be posted."""
        with self._changed:
            self._waiting.append(value)
            self._changed.notify()

    def close(self, within_s: float) -> None:
        """Wait for the last posts, and give up those that take longer."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(within_s)
        if self._thread.is_alive():
            self._fail(f"it did not answer within {within_s:g} s")

    def _run(self) -> None:
        while (value := self._next()) is not None:
            reason = self._send(value)
            for pause_s in PAUSES_S:
                if reason is None:
                    break
                time.sleep(pause_s)
                reason = self._send(value)
            if reason is not None:
                self._fail(reason)

    def _next(self) -> object | None:
        """Wait for a value; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing)
            return self._waiting.popleft() if self._waiting else None

    def _send(self, value: object) -> str | None:
        """Post a value once; returns why it failed, in words that never hold the address."""
        from kadmin.schema.shapes import to_json

        # Of a name that is no UTF-8 the odd bytes are escaped, as on standard error.
        data = to_json(value, indent=None).encode(errors="backslashreplace")
        headers = {"Content-Type": "application/json; charset=utf-8"}
        request = Request(self._webhook.url, data, headers, method="POST")  # noqa: S310 - http or https
        try:
            with self._opener.open(request, timeout=ANSWER_S):
                return None
        except HTTPError as error:
            error.close()
            return f"it answered {error.code}"
        except (
            OSError,
            HTTPException,
            UnicodeError,
        ) as error:  # the last for a host that no resolver takes
            return reason_of(error, ANSWER_S)

    def _fail(self, reason: str) -> None:
        with self._changed:
            failed_before, self._failed = self._failed, True
        if not failed_before:
            self._complain(
                f"warning: events do not reach {self._webhook}: {reason}; the command continues"
            )
