"""Writes a command's events to stderr, to the file of --metrics and to the webhook of --notify."""

from __future__ import annotations

import logging
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from kadmin.cli.metrics_file import MetricsFile
from kadmin.cli.options import OutputFormat
from kadmin.cli.terminal import screen_of
from kadmin.cli.webhook import FLUSH_S, Poster
from kadmin.errors import KadminError, UsageError
from kadmin.operations.events import Ended, Note, OperationStarted, Progressed, ServerRequestLogged
from kadmin.report.operations.follow import Follower
from kadmin.report.operations.follow_json import JsonFollower
from kadmin.report.operations.notification import notification

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.cli.output_options import OutputOptions
    from kadmin.cli.webhook import Webhook
    from kadmin.operations.context import Clock
    from kadmin.operations.events import Event, EventSink

BETWEEN_POSTS_S = 30.0
"""Seconds between two posts where only progress was made."""
_LAST_POST_S = 0.5
"""Seconds that posts may take after the command's end has come."""


@contextmanager
def event_sink(output_options: OutputOptions, clock: Clock, cluster: str) -> Iterator[EventSink]:
    """Yield the sink of a command's events, and send it the error that ends the command.

    `cluster` is its address. Raises NotCompletedError where the file of the metrics cannot be
    written.
    """
    with _open_sinks(output_options, clock, cluster) as sink:
        try:
            yield sink
        except BaseException as error:
            with suppress(OSError):  # where stderr is closed, there is still the exit code
                sink(_ended_by(error))
            raise


def _ended_by(error: BaseException) -> Ended:
    if isinstance(error, KadminError):
        cause = "" if error.cause is None else f" {error.cause}"
        return Ended(error.exit_status, f"{error.message}{cause}", error.next_step)
    if isinstance(error, typer.Abort):
        return Ended(UsageError.exit_code, "The question was not answered.")
    return Ended(KadminError.exit_code, type(error).__name__)


@contextmanager
def _open_sinks(output_options: OutputOptions, clock: Clock, cluster: str) -> Iterator[EventSink]:
    stderr = _OnStderr(output_options, clock)
    complain: Callable[[str], None] = lambda text: stderr(Note(text))  # noqa: E731 - in one place
    receivers: list[EventSink] = [stderr]
    if output_options.metrics is not None:
        receivers.append(MetricsFile(output_options.metrics, complain))
    posts = (
        None
        if output_options.webhook is None
        else _Posts(output_options.webhook, clock, cluster, complain)
    )
    if posts is not None:
        receivers.append(posts)

    def tell(event: Event) -> None:
        for receiver in receivers:
            receiver(event)

    try:
        with _requests(output_options, stderr):
            yield tell
    finally:
        if posts is not None:
            posts.close()
        stderr.close()


class _OnStderr:
    """Writes events in the format asked for.

    Posts and requests of other threads may end while one is written.
    """

    def __init__(self, output_options: OutputOptions, clock: Clock) -> None:
        self._lock = threading.RLock()
        self._follower = (
            JsonFollower(_write, clock.timestamp)
            if output_options.log_format is OutputFormat.JSON
            else Follower(_write, screen_of(sys.stderr), time.monotonic)
        )

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._follower(event)

    def close(self) -> None:
        """End the progress line."""
        with self._lock:
            self._follower.close()


class _Posts:
    """Posts events to a webhook, without most of the progress and without requests to servers."""

    def __init__(
        self, webhook: Webhook, clock: Clock, cluster: str, complain: Callable[[str], None]
    ) -> None:
        self._clock = clock
        self._cluster = cluster
        self._opened: OperationStarted | None = None
        self._next_progress = 0.0
        self._poster = Poster(webhook, complain)
        self._poster.start()

    def __call__(self, event: Event) -> None:
        if isinstance(event, OperationStarted):
            self._opened = event
        if isinstance(event, ServerRequestLogged):
            return
        if isinstance(event, Progressed):
            if self._clock.now() < self._next_progress:
                return
            self._next_progress = self._clock.now() + BETWEEN_POSTS_S
        self._poster.post(notification(event, self._clock.timestamp(), self._opened, self._cluster))

    def close(self) -> None:
        """Wait for the last posts, at most some seconds beyond the command's end."""
        self._poster.close(
            min(FLUSH_S, max(0.0, self._clock.until - self._clock.now()) + _LAST_POST_S)
        )


@contextmanager
def _requests(output_options: OutputOptions, tell: EventSink) -> Iterator[None]:
    """With --verbose, send kadmin's log to the sink: the requests to servers.

    Logs of libraries may hold secrets.
    """
    if not output_options.verbose:
        yield
        return
    logger, handler = logging.getLogger("kadmin"), _Handler(tell)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


class _Handler(logging.Handler):
    def __init__(self, tell: EventSink) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Send a log record to the sink as an event."""
        self._tell(ServerRequestLogged(self.format(record)))


def _write(text: str) -> None:
    typer.echo(text, err=True, nl=False)
