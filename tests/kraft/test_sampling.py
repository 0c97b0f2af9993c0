"""Samples of a live cluster in KRaft mode."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import kafka
import pyarrow.parquet as pq
import pytest
from support.kafka.admin import admin_client
from support.kafka.processes import KadminProcess
from support.live.kraft import KraftCluster, make_topic, wait_assigned
from support.live.sampling import frozen_broker, read, sample, sampled_traffic
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.inventory.samples import Metric
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = [pytest.mark.live, pytest.mark.eras]

WAIT_S = 60


@contextmanager
def closing_at_end(process: KadminProcess) -> Iterator[KadminProcess]:
    """Yield a process that does not outlive the test."""
    try:
        yield process
    finally:
        process.end()


@pytest.fixture
def plain(kraft: Sandbox, connection: KafkaConnection) -> KraftCluster:
    """The cluster in KRaft mode; no record is needed."""
    return KraftCluster(kraft, connection)


def test_each_partition_grows_as_is_produced_and_consumed(
    plain: KraftCluster, tmp_path: Path
) -> None:
    topics = [
        make_topic(plain.connection, {0: (1, 2), 1: (2, 3)}),
        make_topic(plain.connection, {0: (3, 4), 1: (4, 1), 2: (1, 3)}),
    ]
    sampled_traffic(plain.sandbox, plain.options, topics, tmp_path / "samples")


def test_a_broker_that_does_not_answer_costs_its_rows_only(
    plain: KraftCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = make_topic(plain.connection, {0: (1, 2), 1: (3, 4)})
    last, series = frozen_broker(plain.sandbox, plain.options, tmp_path, monkeypatch)
    wait_until(lambda: 3 in read_cluster(plain.connection, ()).brokers, WAIT_S)
    wait_assigned(
        plain.connection, {TopicPartition(topic, 0): (1, 2), TopicPartition(topic, 1): (3, 4)}
    )
    assert all("roker 3" in each for each in last["unavailable"])
    assert len(last["unavailable"]) == 4
    assert {broker for _, _, _, broker, _ in series} == {None, 1, 2, 4}
    ends = {
        partition
        for metric, name, partition, _, _ in series
        if (metric, name) == (Metric.LOG_END_OFFSET, topic)
    }
    assert ends == {0}


def test_a_run_that_is_killed_or_interrupted_leaves_whole_samples_and_is_continued(
    plain: KraftCluster, tmp_path: Path
) -> None:
    make_topic(plain.connection, {0: (1, 2)})
    folder = tmp_path / "samples"

    def files() -> set[Path]:
        return set(folder.glob("samples-*"))

    def begin() -> KadminProcess:
        return KadminProcess(plain.sandbox.bootstrap, "sample", "--out", folder, "--every", "1s")

    with closing_at_end(begin()) as killed:
        wait_until(lambda: len(files()) >= 2 or killed.ended, WAIT_S)
        assert not killed.ended, killed.told
        killed.kill()
    before = {path: path.read_bytes() for path in files()}
    with closing_at_end(begin()) as continued:
        wait_until(lambda: len(files()) >= len(before) + 2 or continued.ended, WAIT_S)
        assert not continued.ended, continued.told
        os.kill(continued.pid, signal.SIGINT)
        answer = continued.answer()
    assert answer.status == 130, answer.err
    assert "of this run" in answer.err
    assert {path: path.read_bytes() for path in before} == before
    assert all(pq.ParquetFile(path).metadata.num_rows for path in files())


def test_a_start_offset_is_that_of_the_first_record_that_is_kept(
    plain: KraftCluster, tmp_path: Path
) -> None:
    topic = make_topic(plain.connection, {0: (1, 2)})
    produce(plain.connection.servers, {TopicPartition(topic, 0): [b"x"] * 10})
    admin_client(plain.connection).delete_records({kafka.TopicPartition(topic, 0): 4})
    sample(plain.options, tmp_path, "--once")
    assert read(tmp_path)[Metric.LOG_START_OFFSET, topic, 0, None, None] == [4]


def test_a_folder_holds_samples_of_one_cluster(plain: KraftCluster, tmp_path: Path) -> None:
    sample(plain.options, tmp_path, "--once")
    (path,) = tmp_path.iterdir()
    table = pq.ParquetFile(path).read().replace_schema_metadata({"kadmin.cluster_id": "another"})
    pq.write_table(table, path)
    refused = plain.kadmin("sample", "--out", tmp_path, "--once")
    assert refused.status == 4
    assert "samples of cluster another" in refused.err
