"""Configs, the notifications of their changes and sanitized names."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.zookeeper.encoded import node, texts

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.errors import InvalidInputError
from kadmin.worlds.zookeeper.model import Znode
from kadmin.worlds.zookeeper.znodes import configs
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError


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
def test_a_change_of_configs_keeps_all_else(
    config: dict[str, str], change: dict[str, str | None]
) -> None:
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
    assert (
        configs.encode_config({"b": "2", "a": "1"}) == b'{"version":1,"config":{"a":"1","b":"2"}}'
    )
    assert configs.decode_config(Znode("/config/topics/a", None, 0)) == {}
    assert configs.decode_config(node("/config/topics/a", {"version": 1})) == {}
    malformed: list[object] = [{"config": {"a": 1}}, {"config": []}, {"config": {"a": None}}, 7]
    for wrong in malformed:
        with pytest.raises(MalformedZnodeError):
            configs.decode_config(node("/config/topics/a", wrong))
    assert configs.config_path(DEFAULT_ENTITY) == "/config/brokers/<default>"
    with pytest.raises(InvalidInputError):
        configs.config_path(ConfigEntity.of_topic("a/b"))


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
    assert (
        configs.encode_config_change(ConfigEntity.of_broker(1))
        == b'{"version":2,"entity_path":"brokers/1"}'
    )
    for wrong in (7, {}, {"entity_path": 1}, {"entity_type": "topics"}):
        with pytest.raises(MalformedZnodeError):
            configs.decode_config_change(node("/config/changes/config_change_1", wrong))


def test_names_are_desanitized_as_kafka_does() -> None:
    assert configs.desanitize("CN%3Da%20b%2CO%3D%2A%7E%C3%A9%2F") == "CN=a b,O=*~é/"
