"""Deletions and recreations through the command line, on a live cluster in KRaft mode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import deletion, document
from support.kafka.group_members import join
from support.live.kraft import KraftCluster, make_topic, wait_assigned
from support.live.records import consume_all

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.deletions import delete_topics
from kadmin.worlds.kafka.wire.groups import describe_groups
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.records import produce
from kadmin.worlds.kafka.wire.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kadmin.cluster.model import Replicas
    from kadmin.worlds.kafka.wire.refusals import Refusal

ASSIGNMENT = {0: (1, 2), 1: (2, 3), 2: (4, 3)}


@pytest.mark.live
def test_a_topic_is_deleted_and_comes_back_empty_with_its_assignment_and_configs(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    connection, configs = cluster.connection, {"retention.ms": "3600000"}
    topic = make_topic(connection, ASSIGNMENT, configs)
    produce(connection.servers, {TopicPartition(topic, 0): [b"lost"]})
    plan = document(tmp_path / "deletion.yaml", deletion(topic))
    assert cluster.kadmin("verify", plan).status == 8
    applied = cluster.kadmin("apply", plan, "--yes", "-o", "json")
    assert applied.status == 0, applied.err
    operation = json.loads(applied.out)["operation_id"]
    assert topic not in read_metadata(connection).topics
    assert cluster.kadmin("verify", plan).status == 0
    again = cluster.kadmin("apply", plan, "--yes")
    assert (again.status, again.out.strip()) == (0, "nothing to do"), "our own history deleted it"

    made = cluster.kadmin("recreate", operation, "--yes")
    assert made.status == 0, made.err
    wait_assigned(
        connection,
        {TopicPartition(topic, number): replicas for number, replicas in ASSIGNMENT.items()},
    )
    assert read_own_configs(connection, [ConfigEntity.of_topic(topic)]) == {
        ConfigEntity.of_topic(topic): configs
    }
    records = {TopicPartition(topic, number): [b"new %d" % number] for number in ASSIGNMENT}
    produce(connection.servers, records)
    assert consume_all(connection.servers.addresses, list(records)) == records
    assert cluster.kadmin("recreate", operation, "--yes").status == 5


@pytest.mark.live
def test_k13_a_topic_made_again_between_look_and_send_is_spared(
    cluster: KraftCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other topics of the plan are deleted; the new topic of an old name is told, with exit
    code 4.
    """
    connection = cluster.connection
    topic, other = make_topic(connection, {0: (1, 2)}), make_topic(connection, {0: (1, 2)})

    def late(
        to: KafkaConnection, topic_ids: Mapping[str, str], *, send_by: float
    ) -> dict[str, Refusal | None]:
        assert delete_topics(to, {topic: topic_ids[topic]}) == {topic: None}
        create_topic(to, topic, {0: (1, 2)})
        return delete_topics(to, topic_ids, send_by=send_by)

    monkeypatch.setattr("kadmin.worlds.kafka.requests.delete_topics", late)
    applied = cluster.kadmin(
        "apply", document(tmp_path / "deletion.yaml", deletion(topic, other)), "--yes"
    )
    assert applied.status == 4, applied.err
    assert f"Other topics have these names by now: {topic}" in applied.err
    wait_assigned(connection, {TopicPartition(topic, 0): (1, 2)})
    assert other not in read_metadata(connection).topics


@pytest.mark.eras
def test_a_dead_replica_holds_no_deletion_up_and_its_stray_folders_are_told(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    connection, folder = cluster.connection, cluster.sandbox.spec.directory
    topic = make_topic(connection, {0: (1, 4)})
    cluster.sandbox.stop_broker(4)
    try:
        refused = cluster.kadmin("apply", document(tmp_path / "d.yaml", deletion(topic)), "--yes")
        assert (refused.status, "offline_replicas" in refused.err) == (4, True), refused.err
        waived = document(tmp_path / "w.yaml", deletion(topic, allow={"offline_replicas": True}))
        applied = cluster.kadmin("apply", waived, "--yes")
        assert applied.status == 0, applied.err
        assert "brokers that are not alive may keep folders of them on disk: 4" in applied.out
        assert topic not in read_metadata(connection).topics
    finally:
        cluster.sandbox.start_broker(4)
    beside = make_topic(connection, {0: (4, 1)})
    assert beside
    assert [each for each in folder.rglob(f"{topic}-0*") if "broker-4" in str(each)], (
        "the folder is still there"
    )


@pytest.mark.eras
def test_a_topic_made_by_others_meanwhile_is_left_as_it_is(
    cluster: KraftCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = cluster.connection
    topic = make_topic(connection, {0: (1, 2)})
    applied = cluster.kadmin(
        "apply", document(tmp_path / "d.yaml", deletion(topic)), "--yes", "-o", "json"
    )
    operation = json.loads(applied.out)["operation_id"]

    def late(
        to: KafkaConnection,
        name: str,
        replicas: Mapping[int, Replicas],
        configs: Mapping[str, str],
        *,
        send_by: float,
    ) -> None:
        create_topic(to, name, {0: (3,)})
        create_topic(to, name, replicas, configs, send_by=send_by)

    monkeypatch.setattr("kadmin.worlds.kafka.requests.create_topic", late)
    made = cluster.kadmin("recreate", operation, "--yes")
    assert made.status == 5, made.err
    assert "created by another client" in made.err
    wait_assigned(connection, {TopicPartition(topic, 0): (3,)})


@pytest.mark.eras
@pytest.mark.on("4.4.0")
def test_members_of_newer_groups_guard_a_topic(cluster: KraftCluster, tmp_path: Path) -> None:
    """Groups of the consumer protocol and share groups are described by requests of their own."""
    connection = cluster.connection
    topic, other = make_topic(connection, {0: (1, 2)}), make_topic(connection, {0: (1, 2)})
    for kind in ("consumer", "share"):
        join(connection, kind, f"{kind}-of-{topic}", [topic])
    found = {each.name: each for each in describe_groups(connection.servers, [1, 2, 3, 4]).listed}
    for kind in ("consumer", "share"):
        group = found[f"{kind}-of-{topic}"]
        assert (group.listed.kind, group.members, group.topics) == (kind, 1, frozenset({topic}))
    refused = cluster.kadmin("apply", document(tmp_path / "d.yaml", deletion(topic)), "--yes")
    assert refused.status == 5, refused.err
    assert f"consumer groups use {topic}: consumer-of-{topic}, share-of-{topic}" in refused.err
    done = cluster.kadmin("apply", document(tmp_path / "other.yaml", deletion(other)), "--yes")
    assert done.status == 0, done.err


@pytest.mark.eras
@pytest.mark.on("4.4.0")
def test_k20_a_topic_that_another_client_deletes_first_is_gone_and_so_are_the_others(
    cluster: KraftCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controller answers UNKNOWN_TOPIC_ID, code 100."""
    connection = cluster.connection
    topic, other = make_topic(connection, {0: (1, 2)}), make_topic(connection, {0: (1, 2)})

    def late(
        to: KafkaConnection, topic_ids: Mapping[str, str], *, send_by: float
    ) -> dict[str, Refusal | None]:
        assert delete_topics(to, {topic: topic_ids[topic]}) == {topic: None}
        answers = delete_topics(to, topic_ids, send_by=send_by)
        assert {name: answer and answer.code for name, answer in answers.items()} == {
            topic: 100,
            other: None,
        }
        return answers

    monkeypatch.setattr("kadmin.worlds.kafka.requests.delete_topics", late)
    applied = cluster.kadmin(
        "apply", document(tmp_path / "deletion.yaml", deletion(topic, other)), "--yes"
    )
    assert applied.status == 0, applied.err
    assert applied.out.startswith("2 topics deleted")
    assert not {topic, other} & set(read_metadata(connection).topics)


@pytest.mark.eras
def test_k20_where_deletion_is_disabled_each_topic_is_kept_and_the_reason_told(
    tmp_path: Path,
) -> None:
    """The plan has to waive that; the controller then answers TOPIC_DELETION_DISABLED, code 73."""
    settings = {"delete.topic.enable": "false"}
    spec = SandboxSpec(
        tmp_path / "sandbox", version="4.4.0", brokers=1, mode="kraft", broker_config=settings
    )
    sandbox = Sandbox.up(spec)
    try:
        with KafkaConnection(Servers(sandbox.bootstrap)) as connection:
            cluster = KraftCluster(sandbox, connection, tmp_path / "records")
            topic, other = make_topic(connection, {0: (1,)}), make_topic(connection, {0: (1,)})
            refused = cluster.kadmin(
                "apply", document(tmp_path / "d.yaml", deletion(topic, other)), "--yes"
            )
            assert (refused.status, "delete.topic.enable=false" in refused.err) == (8, True), (
                refused.err
            )
            waived = document(
                tmp_path / "w.yaml", deletion(topic, other, allow={"deletion_disabled": True})
            )
            applied = cluster.kadmin("apply", waived, "--yes")
            assert applied.status == 8, applied.err
            assert f"The controller refused to delete {topic}, {other}." in applied.err
            assert "TOPIC_DELETION_DISABLED" in applied.err
            assert {topic, other} <= set(read_metadata(connection).topics)
    finally:
        sandbox.down()
