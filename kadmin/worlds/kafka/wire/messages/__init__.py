"""Messages of Kafka's protocol that kafka-python lacks.

The JSON files beside this one hold the fields of each message, as kafka-python reads its own.
"""

from __future__ import annotations

from typing import Any

from kafka.protocol.api_message import ApiMessage


def _message(name: str) -> Any:  # noqa: ANN401 - kafka-python ships no types
    return type(ApiMessage)(name, (ApiMessage,), {"__module__": __name__}, load_json=__name__)


# KIP-848, Kafka 3.7 and later. kafka-python finds the class of a response by that of its request.
ConsumerGroupDescribeRequest = _message("ConsumerGroupDescribeRequest")
ConsumerGroupDescribeResponse = _message("ConsumerGroupDescribeResponse")
# KIP-932, Kafka 4.1 and later.
ShareGroupDescribeRequest = _message("ShareGroupDescribeRequest")
ShareGroupDescribeResponse = _message("ShareGroupDescribeResponse")
# KIP-1071, Kafka 4.1 and later.
StreamsGroupDescribeRequest = _message("StreamsGroupDescribeRequest")
StreamsGroupDescribeResponse = _message("StreamsGroupDescribeResponse")
# KIP-500, Kafka 2.8 and later.
UnregisterBrokerRequest = _message("UnregisterBrokerRequest")
UnregisterBrokerResponse = _message("UnregisterBrokerResponse")
