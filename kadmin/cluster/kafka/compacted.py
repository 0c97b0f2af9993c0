"""Creates a compacted topic, and reads the settings of a topic (CreateTopics, DescribeConfigs)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka.admin import ConfigResourceType
from kafka.protocol.admin import CreateTopicsRequest, DescribeConfigsRequest

from kadmin.cluster.kafka.connection import raise_for
from kadmin.cluster.kafka.refusals import CHANGE_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.kafka.connection import KafkaConnection

_EXISTS = 36


def create_compacted(
    connection: KafkaConnection, name: str, partitions: int, replication_factor: int, configs: Mapping[str, str]
) -> None:
    """Create a topic on brokers that the controller chooses; one that exists already is left as it is.

    Brokers show it only some time later. Raises as `KafkaConnection.change` does.
    """
    what, topic = f"create topic {name}", CreateTopicsRequest.CreatableTopic
    settings = [topic.CreatableTopicConfig(name=key, value=value) for key, value in configs.items()]
    asked = topic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        assignments=[],
        configs=[topic.CreatableTopicConfig(name="cleanup.policy", value="compact"), *settings],
    )
    answer = connection.change(
        what, CreateTopicsRequest(topics=[asked], timeout_ms=int(CHANGE_S * 1000)), timeout_s=CHANGE_S
    )
    (result,) = answer.topics
    if result.error_code != _EXISTS:
        raise_for(result.error_code, result.error_message, connection.bootstrap, what)


def topic_settings(connection: KafkaConnection, name: str, keys: Sequence[str]) -> dict[str, str]:
    """Return settings that a topic is under, defaults included; raises as `KafkaConnection.ask` does."""
    what = f"describe the settings of topic {name}"
    asked = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=ConfigResourceType.TOPIC, resource_name=name, configuration_keys=list(keys)
    )
    (result,) = connection.ask(what, DescribeConfigsRequest(resources=[asked])).results
    raise_for(result.error_code, result.error_message, connection.bootstrap, what)
    return {each.name: each.value for each in result.configs if each.value is not None}
