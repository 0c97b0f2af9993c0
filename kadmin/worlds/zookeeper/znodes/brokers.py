"""Broker registrations, `/brokers/ids/<id>`, versions 1 to 5 (Kafka: BrokerIdZNode).

1: host and port. 2 (0.9): + endpoints. 3 (0.10.0): + rack. 4 (0.10.2): +
listener_security_protocol_map.
5 (2.7): + features. `host` and `port` are those of the first PLAINTEXT listener, null and -1
without one: `endpoints` takes precedence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kadmin.cluster.model import Broker, Endpoint
from kadmin.worlds.zookeeper.znodes.values import (
    MalformedZnodeError,
    decode_object,
    integer,
    mapping,
    text,
)

if TYPE_CHECKING:
    from kadmin.worlds.zookeeper.model import Znode

BROKER_IDS = "/brokers/ids"
_ENDPOINT = re.compile(r"(?P<listener>[^:]+)://\[?(?P<host>[^\]]*?)\]?:(?P<port>-?[0-9]+)")


def broker_path(broker_id: int) -> str:
    """Return the path of a broker's registration, an ephemeral znode."""
    return f"{BROKER_IDS}/{broker_id}"


def decode_broker(broker_id: int, node: Znode) -> Broker:
    """Decode the registration of a broker, of any version."""
    value = decode_object(node.path, node.data)
    rack = value.get("rack")
    return Broker(
        broker_id=broker_id,
        rack=None if rack is None else text(node.path, rack, "rack"),
        endpoints=_endpoints(node.path, value),
        registration_version=integer(node.path, value.get("version"), "version"),
        since_ms=node.created_ms,
    )


def _endpoints(path: str, value: dict[str, Any]) -> tuple[Endpoint, ...]:
    listed = value.get("endpoints")
    if listed is None:
        host = text(path, value.get("host"), "host")
        return (Endpoint("PLAINTEXT", host, integer(path, value.get("port"), "port"), "PLAINTEXT"),)
    if not isinstance(listed, list):
        raise MalformedZnodeError(path, f"endpoints is not a list: {listed!r}")
    protocols = mapping(
        path, value.get("listener_security_protocol_map") or {}, "listener_security_protocol_map"
    )
    return tuple(_endpoint(path, text(path, each, "endpoint"), protocols) for each in listed)


def _endpoint(path: str, given: str, protocols: dict[str, Any]) -> Endpoint:
    found = _ENDPOINT.fullmatch(given)
    if found is None:
        raise MalformedZnodeError(path, f"not an endpoint: {given!r}")
    listener = found["listener"]
    protocol = text(path, protocols.get(listener, listener), "security protocol")
    return Endpoint(listener, found["host"], int(found["port"]), protocol)
