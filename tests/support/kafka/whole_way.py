"""The whole way of an operator through a secured cluster, by kadmin's command line."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from support.cli.command_line import CommandLine
from support.documents.plans import deletion, document, election, reassignment
from support.live.kraft import make_topic

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from pathlib import Path

    from support.kafka.secured import Listening


class Client(CommandLine):
    """A client of one listener."""

    def __init__(
        self, cluster: Listening, listener: str, properties: dict[str, str], folder: Path
    ) -> None:
        file = cluster.properties(folder.name, **properties)
        super().__init__(folder, ("-b", cluster.bootstrap(listener), "--command-config", file))


def go_the_whole_way(cluster: Listening, run: Client) -> None:
    """A throttled reassignment that is stopped and resumed, an election, a deletion, and what shows
    them.
    """
    with KafkaConnection(Servers(cluster.sandbox.bootstrap)) as connection:
        moved, led, retired = (make_topic(connection, {0: (1, 2), 1: (1, 2)}) for _ in range(3))
    produce(Servers(cluster.sandbox.bootstrap), {TopicPartition(moved, 0): [b"x" * 900_000] * 30})
    wanted = reassignment(
        moved, {0: [2, 3], 1: [2, 3]}, throttle={"rate": "500KB/s"}, elect="at_end"
    )
    plan = document(run.folder / "plan.yaml", wanted)
    run.stop_and_resume(plan)
    run(
        "apply",
        document(
            run.folder / "election.yaml", election(partitions=[{"topic": led, "partition": 0}])
        ),
        "--yes",
    )
    run("apply", document(run.folder / "deletion.yaml", deletion(retired)), "--yes")
    run("snapshot", "--out", run.folder / "snapshot", "--table", "csv")
    run("report", "--out", run.folder / "page.html")
    run("history", "-o", "json")
    run("doctor")
    rows = csv.DictReader(io.StringIO(run("inspect", "brokers", "-o", "csv").out))
    assert all(int(row["size_bytes"]) > 0 for row in rows)
