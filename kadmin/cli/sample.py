"""`kadmin sample`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import running
from kadmin.cli.inputs import read_duration
from kadmin.cli.output import answer
from kadmin.cli.output_options import UNASKED
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import UsageError
from kadmin.worlds.open import connect_brokers

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.inventory.samples import LoadSample
    from kadmin.operations.context import Clock
    from kadmin.operations.events import Event, EventSink

_EVERY, _FOR, _HOUR = "5m", "7d", "1h"
HOUR_S = 3600
_LONGEST_S = 60.0
"""Seconds that one of many samples may take."""


OutOption: TypeAlias = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="The folder of samples, a Parquet file each.")
]
EveryOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="TIME",
        help="Interval, aligned to the clock: 5m is :00, :05, :10.",
        show_default=_EVERY,
    ),
]
LastingOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--for", metavar="TIME", help="Stop after this time.", show_default=_FOR),
]
HourOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--hour",
        metavar="TIME",
        help="Duration of an hour of the samples, as in sandbox traffic.",
        show_default=_HOUR,
    ),
]
OnceOption: TypeAlias = Annotated[
    bool, typer.Option("--once", help="Take one sample and exit, for a cron job.")
]


@on_cluster
def sample(
    cluster: ClusterAddress,
    *,
    out: OutOption,
    every: EveryOption = None,
    lasting: LastingOption = None,
    hour: HourOption = None,
    once: OnceOption = False,
    timeout: options.SampleTimeout = None,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Sample a cluster's load: offsets, log sizes.

    A sample has the end offset of each partition, the size of each replica on disk, and the
    committed offsets of consumer groups. It lacks the rows of brokers that do not answer. When the
    command is started again, it continues in the same folder; existing files are never changed.
    """
    from kadmin.inventory.sample_files import write_sample
    from kadmin.operations.reading.sampling import Schedule, sample_once, sample_repeatedly
    from kadmin.report.cluster.snapshots import sampled_answer, sampled_text

    if once and (every or lasting or hour):
        raise UsageError(
            "--once takes one sample.", next_step="leave out --once, or --every, --for and --hour"
        )
    schedule = Schedule(
        read_duration("--every", every or _EVERY), read_duration("--for", lasting or _FOR)
    )
    with running(
        cluster, options.READ_TIMEOUT_S if once and timeout is None else timeout, UNASKED
    ) as (clock, tell):
        take = _taker(cluster, clock, tell, HOUR_S / read_duration("--hour", hour or _HOUR))
        if once:
            done = sample_once(take, lambda taken: write_sample(out, taken), tell)
        else:
            done = sample_repeatedly(
                take, lambda taken: write_sample(out, taken), clock, tell, schedule
            )
    answer(output, lambda: sampled_text(done), lambda: sampled_answer(done))


def _taker(
    cluster: ClusterAddress, clock: Clock, tell: EventSink, times: float
) -> Callable[[], LoadSample]:
    """Return the function that connects and takes a sample.

    Each event of the connections is sent once. The samples' timestamps advance `times` as fast as
    the clock.
    """
    from kadmin.operations.context import Clock
    from kadmin.worlds.kafka.sampling import take_sample

    events: list[Event] = []
    begun = clock.utc()

    def tell_once(event: Event) -> None:
        if event not in events:
            events.append(event)
            tell(event)

    def take() -> LoadSample:
        until = Clock(min(clock.until, clock.now() + _LONGEST_S))
        with connect_brokers(cluster, until, tell_once) as connection:
            return take_sample(connection, clock).stretched(begun, times)

    return take
