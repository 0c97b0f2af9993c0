"""`kadmin doctor migration` and `kadmin history import`: both sides of a migration to KRaft."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kadmin.cli import options
from kadmin.cli.cluster import changes_both_sides, on_both_sides
from kadmin.cli.context import running
from kadmin.cli.output import answer
from kadmin.cli.output_options import UNASKED
from kadmin.cli.terminal import screen_of
from kadmin.contexts.address import MigratingCluster
from kadmin.errors import KadminError, NotCompletedError
from kadmin.worlds.open import connect_kafka, connect_zookeeper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.operations.events import Event
    from kadmin.worlds.kafka.context import KafkaContext
    from kadmin.worlds.zookeeper.context import ZooKeeperContext


@on_both_sides
def doctor_migration(
    sides: MigratingCluster,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> int:
    """Check whether a cluster can go on to KRaft mode.

    Shows the phase of the migration, compares both sides, and reports what would be lost or get
    stuck. Exit code 8 for a no-go.
    """
    from kadmin.report.migration import migration_answer, migration_text
    from kadmin.worlds.zookeeper.to_kraft.preflight import examine_migration

    with _opened(sides, timeout, reads=True) as (zookeeper, kafka):
        found = examine_migration(zookeeper, kafka)
    named = partial(sides.named, by_api=not found.phase.led_by_broker)
    found = replace(
        found,
        findings=tuple(replace(each, next_step=named(each.next_step)) for each in found.findings),
    )
    answer(
        output,
        lambda: migration_text(found, screen_of(sys.stdout).width),
        lambda: migration_answer(found),
    )
    return 0 if found.go else NotCompletedError.exit_code


@changes_both_sides
def history_import(
    sides: MigratingCluster,
    *,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Copy operations on record to the active metadata side.

    Copies from ZooKeeper to the brokers once these are in KRaft mode, and back after a rollback of
    the migration. A running operation is paused first, and can be resumed on the other side.
    Operations on both sides are not changed.
    """
    from kadmin.report.migration import imported_answer, imported_text
    from kadmin.worlds.zookeeper.to_kraft.history_import import direction, import_history

    with _opened(sides, timeout, reads=False) as (zookeeper, kafka):
        source, target = direction(zookeeper, kafka)
        found, to = (
            import_history(source, target, lock_timeout),
            "brokers" if target is kafka else "zookeeper",
        )
    answer(output, lambda: imported_text(found, to), lambda: imported_answer(found, to))


def _silent(event: Event) -> None:
    """Drop an event: during a migration it is expected that one side lacks something."""
    del event


@contextmanager
def _opened(
    sides: MigratingCluster, timeout_s: float | None, *, reads: bool
) -> Iterator[tuple[ZooKeeperContext, KafkaContext]]:
    """Connect to both sides; to write, the brokers' record is opened in ZooKeeper mode, too."""
    with (
        running(sides.zookeeper, timeout_s, UNASKED) as (clock, tell),
        connect_zookeeper(sides.zookeeper, clock, tell) as zookeeper,
        connect_kafka(
            sides.brokers, clock, _silent if reads else tell, reads=reads, in_any_mode=not reads
        ) as kafka,
    ):
        try:
            yield zookeeper, kafka
        except KadminError as error:
            error.next_step = sides.named(error.next_step, by_api=False)
            raise
