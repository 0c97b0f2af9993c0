"""The whole way of an operator through a secured cluster, by kadmin's command line."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from support.cli.in_process import command
from support.documents.plans import deletion, document, election, reassignment
from support.live.kraft import make_topic

from kadmin.cluster.kafka.connection import KafkaConnection
from kadmin.cluster.kafka.records import produce
from kadmin.cluster.kafka.servers import Servers
from kadmin.cluster.model import TopicPartition

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli.in_process import Answer
    from support.kafka.secured import Listening


class Client:
    """Runs kadmin on one listener, and keeps all that it told."""

    def __init__(self, cluster: Listening, listener: str, properties: dict[str, str], folder: Path) -> None:
        self.folder = folder
        self.told = ""
        file = cluster.properties(folder.name, **properties)
        self._given = "-b", cluster.bootstrap(listener), "--command-config", file

    def __call__(self, *arguments: str | Path, status: int = 0) -> Answer:
        answer = command(*arguments, *self._given)
        assert answer.status == status, (arguments, answer.out + answer.err)
        self.told += answer.out + answer.err
        return answer


def go_the_whole_way(cluster: Listening, run: Client) -> None:
    """A throttled reassignment that is stopped and resumed, an election, a deletion, and what shows them."""
    with KafkaConnection(Servers(cluster.sandbox.bootstrap)) as connection:
        moved, led, retired = (make_topic(connection, {0: (1, 2), 1: (1, 2)}) for _ in range(3))
    produce(Servers(cluster.sandbox.bootstrap), {TopicPartition(moved, 0): [b"x" * 900_000] * 30})
    wanted = reassignment(moved, {0: [2, 3], 1: [2, 3]}, throttle={"rate": "1MB/s"}, elect="at_end")
    plan = document(run.folder / "plan.yaml", wanted)
    run("diff", plan)
    run("apply", plan, "--yes", "--timeout", "8", status=8)
    assert "resume" in run("status").out
    run("throttle", "set", "--rate", "20MB/s", "--yes")
    run("resume", "--yes")
    run("verify", plan)
    run("apply", document(run.folder / "election.yaml", election(partitions=[{"topic": led, "partition": 0}])), "--yes")
    run("apply", document(run.folder / "deletion.yaml", deletion(retired)), "--yes")
    run("snapshot", "--out", run.folder / "snapshot", "--table", "csv")
    run("report", "--out", run.folder / "page.html")
    run("history", "-o", "json")
    run("doctor")
    rows = csv.DictReader(io.StringIO(run("inspect", "brokers", "-o", "csv").out))
    assert all(int(row["size_bytes"]) > 0 for row in rows)
