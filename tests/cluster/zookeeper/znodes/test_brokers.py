"""Registrations of brokers, as every version of Kafka writes them."""

from __future__ import annotations

import pytest
from support.zookeeper.encoded import node

from kadmin.cluster.model import Broker, Endpoint
from kadmin.worlds.zookeeper.znodes.brokers import broker_path, decode_broker
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError

HOST = {"host": "h1", "port": 9092, "jmx_port": -1, "timestamp": "1795243073812"}
PLAIN = Endpoint("PLAINTEXT", "h1", 9092, "PLAINTEXT")


@pytest.mark.parametrize(
    ("value", "rack", "endpoints"),
    [
        ({"version": 1, **HOST}, None, (PLAIN,)),
        ({"version": 2, **HOST, "endpoints": ["PLAINTEXT://h1:9092"]}, None, (PLAIN,)),
        (
            {"version": 3, **HOST, "endpoints": ["PLAINTEXT://h1:9092"], "rack": "r1"},
            "r1",
            (PLAIN,),
        ),
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
            (
                Endpoint("INSIDE", "::1", 9093, "SSL"),
                Endpoint("SASL_SSL", "h-1.example.org", 9094, "SASL_SSL"),
            ),
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
def test_broker_registrations(
    value: dict[str, object], rack: str | None, endpoints: tuple[Endpoint, ...]
) -> None:
    version = value["version"]
    assert isinstance(version, int)
    found = decode_broker(3, node(broker_path(3), value))
    assert found == Broker(3, rack, endpoints, registration_version=version)


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
