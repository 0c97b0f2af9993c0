"""Brokers' settings, and dynamic configs (DescribeConfigs, IncrementalAlterConfigs, Kafka 2.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from kafka.admin import ConfigResourceType
from kafka.protocol.admin import DescribeConfigsRequest, IncrementalAlterConfigsRequest

from kadmin.cluster.config_entity import BROKER_KIND, DEFAULT_ENTITY, ConfigEntity
from kadmin.cluster.rights import Right
from kadmin.errors import NotCompletedError
from kadmin.worlds.kafka.wire.client import REQUEST_S
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.errors import raise_for
from kadmin.worlds.kafka.wire.from_brokers import ask_each
from kadmin.worlds.kafka.wire.refusals import CHANGE_S, NOT_AUTHORIZED, refusal, require_confirmed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kadmin.cluster.from_brokers import FromBrokers
    from kadmin.cluster.servers import Servers
    from kadmin.worlds.kafka.wire.refusals import Refusal

MOST_VALUE_BYTES = 32_767
"""The longest value of a config; a broker closes the connection at a longer one."""
OPENS_TOPICS = "allow.everyone.if.no.acl.found"
"""Kafka's own authorizer opens everything without ACLs where this is true."""

_DESCRIBE, _ALTER = "describe settings", "alter configs"
_OWN_SOURCES = {1, 2}
"""ConfigSource of DescribeConfigs: DYNAMIC_TOPIC_CONFIG and DYNAMIC_BROKER_CONFIG, an entity's own
values."""
_DEFAULT_SOURCE = 3
_UNKNOWN_TOPIC = 3


class ConfigOperation(IntEnum):
    """An operation of IncrementalAlterConfigs on a value.

    APPEND and SUBTRACT are for lists, and idempotent.
    """

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """One operation on one value; `value` is None for DELETE."""

    operation: ConfigOperation
    value: str | None = None


def describe_settings(
    servers: Servers, brokers: Iterable[int], names: Sequence[str]
) -> FromBrokers[Mapping[str, str]]:
    """Return the effective settings of brokers, defaults included.

    A setting that a broker lacks is left out. Brokers before 0.11, or that deny DESCRIBE_CONFIGS,
    have an error in the result. Raises UnreachableError where none of the addresses answers,
    NotCompletedError where there is none.
    """
    with KafkaConnection(servers) as connection:
        requests = {broker: _request([ConfigEntity.of_broker(broker)], names) for broker in brokers}

        def read(answer: Any) -> Mapping[str, str]:  # noqa: ANN401 - kafka-python ships no types
            (configs,) = _configs_of(connection, answer).values()
            return _values(configs)

        return ask_each(connection, _DESCRIBE, requests, read, REQUEST_S)()


def read_settings(
    connection: KafkaConnection, broker_id: int, names: Sequence[str]
) -> dict[str, str]:
    """Return the effective settings of a broker as `describe_settings` does.

    Raises as `KafkaConnection.ask` does.
    """
    entity = ConfigEntity.of_broker(broker_id)
    return _values(_describe(connection, [entity], names, broker_id=broker_id)[entity])


def read_topic_settings(
    connection: KafkaConnection, topic: str, names: Sequence[str]
) -> dict[str, str]:
    """Return the effective settings of a topic, defaults included.

    Raises as `KafkaConnection.ask` does.
    """
    entity = ConfigEntity.of_topic(topic)
    return _values(_describe(connection, [entity], names)[entity])


def opens_without_acls(connection: KafkaConnection, broker_id: int) -> bool:
    """Whether a broker has the setting that opens topics without ACLs.

    The broker does not report its value.
    """
    entity = ConfigEntity.of_broker(broker_id)
    return any(
        each.name == OPENS_TOPICS
        for each in _describe(connection, [entity], [OPENS_TOPICS], broker_id=broker_id)[entity]
    )


def read_own_configs(
    connection: KafkaConnection,
    entities: Iterable[ConfigEntity],
    *,
    keys: Iterable[str] | None = None,
    broker_id: int | None = None,
) -> dict[ConfigEntity, dict[str, str]]:
    """Return the dynamic configs that entities have of their own, without defaults.

    Of topics that do not exist none. `keys` limits the answer to some. Only a broker gives its own
    configs: `broker_id` is the broker to ask. Other configs come from a broker's copy of the
    metadata, which may lag. Raises as `KafkaConnection.ask` does.
    """
    found = _describe(connection, entities, keys, broker_id=broker_id, pass_over=_UNKNOWN_TOPIC)
    return {entity: _own(entity, configs) for entity, configs in found.items()}


def alter_configs(
    connection: KafkaConnection,
    edits: Mapping[ConfigEntity, Mapping[str, ConfigEdit]],
    *,
    broker_id: int | None = None,
    send_by: float = math.inf,
) -> dict[ConfigEntity, Refusal | None]:
    """Change configs in one request; returns None for each entity that was changed.

    The edits of one entity are applied together or not at all; entities are independent. A broker's
    own configs take that broker, `broker_id`. Raises NotCompletedError for a value that is too
    long, and as `KafkaConnection.change` does; what was not answered may still be applied.
    """
    for entity, keys in edits.items():
        for key, edit in keys.items():
            _require_short(entity, key, edit)
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    by_resource = {_resource(entity): entity for entity in edits}
    asked = [
        resource(
            resource_type=kind,
            resource_name=name,
            configs=[
                resource.AlterableConfig(
                    name=key, config_operation=int(edit.operation), value=edit.value
                )
                for key, edit in edits[entity].items()
            ],
        )
        for (kind, name), entity in by_resource.items()
    ]
    request = IncrementalAlterConfigsRequest(resources=asked, validate_only=False)
    answer = connection.change(
        _ALTER, request, timeout_s=CHANGE_S, broker_id=broker_id, send_by=send_by
    )
    require_confirmed([each.error_code for each in answer.responses], "changes of configs")
    for each in answer.responses:
        if each.error_code in NOT_AUTHORIZED:
            right = _right("AlterConfigs", by_resource[each.resource_type, each.resource_name])
            raise_for(each.error_code, each.error_message, connection.servers, _ALTER, right)
    return {
        by_resource[each.resource_type, each.resource_name]: refusal(
            each.error_code, each.error_message
        )
        for each in answer.responses
    }


def _describe(
    connection: KafkaConnection,
    entities: Iterable[ConfigEntity],
    names: Iterable[str] | None,
    *,
    broker_id: int | None = None,
    pass_over: int = 0,
) -> dict[ConfigEntity, list[Any]]:
    """Return the answer's settings of each entity.

    `pass_over` is the error code of an entity that has none.
    """
    answer = connection.ask(_DESCRIBE, _request(entities, names), broker_id=broker_id)
    return _configs_of(connection, answer, pass_over)


def _request(entities: Iterable[ConfigEntity], names: Iterable[str] | None) -> Any:  # noqa: ANN401 - kafka-python ships no types
    wanted, resource = (
        None if names is None else sorted(names),
        DescribeConfigsRequest.DescribeConfigsResource,
    )
    asked = [
        resource(resource_type=kind, resource_name=name, configuration_keys=wanted)
        for kind, name in map(_resource, dict.fromkeys(entities))
    ]
    return DescribeConfigsRequest(resources=asked)


def _configs_of(
    connection: KafkaConnection,
    answer: Any,  # noqa: ANN401 - kafka-python ships no types
    pass_over: int = 0,
) -> dict[ConfigEntity, list[Any]]:
    found: dict[ConfigEntity, list[Any]] = {}
    for result in answer.results:
        entity = _entity(result.resource_type, result.resource_name)
        if result.error_code != pass_over:
            right = _right("DescribeConfigs", entity)
            raise_for(result.error_code, result.error_message, connection.servers, _DESCRIBE, right)
        found[entity] = result.configs
    return found


def _values(configs: Iterable[Any]) -> dict[str, str]:
    return {each.name: each.value for each in configs if each.value is not None}


def _resource(entity: ConfigEntity) -> tuple[int, str]:
    if entity.is_topic:
        return int(ConfigResourceType.TOPIC), entity.name
    return int(ConfigResourceType.BROKER), "" if entity == DEFAULT_ENTITY else entity.name


def _entity(kind: int, name: str) -> ConfigEntity:
    if kind == ConfigResourceType.TOPIC:
        return ConfigEntity.of_topic(name)
    return ConfigEntity(BROKER_KIND, name) if name else DEFAULT_ENTITY


def _right(operation: str, entity: ConfigEntity) -> Right:
    return Right(operation, entity.name if entity.is_topic else None)


def _own(entity: ConfigEntity, configs: Iterable[Any]) -> dict[str, str]:
    sources = {_DEFAULT_SOURCE} if entity == DEFAULT_ENTITY else _OWN_SOURCES
    return _values(each for each in configs if each.config_source in sources)


def _require_short(entity: ConfigEntity, key: str, edit: ConfigEdit) -> None:
    length = len((edit.value or "").encode())
    if length > MOST_VALUE_BYTES:
        raise NotCompletedError(
            f"{key} of {entity} would have {length} bytes; brokers take at most "
            f"{MOST_VALUE_BYTES}.",
            next_step="use * for every replica of the topic",
        )
