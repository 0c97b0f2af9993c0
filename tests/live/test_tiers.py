"""What kadmin says of a tiered topic, beside what was produced, is on disk, and is copied.

One topic is sampled, moved, and deleted in the end: the order of the tests is that of its life.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from support.documents.plans import deletion, document, reassignment
from support.live.kraft import KraftCluster, make_topic
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.inventory.samples import Metric
from kadmin.schema import validate_value
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.log_dirs import ask_log_dirs
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.matrix]

RECORDS, RECORD_BYTES, AT_ONCE = 500, 100_000, 100
PRODUCED = RECORDS * RECORD_BYTES
SEGMENT_BYTES, LOCAL_BYTES = 1_048_576, 4_194_304
CONFIGS = {
    "remote.storage.enable": "true",
    "segment.bytes": str(SEGMENT_BYTES),
    "local.retention.bytes": str(LOCAL_BYTES),
}
RATE = 1_000_000
WAIT_S = 240


@dataclass(frozen=True, slots=True)
class Tiered:
    """A partition [1, 2] of 50 MB, of which about 5 MB are on disk."""

    cluster: KraftCluster
    partition: TopicPartition

    @property
    def topic(self) -> str:
        return self.partition.topic

    def size(self, broker: int = 1) -> int:
        """The bytes of a replica by DescribeLogDirs, 0 where there is none."""
        found = ask_log_dirs(self.cluster.connection, [broker])()
        return found.sizes[broker].get(self.partition, 0)

    def answer(self, shape: str, *arguments: str | Path) -> dict[str, Any]:
        """Return the JSON of a command."""
        given = self.cluster.kadmin(*arguments, "-o", "json")
        assert given.status == 0, given.err
        value: dict[str, Any] = json.loads(given.out)
        assert validate_value(value, f"answers/{shape}") == []
        return value

    def require(self, told: dict[str, Any]) -> None:
        """Compare the figures of an answer with what is on disk, and with what was produced."""
        assert (told["partitions"], told["local_bytes"]) == (1, self.size())
        assert told["total_bytes"] == pytest.approx(PRODUCED, rel=0.1)


@pytest.fixture(scope="module")
def tiered(tier_sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tiered]:
    records = tmp_path_factory.mktemp("records")
    with KafkaConnection(Servers(tier_sandbox.bootstrap)) as connection:
        partition = TopicPartition(make_topic(connection, {0: (1, 2)}, CONFIGS), 0)
        for _ in range(RECORDS // AT_ONCE):
            produce(connection.servers, {partition: [b"x" * RECORD_BYTES] * AT_ONCE})
        found = Tiered(KraftCluster(tier_sandbox, connection, records), partition)
        most = LOCAL_BYTES + SEGMENT_BYTES
        wait_until(lambda: max(found.size(1), found.size(2)) < most, WAIT_S)
        assert PRODUCED - found.size() > 0.85 * PRODUCED, "the rest is in the tier alone"
        yield found


def test_a_snapshot_has_the_local_bytes_and_all_bytes(tiered: Tiered, tmp_path: Path) -> None:
    folder = tmp_path / "inventory"
    told = tiered.answer("snapshot", "snapshot", "--out", folder, "--table", "jsonl")
    tiered.require(told["tiered"])
    assert json.loads((folder / "inventory.json").read_text())["kafka"]["tiered_topics"] == [
        tiered.topic
    ]
    rows = map(json.loads, (folder / "partitions.jsonl").read_text().splitlines())
    (row,) = (row for row in rows if row["topic"] == tiered.topic)
    assert (row["size_bytes"], row["tiered_bytes"]) == (
        told["tiered"]["local_bytes"],
        told["tiered"]["total_bytes"],
    )
    text = tiered.cluster.kadmin("snapshot", "--out", folder).out
    assert "\n1 tiered partition: " in text
    plan = document(tmp_path / "deletion.yaml", deletion(tiered.topic))
    by_snapshot = tiered.answer("diff", "diff", plan, "--inventory", folder)
    tiered.require(by_snapshot["tiered"])


def test_a_sample_has_the_bytes_of_a_record(tiered: Tiered, tmp_path: Path) -> None:
    """As `load build` reckons them: the size over the offsets from start to end."""
    assert tiered.cluster.kadmin("sample", "--out", tmp_path, "--once").status == 0
    (path,) = tmp_path.iterdir()
    rows = [row for row in pq.ParquetFile(path).read().to_pylist() if row["topic"] == tiered.topic]
    (start,) = (row["value"] for row in rows if row["metric"] == Metric.LOG_START_OFFSET)
    (end,) = (row["value"] for row in rows if row["metric"] == Metric.LOG_END_OFFSET)
    sizes = [row["value"] for row in rows if row["metric"] == Metric.LOG_SIZE_BYTES]
    assert (len(sizes), end) == (2, RECORDS)
    assert sum(sizes) / len(sizes) / (end - start) == pytest.approx(RECORD_BYTES, rel=0.1)


def test_a_move_copies_local_bytes_and_every_figure_of_it_is_of_these(
    tiered: Tiered, tmp_path: Path
) -> None:
    plan = document(
        tmp_path / "plan.yaml",
        reassignment(tiered.topic, {0: [1, 3]}, throttle={"rate": f"{RATE}B/s"}),
    )
    size = tiered.size()
    preview = tiered.answer("diff", "diff", plan, "--html", tmp_path / "plan.html")
    tiered.require(preview["tiered"])
    change = preview["reassignment"]
    assert (change["moved_bytes"], preview["throttle"]["makespan_s"]) == (
        size,
        pytest.approx(size / RATE),
    )
    filled = [disk["usable_bytes"] - disk["least_bytes"] for disk in change["disks"]]
    assert filled == [size]
    assert "; the local bytes are copied." in (tmp_path / "plan.html").read_text()
    applied = tiered.cluster.kadmin("apply", plan, "--yes", "-o", "json")
    assert applied.status == 0, applied.err
    events = [json.loads(line) for line in applied.err.splitlines()]
    totals = {each["bytes_total"] for each in events if each["event"] == "progressed"}
    assert totals == {size}
    assert tiered.size(3) == tiered.size(1) == size


def test_a_deletion_tells_what_remote_storage_has(tiered: Tiered, tmp_path: Path) -> None:
    """The last one: the topic is gone afterwards."""
    plan = document(tmp_path / "deletion.yaml", deletion(tiered.topic))
    preview = tiered.answer("diff", "diff", plan)
    tiered.require(preview["tiered"])
    assert preview["lost_bytes"] == 2 * tiered.size()
    assert (
        f"{tiered.topic} has remote storage: its records there are deleted as well"
        in preview["warnings"]
    )
    text = tiered.cluster.kadmin("diff", plan).out
    assert " on disk would be destroyed, all replicas counted" in text
    assert "\n1 tiered partition: " in text
    assert tiered.cluster.kadmin("apply", plan, "--yes").status == 0
