"""What `-b` takes."""

from __future__ import annotations

import pytest

from kadmin.cluster.bootstrap import parse_bootstrap
from kadmin.errors import InvalidInputError


@pytest.mark.parametrize(
    ("given", "addresses"),
    [
        ("kafka1:9092", ("kafka1:9092",)),
        ("kafka1:9092, kafka2:9092,", ("kafka1:9092", "kafka2:9092")),
        ("PLAINTEXT://127.0.0.1:9092,[::1]:9093", ("127.0.0.1:9092", "[::1]:9093")),
    ],
)
def test_addresses_are_taken_as_kafka_s_own_tools_take_them(
    given: str, addresses: tuple[str, ...]
) -> None:
    assert parse_bootstrap(given) == addresses


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ("", "it is empty"),
        (" , ", "it is empty"),
        ("kafka1:9092,kafka2", "'kafka2' has no port; Kafka's usual one is kafka2:9092"),
        ("kafka1:abc", "the port 'abc' is not a number from 1 to 65535"),
        ("kafka1:99999", "the port '99999' is not a number from 1 to 65535"),
        ("kafka1:9092/kafka", "the port '9092/kafka' is not a number from 1 to 65535"),
        ("::1:9092", "an IPv6 address needs brackets, as in [::1]:9092"),
        (
            "SSL://kafka1:9093",
            "'SSL://kafka1:9093' is a URL; TLS and SASL are set with --command-config FILE",
        ),
    ],
)
def test_anything_else_is_refused_with_its_cause(given: str, cause: str) -> None:
    with pytest.raises(InvalidInputError, match="Not the address of a broker") as caught:
        parse_bootstrap(given)
    assert caught.value.cause == cause
