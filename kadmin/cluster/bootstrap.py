"""Brokers' addresses as Kafka's own tools take them: `host:port[,host:port...]`."""

from __future__ import annotations

from kadmin.cluster.addresses import parse_server
from kadmin.errors import InvalidInputError

_USUAL = "Kafka's usual one is {}:9092"


def parse_bootstrap(given: str) -> tuple[str, ...]:
    """Return the addresses, without blanks, empty ones and `PLAINTEXT://`.

    Raises InvalidInputError.
    """
    addresses = tuple(
        each.strip().removeprefix("PLAINTEXT://") for each in given.split(",") if each.strip()
    )
    if not addresses:
        raise _invalid(given, "it is empty")
    for each in addresses:
        if "://" in each:
            raise _invalid(
                given, f"{each!r} is a URL; TLS and SASL are set with --command-config FILE"
            )
        try:
            parse_server(each, _USUAL)
        except ValueError as error:
            raise _invalid(given, str(error)) from error
    return addresses


def _invalid(given: str, cause: str) -> InvalidInputError:
    return InvalidInputError(
        f"Not the address of a broker: {given!r}.",
        cause=cause,
        next_step="write host:port[,host:port...]",
    )
