from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadmin.cluster.model import (
    NO_LEADER,
    Broker,
    Controller,
    Endpoint,
    PartitionState,
    Topic,
    TopicPartition,
    Znode,
)
from kadmin.cluster.zookeeper.znodes import configs, consumers, controller, notifications, security
from kadmin.cluster.zookeeper.znodes.brokers import broker_path, decode_broker
from kadmin.cluster.zookeeper.znodes.catalogue import decoder_of
from kadmin.cluster.zookeeper.znodes.paths import require_element, require_path, require_topic_name
from kadmin.cluster.zookeeper.znodes.topics import (
    decode_state,
    decode_topic,
    encode_topic,
    partitions_path,
    state_path,
    topic_path,
)
from kadmin.cluster.zookeeper.znodes.values import MalformedZnodeError
from kadmin.errors import InvalidInputError

if TYPE_CHECKING:
    from kadmin.cluster.model import Replicas

ids = st.integers(0, 2**31 - 1)
replica_lists = st.lists(ids, min_size=1, max_size=6, unique=True).map(tuple)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def node(path: str, value: object, version: int = 3) -> Znode:
    return Znode(path, json.dumps(value).encode(), version, czxid=77, ephemeral_owner=9)


HOST = {"host": "h1", "port": 9092, "jmx_port": -1, "timestamp": "1795243073812"}
PLAIN = Endpoint("PLAINTEXT", "h1", 9092, "PLAINTEXT")


@pytest.mark.parametrize(
    ("value", "rack", "endpoints"),
    [
        ({"version": 1, **HOST}, None, (PLAIN,)),
        ({"version": 2, **HOST, "endpoints": ["PLAINTEXT://h1:9092"]}, None, (PLAIN,)),
        ({"version": 3, **HOST, "endpoints": ["PLAINTEXT://h1:9092"], "rack": "r1"}, "r1", (PLAIN,)),
        (
            {
                "version": 4,
                "host": None,
                "port": -1,
                "endpoints": ["INSIDE://[::1]:9093", "SASL_SSL://h-1.example.org:9094"],
                "listener_security_protocol_map": {"INSIDE": "SSL", "SASL_SSL": "SASL_SSL"},
                "rack": None,
            },
            None,
            (Endpoint("INSIDE", "::1", 9093, "SSL"), Endpoint("SASL_SSL", "h-1.example.org", 9094, "SASL_SSL")),
        ),
        (
            {
                "version": 5,
                "endpoints": ["OUT://:9092"],
                "listener_security_protocol_map": {"OUT": "PLAINTEXT"},
                "features": {"x": {"min_version": 1, "max_version": 2}},
                "of_the_future": [1],
            },
            None,
            (Endpoint("OUT", "", 9092, "PLAINTEXT"),),
        ),
    ],
)
def test_broker_registrations(value: dict[str, object], rack: str | None, endpoints: tuple[Endpoint, ...]) -> None:
    version = value["version"]
    assert isinstance(version, int)
    found = decode_broker(3, node(broker_path(3), value))
    assert found == Broker(3, rack, endpoints, version, epoch=77, version=3)


@pytest.mark.parametrize(
    "value",
    [
        {"version": 1, "host": None, "port": 1},
        {"version": 1, "host": "h"},
        {"version": "4", "endpoints": []},
        {"version": 4, "endpoints": "x"},
        {"version": 4, "endpoints": [1]},
        {"version": 4, "endpoints": ["h1:9092"]},
        {"version": 4, "endpoints": ["PLAINTEXT://h1"]},
        {"version": 4, "endpoints": ["PLAINTEXT://h1:x"]},
        {"version": 4, "endpoints": [], "listener_security_protocol_map": [1]},
        {"version": 4, "endpoints": ["A://h:1"], "listener_security_protocol_map": {"A": 1}},
        {"version": 4, "endpoints": [], "rack": 7},
        [],
    ],
)
def test_malformed_registrations(value: object) -> None:
    with pytest.raises(MalformedZnodeError, match=r"^/brokers/ids/3: "):
        decode_broker(3, node(broker_path(3), value))


def test_topics_of_every_version() -> None:
    partitions = {"0": [1, 2], "10": [2], "2": [3, 1]}
    replicas = {0: (1, 2), 2: (3, 1), 10: (2,)}
    one = decode_topic("a", node(topic_path("a"), {"version": 1, "partitions": partitions}))
    assert one == Topic("a", replicas, version=3)
    assert list(one.replicas) == [0, 2, 10]
    moving = {"adding_replicas": {"0": [2], "2": []}, "removing_replicas": {"0": [1]}}
    two = decode_topic("a", node(topic_path("a"), {"version": 2, "partitions": partitions, **moving}))
    assert two == Topic("a", replicas, {0: (2,)}, {0: (1,)}, format_version=2, version=3)
    value = {"version": 3, "partitions": partitions, "topic_id": "4GERWIhcT2ezzlinUTi3Hw", **moving, "future": 1}
    three = decode_topic("a", node(topic_path("a"), value))
    assert (three.topic_id, three.format_version) == ("4GERWIhcT2ezzlinUTi3Hw", 3)


@pytest.mark.parametrize(
    "value",
    [
        {"version": 1},
        {"partitions": [[1]]},
        {"partitions": {"x": [1]}},
        {"partitions": {"-1": [1]}},
        {"partitions": {"0": ["1", "2", 0, 1]}},
        {"partitions": {"0": None}},
        {"partitions": {"0": [1.5]}},
        {"partitions": {"0": [1]}, "adding_replicas": {"0": ["1"]}},
        {"partitions": {"0": [1]}, "removing_replicas": [1]},
        {"partitions": {"0": [1]}, "topic_id": 1},
        {"partitions": {"0": [1]}, "version": "1"},
    ],
)
def test_topics_that_loop_controllers_are_malformed(value: object) -> None:
    """String ids are the worst: every later failover fails on them until the topic znode is repaired."""
    with pytest.raises(MalformedZnodeError, match=r"^/brokers/topics/a: "):
        decode_topic("a", node(topic_path("a"), value))


def test_a_new_topic_is_written_as_old_tools_do() -> None:
    assert encode_topic({1: (2, 3), 0: (1, 2)}) == b'{"version":1,"partitions":{"0":[1,2],"1":[2,3]}}'


@given(st.lists(replica_lists, min_size=1, max_size=20))
def test_new_topics_round_trip(lists: list[Replicas]) -> None:
    """Encode and decode are inverse for whatever may be written."""
    replicas = dict(enumerate(lists))
    assert decode_topic("a", Znode("/brokers/topics/a", encode_topic(replicas), 0)).replicas == replicas


@pytest.mark.parametrize("replicas", [{}, {1: (1,)}, {0: (1,), 2: (1,)}, {0: ()}, {0: (1, 1)}, {0: (-1,)}], ids=repr)
def test_topics_that_must_never_be_made(replicas: dict[int, Replicas]) -> None:
    with pytest.raises(ValueError, match=r"partition|int32"):
        encode_topic(replicas)


def test_partition_states() -> None:
    value = {
        "version": 1,
        "leader": -1,
        "leader_epoch": 5,
        "controller_epoch": 2,
        "isr": [3],
        "leader_recovery_state": 1,
    }
    found = decode_state(node(state_path(TopicPartition("a", 0)), {**value, "leader_recovery_state": 1}))
    assert found == PartitionState(NO_LEADER, (3,), 5, 2, version=3)
    for key in ("leader", "leader_epoch", "controller_epoch", "isr"):
        with pytest.raises(MalformedZnodeError, match=key):
            decode_state(node("/s", {name: each for name, each in value.items() if name != key}))


def test_the_controller() -> None:
    one = node("/controller", {"version": 1, "brokerid": 2, "timestamp": "1"})
    assert controller.decode_controller(one) == Controller(2, 9, None, version=3)
    two = node("/controller", {"version": 2, "brokerid": 3000, "timestamp": "1", "kraftControllerEpoch": 12})
    assert controller.decode_controller(two).kraft_epoch == 12
    with pytest.raises(MalformedZnodeError, match="brokerid"):
        controller.decode_controller(node("/controller", {"version": 1, "brokerid": "2"}))


@pytest.mark.parametrize("data", [None, b"", b"x", b" 1", b"1 ", b"+1", b"1_0", b"1.0", b"\xd9\xa1", b"1" * 30])
def test_numbers_are_plain_ascii_digits(data: bytes | None) -> None:
    with pytest.raises(MalformedZnodeError, match="not an integer"):
        controller.decode_controller_epoch(Znode("/controller_epoch", data, 0))
    with pytest.raises(MalformedZnodeError, match="not an integer"):
        consumers.decode_offset(Znode("/offset", data, 0))


def test_offsets_may_be_negative_and_long() -> None:
    assert consumers.decode_offset(Znode("/offset", b"-1", 0)) == -1
    assert consumers.decode_offset(Znode("/offset", b"9223372036854775807", 0)) == 2**63 - 1


def test_migration_and_features() -> None:
    state = {"version": 0, "kraft_controller_id": 3000, "kraft_controller_epoch": 2, "kraft_metadata_offset": 9}
    assert controller.decode_migration(node("/migration", state)) == controller.Migration(3000, 2)
    assert controller.decode_migration(node("/migration", {"version": 0})) == controller.Migration(-1, -1)
    one = {"version": 1, "status": 0, "features": {"a": {"min_version_level": 1, "max_version_level": 3}}}
    assert controller.decode_features(node("/feature", one)) == controller.Features(1, enabled=False, levels={"a": 3})
    two = {"version": 2, "status": 1, "features": {"a": 4}}
    assert controller.decode_features(node("/feature", two)) == controller.Features(2, enabled=True, levels={"a": 4})


@given(st.dictionaries(texts, texts, max_size=10))
def test_configs_round_trip(config: dict[str, str]) -> None:
    """Encode and decode are inverse; the same configs always give the same bytes."""
    payload = configs.encode_config(config)
    assert configs.decode_config(Znode("/config/topics/a", payload, 0)) == config
    assert configs.encode_config(dict(reversed(config.items()))) == payload


@given(
    st.dictionaries(st.text(max_size=3), st.text(max_size=3)),
    st.dictionaries(st.text(max_size=3), st.none() | st.text(max_size=3)),
)
def test_a_change_of_configs_keeps_all_else(config: dict[str, str], change: dict[str, str | None]) -> None:
    """Other configs and fields of the document stay as they are."""
    before = node("/config/topics/a", {"version": 1, "later": {"x": [1]}, "config": config})
    data = configs.change_config(before, change)
    after = {key: value for key, value in {**config, **change}.items() if value is not None}
    assert configs.decode_config(Znode("/config/topics/a", data, 0)) == after
    assert json.loads(data)["later"] == {"x": [1]}
    assert configs.change_config(None, change) == configs.encode_config(
        {k: v for k, v in change.items() if v is not None}
    )


def test_configs() -> None:
    assert configs.encode_config({"b": "2", "a": "1"}) == b'{"version":1,"config":{"a":"1","b":"2"}}'
    assert configs.decode_config(Znode("/config/topics/a", None, 0)) == {}
    assert configs.decode_config(node("/config/topics/a", {"version": 1})) == {}
    malformed: list[object] = [{"config": {"a": 1}}, {"config": []}, {"config": {"a": None}}, 7]
    for wrong in malformed:
        with pytest.raises(MalformedZnodeError):
            configs.decode_config(node("/config/topics/a", wrong))
    assert configs.config_path("brokers", configs.DEFAULT_ENTITY) == "/config/brokers/<default>"
    with pytest.raises(InvalidInputError):
        configs.config_path("topics", "a/b")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("foo", "topics/foo"),
        ({"version": 1, "entity_type": "topics", "entity_name": "foo"}, "topics/foo"),
        ({"version": 2, "entity_path": "users/u/clients/c"}, "users/u/clients/c"),
    ],
)
def test_config_changes_of_every_version(value: object, expected: str) -> None:
    path = configs.CONFIG_CHANGE_PREFIX + "0000000001"
    assert configs.decode_config_change(node(path, value)) == expected


def test_a_config_change_is_exactly_what_kafka_writes() -> None:
    assert configs.encode_config_change("brokers/1") == b'{"version":2,"entity_path":"brokers/1"}'
    for wrong in (7, {}, {"entity_path": 1}, {"entity_type": "topics"}):
        with pytest.raises(MalformedZnodeError):
            configs.decode_config_change(node("/config/changes/config_change_1", wrong))


def test_names_are_desanitized_as_kafka_does() -> None:
    assert configs.desanitize("CN%3Da%20b%2CO%3D%2A%7E%C3%A9%2F") == "CN=a b,O=*~é/"


def test_old_consumers() -> None:
    value = {"version": 1, "subscription": {"b": 2, "a": 1}, "timestamp": "17"}
    found = consumers.decode_registration("c1", node(consumers.ids_path("g") + "/c1", value))
    assert found == consumers.ConsumerRegistration("c1", {"a": 1, "b": 2}, "static", 17)
    malformed: list[object] = [{}, {"subscription": {"a": "1"}}, {"subscription": {}, "pattern": 1}]
    for wrong in malformed:
        with pytest.raises(MalformedZnodeError):
            consumers.decode_registration("c1", node("/consumers/g/ids/c1", wrong))
    assert consumers.decode_owner(Znode("/o", "g_é-0".encode(), 0)) == "g_é-0"
    with pytest.raises(MalformedZnodeError):
        consumers.decode_owner(Znode("/o", b"\xff", 0))


@pytest.mark.parametrize(("name", "partition"), [("0", 0), ("12", 12), ("3-0", 0), ("3-12", 12)])
def test_both_layouts_of_owners_and_offsets(name: str, partition: int) -> None:
    assert consumers.partition_of(name) == partition


@pytest.mark.parametrize("name", ["", "x", "1-", "1-x", "\u0661"])
def test_names_without_a_partition(name: str) -> None:
    with pytest.raises(MalformedZnodeError, match="names no partition"):
        consumers.partition_of(name)


def test_notifications() -> None:
    changed = node("/isr", {"version": 1, "partitions": [{"topic": "alpha", "partition": 2}]})
    assert notifications.decode_isr_change(changed) == (TopicPartition("alpha", 2),)
    assert notifications.decode_log_dir_event(node("/dir", {"version": 1, "broker": 4, "event": 1})) == 4
    block = node("/block", {"version": 1, "broker": 0, "block_start": "2000", "block_end": "2999"})
    assert notifications.decode_producer_id_block(block) == notifications.ProducerIdBlock(0, 2000, 2999)
    with pytest.raises(MalformedZnodeError, match="partitions"):
        notifications.decode_isr_change(node("/isr", {"partitions": {}}))
    with pytest.raises(MalformedZnodeError, match="topic"):
        notifications.decode_isr_change(node("/isr", {"partitions": [{"partition": 1}]}))
    with pytest.raises(MalformedZnodeError, match="block_start"):
        notifications.decode_producer_id_block(node("/block", {"broker": 0, "block_start": 1, "block_end": "2"}))


def test_acls_and_tokens() -> None:
    rule = {"principal": "User:alice", "permissionType": "Allow", "operation": "Read", "host": "*"}
    found = security.decode_acls(node("/kafka-acl/Topic/a", {"version": 1, "acls": [rule]}))
    assert found == (security.KafkaAcl("User:alice", "Allow", "Read", "*"),)
    literal = Znode("/kafka-acl-changes/acl_changes_1", b"Topic:a:b", 0)
    assert security.decode_acl_change(literal) == security.AclChange("Topic", "a:b")
    value = {"version": 1, "resourceType": "TOPIC", "name": "a", "patternType": "PREFIXED"}
    assert security.decode_acl_change(node("/c", value)) == security.AclChange("TOPIC", "a", "PREFIXED")
    for wrong in (b"Topic", b"\xff", None):
        with pytest.raises(MalformedZnodeError):
            security.decode_acl_change(Znode("/c", wrong, 0))
    token = {"tokenId": "t1", "owner": "User:a", "renewers": ["User:b"], "hmac": "c2VjcmV0"}
    decoded = security.decode_delegation_token(node("/delegation_token/tokens/t1", token))
    assert decoded == security.DelegationToken("t1", "User:a", ("User:b",))
    assert "c2VjcmV0" not in repr(decoded)


def test_paths() -> None:
    assert topic_path("a.b") == "/brokers/topics/a.b"
    assert partitions_path("a") == "/brokers/topics/a/partitions"
    assert state_path(TopicPartition("a", 3)) == "/brokers/topics/a/partitions/3/state"
    assert consumers.owners_path("g 1", "t") == "/consumers/g 1/owners/t"
    assert consumers.offsets_path("g", "t") == "/consumers/g/offsets/t"
    assert require_path("/") == "/"
    for bad in ("a/b", "", ".", "..", "a\0", "\ud800"):
        for path in (consumers.ids_path, topic_path, require_element, require_topic_name):
            with pytest.raises(InvalidInputError) as caught:
                path(bad)
            assert caught.value.message.isascii()


PATHS = [
    "/admin/reassign_partitions",
    "/admin/preferred_replica_election",
    "/brokers/ids/1",
    "/brokers/topics/a",
    "/brokers/topics/a/partitions/0/state",
    "/controller",
    "/controller_epoch",
    "/cluster/id",
    "/feature",
    "/migration",
    "/config/changes/config_change_0000000001",
    "/config/users/u/clients/c",
    "/config/ips/127.0.0.1",
    "/isr_change_notification/isr_change_0000000001",
    "/log_dir_event_notification/log_dir_event_0000000001",
    "/latest_producer_id_block",
    "/consumers/g/ids/c",
    "/consumers/g/owners/t/0",
    "/consumers/g/offsets/t/0",
    "/kafka-acl/Topic/a",
    "/kafka-acl-extended/prefixed/Topic/a",
    "/kafka-acl-changes/acl_changes_0000000001",
    "/kafka-acl-extended-changes/acl_changes_0000000001",
    "/delegation_token/tokens/t",
]

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["version", "partitions", "topic", "replicas", "leader", "isr", "config", "features", "endpoints"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("path", PATHS)
@given(data=st.none() | st.binary(max_size=60) | values.map(lambda value: json.dumps(value).encode()))
def test_codecs_raise_nothing_else_on_any_data(path: str, data: bytes | None) -> None:
    """Whatever lies in ZooKeeper, a codec returns a value or raises MalformedZnodeError."""
    decode = decoder_of(path)
    assert decode is not None
    with suppress(MalformedZnodeError):
        decode(Znode(path, data, 0))


@pytest.mark.parametrize("path", ["/", "/admin", "/brokers/topics", "/zookeeper/quota", "/kadmin/lock", "/config/x/y"])
def test_folders_and_strangers_have_no_codec(path: str) -> None:
    assert decoder_of(path) is None
