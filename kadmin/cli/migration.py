"""`kadmin doctor migration` and `kadmin history import`: both sides of a cluster that migrates to KRaft."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kadmin.cli import options
from kadmin.cli.address import BothSides
from kadmin.cli.cluster import on_both_sides
from kadmin.cli.context import connect_kafka, connect_zookeeper, running
from kadmin.cli.output import answer
from kadmin.cli.telling import UNASKED
from kadmin.cli.terminal import screen_of
from kadmin.errors import NotCompletedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.operations.kafka.context import KafkaContext
    from kadmin.operations.zookeeper.backend import ZooKeeperContext


@on_both_sides
def doctor_migration(
    sides: BothSides,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Say whether a cluster can go on from ZooKeeper to KRaft mode.

    It names the phase, compares both sides, and finds what would be lost or get stuck. Exit code 8 for a no-go.
    """
    from kadmin.operations.migration.preflight import examine_migration
    from kadmin.report.migration import migration_answer, migration_text

    with _opened(sides, timeout) as (zookeeper, kafka):
        found = examine_migration(zookeeper, kafka, sides.options)
    answer(output, lambda: migration_text(found, screen_of(sys.stdout).room), lambda: migration_answer(found))
    return 0 if found.go else NotCompletedError.exit_code


@contextmanager
def _opened(sides: BothSides, timeout_s: float | None) -> Iterator[tuple[ZooKeeperContext, KafkaContext]]:
    """Connect to both sides, to read."""
    with (
        running(sides.zookeeper, timeout_s, UNASKED) as (clock, tell),
        connect_zookeeper(sides.zookeeper, clock, tell) as zookeeper,
        connect_kafka(sides.brokers, clock, lambda _: None, reads=True) as kafka,
    ):
        yield zookeeper, kafka
