"""Registrations of brokers (UnregisterBroker, KIP-500), and features that they block (KIP-584).

KRaft mode only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka.protocol.admin import UpdateFeaturesRequest
from kafka.protocol.metadata import ApiVersionsRequest

from kadmin.cluster.rights import Right
from kadmin.worlds.kafka.wire.errors import raise_for
from kadmin.worlds.kafka.wire.messages import UnregisterBrokerRequest
from kadmin.worlds.kafka.wire.refusals import CHANGE_S, NOT_AUTHORIZED, refusal, require_confirmed

if TYPE_CHECKING:
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.refusals import Refusal

METADATA_VERSION = "metadata.version"
NOT_REGISTERED = 102
"""BROKER_ID_NOT_REGISTERED."""
_WITH_FEATURES = 3
"""The first version of ApiVersions with features (Kafka 2.7)."""
_VALIDATES = 1
"""The first version of UpdateFeatures that can only validate (Kafka 3.3)."""


@dataclass(frozen=True, slots=True)
class FeatureLevels:
    """The level of metadata.version in force, and the highest one of the broker that was asked."""

    finalized: int
    supported: int


def unregister_broker(
    connection: KafkaConnection, broker_id: int, *, send_by: float = math.inf
) -> Refusal | None:
    """Ask the controller to unregister a broker; returns None where it did.

    The controller checks nothing else: neither that the broker is dead, nor that it is in no list.
    Raises as `KafkaConnection.change` does; what was not answered may still be applied.
    """
    what = f"unregister broker {broker_id}"
    answer = connection.change(
        what, UnregisterBrokerRequest(broker_id=broker_id), timeout_s=CHANGE_S, send_by=send_by
    )
    require_confirmed([answer.error_code], f"removal of broker {broker_id}")
    if answer.error_code in NOT_AUTHORIZED:
        raise_for(answer.error_code, answer.error_message, connection.servers, what, Right("Alter"))
    return refusal(answer.error_code, answer.error_message)


def metadata_levels(connection: KafkaConnection, broker_id: int) -> FeatureLevels | None:
    """Return the levels of metadata.version by one broker; None where it reports none.

    Raises as `KafkaConnection.ask` does.
    """
    what = "describe features"
    request = ApiVersionsRequest(
        client_software_name="kadmin", client_software_version="1", min_version=_WITH_FEATURES
    )
    answer = connection.ask(what, request, broker_id=broker_id)
    raise_for(answer.error_code, None, connection.servers, what)
    supported = {each.name: each.max_version for each in answer.supported_features or ()}
    finalized = {each.name: each.max_version_level for each in answer.finalized_features or ()}
    if not {METADATA_VERSION} <= supported.keys() & finalized.keys():
        return None
    return FeatureLevels(finalized[METADATA_VERSION], supported[METADATA_VERSION])


def validate_upgrade(connection: KafkaConnection, level: int) -> Refusal | None:
    """Return the reason that metadata.version cannot be raised to a level; nothing is changed.

    Raises as `KafkaConnection.ask` does.
    """
    what, update = "validate an upgrade of features", UpdateFeaturesRequest.FeatureUpdateKey
    request = UpdateFeaturesRequest(
        timeout_ms=int(CHANGE_S * 1000),
        feature_updates=[update(feature=METADATA_VERSION, max_version_level=level)],
        validate_only=True,
        min_version=_VALIDATES,
    )
    answer = connection.ask(what, request)
    if answer.error_code in NOT_AUTHORIZED:
        raise_for(answer.error_code, answer.error_message, connection.servers, what, Right("Alter"))
    refused = [(each.error_code, each.error_message) for each in answer.results or ()]
    code, message = next(
        (each for each in ((answer.error_code, answer.error_message), *refused) if each[0]),
        (0, None),
    )
    return refusal(code, message)
