"""Settings that brokers run with (DescribeConfigs, Kafka 0.11 and later)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka.admin import ConfigResourceType
from kafka.protocol.admin import DescribeConfigsRequest

from kadmin.cluster.kafka.connection import KafkaConnection, raise_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WHAT = "describe settings"


def describe_settings(
    bootstrap: Sequence[str], brokers: Iterable[int], names: Sequence[str]
) -> dict[int, dict[str, str]]:
    """Return settings that brokers run with, defaults included, by broker; a setting that a broker lacks is left out.

    Raises UnreachableError when a broker does not answer, NotAuthorizedError without the right DESCRIBE_CONFIGS on the
    cluster, NotCompletedError for brokers before 0.11.
    """
    described = {}
    with KafkaConnection(bootstrap) as connection:
        for broker in brokers:
            asked = DescribeConfigsRequest.DescribeConfigsResource(
                resource_type=ConfigResourceType.BROKER, resource_name=str(broker), configuration_keys=list(names)
            )
            answer = connection.ask(_WHAT, DescribeConfigsRequest(resources=[asked]), broker_id=broker)
            (result,) = answer.results
            raise_for(result.error_code, result.error_message, bootstrap, _WHAT)
            described[broker] = {each.name: each.value for each in result.configs if each.value is not None}
    return described
