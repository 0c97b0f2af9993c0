"""The addresses of a cluster's brokers, and the protocol and credentials of a client."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from kadmin.errors import NotCompletedError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence
    from pathlib import Path


class SecurityProtocol(StrEnum):
    """Kafka's `security.protocol`: the protocol of a listener."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def has_tls(self) -> bool:
        """Whether the connections use TLS."""
        return self in {SecurityProtocol.SSL, SecurityProtocol.SASL_SSL}

    @property
    def has_sasl(self) -> bool:
        """Whether clients authenticate by SASL."""
        return self in {SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL}


class Mechanism(Protocol):
    """A SASL mechanism with its credentials. Secrets are not part of any repr."""

    @property
    def mechanism(self) -> str:
        """Kafka's name of the mechanism, such as SCRAM-SHA-512."""
        ...

    @property
    def principal(self) -> str | None:
        """The name that brokers give the client by default.

        None where the mechanism does not imply it.
        """
        ...

    def settings(self) -> dict[str, Any]:
        """Return kafka-python's settings for it."""
        ...


@dataclass(frozen=True, slots=True)
class Security:
    """The security protocol and credentials of a Kafka client.

    By default it neither encrypts nor authenticates. `tls` is given where the protocol has TLS,
    `sasl` where it has SASL. `source` is the file of these settings.
    """

    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    tls: ssl.SSLContext | None = None
    sasl: Mechanism | None = None
    source: Path | None = None

    def settings(self) -> dict[str, Any]:
        """Return kafka-python's settings for it."""
        found: dict[str, Any] = {"security_protocol": self.protocol.value, "ssl_context": self.tls}
        if self.sasl is not None:
            found |= {"sasl_mechanism": self.sasl.mechanism, **self.sasl.settings()}
        return found


PLAIN = Security()


@dataclass(frozen=True, slots=True)
class Servers:
    """Addresses of a cluster's brokers, `host:port`, and a client's security there.

    `unasked`: no request may be sent to these brokers.
    """

    addresses: Sequence[str]
    security: Security = PLAIN
    unasked: bool = False

    def __str__(self) -> str:
        return ",".join(self.addresses)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The addresses without their ports."""
        return tuple(each.rpartition(":")[0] for each in self.addresses)

    def require(self) -> None:
        """Raise NotCompletedError where there is no address, or brokers are not to be asked."""
        if self.unasked:
            raise NotCompletedError("brokers are not asked: --without-brokers is set")
        if not self.addresses:
            raise NotCompletedError(
                f"no broker has a {self.security.protocol} listener",
                next_step=(
                    "name a file for another one with --command-config FILE: Kafka's "
                    "client.properties"
                ),
            )

    @property
    def options(self) -> str:
        """The options of Kafka's own tools that connect to them."""
        source = self.security.source
        return f"--bootstrap-server {self}" + (
            "" if source is None else f" --command-config {source}"
        )

    @property
    def principal(self) -> str:
        """The principal of a grant, such as `User:kadmin`.

        `User:NAME` where the name is unknown.
        """
        sasl = self.security.sasl
        return f"User:{(sasl and sasl.principal) or 'NAME'}"
