"""Elections and deletions through the command line, on live brokers."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaTopicPartition
from kafka.structs import OffsetAndMetadata
from support.documents.plans import UNASKED, deletion, document, election, reassignment
from support.live.cluster import Cluster
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import internal_topics

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.live


def off_preferred(cluster: Cluster, tmp_path: Path) -> str:
    """Make a topic whose leaders are not the preferred ones: a reorder moves no leader on any
    version.
    """
    topic = cluster.create_topic({0: [1, 2], 1: [2, 3]})
    plan = document(tmp_path / "reorder.yaml", reassignment(topic, {0: [2, 1], 1: [3, 2]}))
    assert cluster.kadmin("apply", plan, "--yes").status == 0
    assert [cluster.state(topic).states[TopicPartition(topic, n)].leader for n in (0, 1)] == [1, 2]
    return topic


def test_leaders_that_are_off_are_proposed_elected_and_verified(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = off_preferred(cluster, tmp_path)
    plan = tmp_path / "election.yaml"
    proposed = cluster.kadmin("propose", "election", "--out", str(plan))
    assert proposed.status == 0, proposed.err
    assert topic in plan.read_text()
    assert cluster.kadmin("verify", plan).status == 8
    assert cluster.kadmin("apply", plan, "--yes").status == 0
    assert cluster.kadmin("verify", plan).status == 0
    states = cluster.state(topic).states
    assert [states[TopicPartition(topic, number)].leader for number in (0, 1)] == [2, 3]
    assert cluster.kadmin("apply", plan, "--yes").out.strip() == "nothing to do"


def test_a_topic_is_named_whole_in_an_election(cluster: Cluster, tmp_path: Path) -> None:
    topic = off_preferred(cluster, tmp_path)
    plan = document(tmp_path / "election.yaml", election(topics=[topic]))
    assert cluster.kadmin("apply", plan, "--yes").status == 0
    assert cluster.kadmin("verify", plan).status == 0


def test_an_election_of_an_unknown_partition_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    """Up to 2.1 it would leave a node that blocks every later election."""
    topic = cluster.shared_topic()
    plan = document(
        tmp_path / "election.yaml", election(partitions=[{"topic": topic, "partition": 99}])
    )
    before = cluster.fingerprint()
    assert cluster.kadmin("apply", plan, "--yes").status == 4
    assert cluster.fingerprint() == before


def test_f33_a_topic_is_deleted_and_seen_gone_and_a_second_time_is_no_news(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2], 1: [2, 3]})
    plan = document(tmp_path / "deletion.yaml", cluster.deletion(topic))
    assert cluster.kadmin("verify", plan).status == 8
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert cluster.get(f"/brokers/topics/{topic}") is None
    assert cluster.get(f"/config/topics/{topic}") is None
    assert cluster.get(f"/admin/delete_topics/{topic}") is None
    assert cluster.kadmin("verify", plan).status == 0
    again = cluster.kadmin("apply", plan, "--yes")
    assert (again.status, again.out.strip()) == (0, "nothing to do"), "our own history deleted it"


@pytest.mark.parametrize(
    ("topic", "status"), [("no-such-topic", 4), ("__audit-x", 3)], ids=["F33-absent", "protected"]
)
def test_a_deletion_that_a_guard_stops_changes_nothing(
    cluster: Cluster, tmp_path: Path, topic: str, status: int
) -> None:
    if topic.startswith("__"):
        topic = cluster.create_topic({0: [1]}, prefix="__audit")
    before = cluster.fingerprint()
    refused = cluster.kadmin(
        "apply", document(tmp_path / "deletion.yaml", cluster.deletion(topic)), "--yes"
    )
    assert refused.status == status, refused.err
    assert cluster.fingerprint() == before


def test_f33_a_deletion_in_mid_move_is_refused_and_cannot_be_waived(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    with cluster.stuck_reassignment(topic, 0):
        refused = cluster.kadmin(
            "apply", document(tmp_path / "deletion.yaml", cluster.deletion(topic)), "--yes"
        )
        assert refused.status == 5, refused.err
        assert cluster.get(f"/admin/delete_topics/{topic}") is None


def test_old_consumers_guard_a_topic_until_waived(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1]})
    with cluster.committed_offset("billing", topic):
        refused = cluster.kadmin(
            "apply", document(tmp_path / "d.yaml", cluster.deletion(topic)), "--yes"
        )
        assert refused.status == 5
        assert "billing" in refused.err
        waived = document(
            tmp_path / "waived.yaml", cluster.deletion(topic, allow={"active_consumers": True})
        )
        assert cluster.kadmin("apply", waived, "--yes").status == 0


@contextmanager
def consumer(cluster: Cluster, group: str) -> Iterator[KafkaConsumer]:
    found = KafkaConsumer(
        bootstrap_servers=cluster.bootstrap, group_id=group, enable_auto_commit=False
    )
    yield found
    found.close(autocommit=False)


def test_offsets_and_members_in_kafka_guard_a_topic_until_waived(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic, other = cluster.create_topic({0: [1]}), cluster.shared_topic()
    group = f"of-{topic}"
    with (
        consumer(cluster, f"{group}-offsets") as away,
        consumer(cluster, f"{group}-members") as here,
    ):
        for each in (topic, other):
            away.assign([KafkaTopicPartition(each, 0)])
            away.commit({KafkaTopicPartition(each, 0): OffsetAndMetadata(0, "", -1)})
        here.subscribe([topic])
        wait_until(lambda: here.poll(timeout_ms=200) is not None and bool(here.assignment()))
        refused = cluster.kadmin(
            "apply", document(tmp_path / "d.yaml", cluster.deletion(topic)), "--yes"
        )
        assert refused.status == 5, refused.err
        assert f"{group}-members, {group}-offsets" in refused.err
        taken = cluster.kadmin("snapshot", "--out", tmp_path / "inventory")
        assert taken.status == 0, taken.err
    facts = json.loads((tmp_path / "inventory" / "inventory.json").read_text())["kafka"]
    assert facts["consumers"][topic] == [f"{group}-members", f"{group}-offsets"]
    assert f"{group}-offsets" in facts["consumers"][other]
    knows = cluster.version >= (0, 11)
    if knows:
        with KafkaConnection(Servers(cluster.bootstrap)) as connection:
            assert internal_topics(connection, ["__consumer_offsets", topic]) == {
                "__consumer_offsets": True,
                topic: False,
            }
    assert facts.get("delete_topic_enable") == (True if knows else None)
    assert facts.get("auto_create_topics_enable") == (False if knows else None)
    waivers = {"active_consumers": True}
    done = cluster.kadmin(
        "apply", document(tmp_path / "w1.yaml", deletion(topic, allow=waivers)), "--yes"
    )
    if not knows:
        assert done.status == 6, done.err
        waivers |= UNASKED
        done = cluster.kadmin(
            "apply", document(tmp_path / "w2.yaml", cluster.deletion(topic, allow=waivers)), "--yes"
        )
    assert done.status == 0, done.err
    assert ("delete.topic.enable of broker 1 is not known" in done.err) != knows
    assert cluster.get(f"/brokers/topics/{topic}") is None, (
        "asking about a topic does not make it again"
    )


@pytest.fixture
def deaf_to_deletions(tmp_path: Path) -> Iterator[Cluster]:
    """A broker that deletes nothing, and creates whatever it is asked for."""
    switches = {"delete.topic.enable": "false", "auto.create.topics.enable": "true"}
    sandbox = Sandbox.up(
        SandboxSpec(tmp_path / "sandbox", brokers=1, chroot="/kafka", broker_config=switches)
    )
    found = Cluster(sandbox.connect_string, sandbox.bootstrap, sandbox.spec.version, sandbox)
    yield found
    found.close()
    sandbox.down()


def test_f33_brokers_that_delete_nothing_are_asked_before_anything_is_written(
    deaf_to_deletions: Cluster, tmp_path: Path
) -> None:
    cluster = deaf_to_deletions
    topic = cluster.create_topic({0: [1]})
    before = cluster.fingerprint()
    refused = cluster.kadmin(
        "apply", document(tmp_path / "d.yaml", cluster.deletion(topic)), "--yes"
    )
    assert refused.status == 8, refused.err
    assert "delete.topic.enable=false" in refused.err
    assert cluster.fingerprint() == before
    with cluster.committed_offset("billing", topic):
        waivers = {"active_consumers": True, "deletion_disabled": True}
        waived = document(tmp_path / "w.yaml", cluster.deletion(topic, allow=waivers))
        previewed = cluster.kadmin("apply", waived, "--dry-run")
    assert previewed.status == 0, previewed.err
    assert "auto.create.topics.enable=true" in previewed.err
    assert "would be destroyed" in previewed.err, "the brokers say how many bytes"
