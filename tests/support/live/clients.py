"""Clients that write all the time, for what a run measures of them."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from kadmin.worlds.kafka.wire.records import producing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.model import TopicPartition
    from kadmin.cluster.servers import Servers

PAUSE_S = 0.05


@contextmanager
def clients_write(servers: Servers, partitions: Iterable[TopicPartition]) -> Iterator[None]:
    """Write records to partitions, one after the other, until the block ends."""
    stop, records = Event(), {each: [b"x"] for each in partitions}

    def write() -> None:
        with producing(servers) as writer:
            while not stop.wait(PAUSE_S):
                writer.write(records)

    thread = Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
