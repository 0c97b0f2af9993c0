"""Credentials and addresses that brokers, or kadmin, refuse: how they are written, and what is said
of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.kafka.secured import own_certificate, password, stranger, tls

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.kafka.secured import Secured

WRONG = "wrong"
_NOT_TRUSTED = "unable to get local issuer certificate"
_AUTHORITY = "name the authority's certificate"
_PROTOCOL = "correct the address, or security.protocol"


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong, the listener that is asked, its `client.properties`, and words of the cause
    and the remedy.
    """

    fault: str
    listener: str
    write: Callable[[Secured], dict[str, str]]
    cause: str
    remedy: str


REFUSED = (
    Refused(
        "wrong password, SCRAM",
        "SASLTLS",
        lambda at: password(at, "SCRAM-SHA-512", secret=WRONG),
        "invalid credentials with SASL mechanism SCRAM-SHA-512",
        "correct the credentials in",
    ),
    Refused(
        "wrong password, PLAIN",
        "SASLTLS",
        lambda at: password(at, secret=WRONG),
        "Invalid username or password",
        "correct the credentials in",
    ),
    Refused(
        "unknown user",
        "SASLTLS",
        lambda at: password(at, "SCRAM-SHA-512", username="nobody"),
        "invalid credentials with SASL mechanism SCRAM-SHA-512",
        "correct the credentials in",
    ),
    Refused(
        "mechanism that the listener does not have",
        "SASLTLS",
        lambda at: password(at, "SCRAM-SHA-256"),
        "the listener does not have this SASL mechanism",
        "correct the credentials in",
    ),
    Refused(
        "user without rights",
        "SASLTLS",
        lambda at: password(at, username="guest", secret="guest"),  # noqa: S106 - of a test's user
        "the right Describe on the cluster is missing",
        "--add --allow-principal User:guest --operation Describe --cluster",
    ),
    Refused(
        "expired certificate", "OLD", tls, "certificate has expired", "have the certificate renewed"
    ),
    Refused(
        "certificate for another host",
        "OTHERNAME",
        tls,
        "IP address mismatch",
        "name the brokers as their",
    ),
    Refused(
        "certificate of another authority",
        "SASLTLS",
        lambda at: password(at) | {"ssl_truststore_location": stranger(at).ca},
        _NOT_TRUSTED,
        _AUTHORITY,
    ),
    Refused(
        "certificate of an authority that this machine does not know",
        "SASLTLS",
        lambda at: {key: value for key, value in password(at).items() if "truststore" not in key},
        _NOT_TRUSTED,
        _AUTHORITY,
    ),
    Refused(
        "no certificate of one's own, and one is asked for",
        "MUTUAL",
        tls,
        "alert",
        "show a certificate",
    ),
    Refused(
        "a certificate of one's own that brokers do not trust",
        "MUTUAL",
        lambda at: own_certificate(at, stranger(at)),
        "alert",
        "show a certificate",
    ),
    Refused(
        "PLAINTEXT at a listener with TLS",
        "SASLTLS",
        lambda _: {"security_protocol": "PLAINTEXT"},
        "is a server that speaks TLS",
        _PROTOCOL,
    ),
    Refused(
        "PLAINTEXT at a listener with SASL",
        "SASL",
        lambda _: {"security_protocol": "PLAINTEXT"},
        "is a Kafka server that asks for SASL",
        _PROTOCOL,
    ),
    Refused("TLS at a listener without it", "PLAINTEXT", tls, "is a Kafka broker", _PROTOCOL),
    Refused(
        "SASL at a listener without it",
        "PLAINTEXT",
        lambda at: password(at) | {"security_protocol": "SASL_PLAINTEXT"},
        "is a Kafka broker",
        _PROTOCOL,
    ),
    Refused(
        "TLS alone at a listener with TLS and SASL",
        "SASLTLS",
        tls,
        "the listener asks for SASL, by SCRAM",
        "correct the credentials in",
    ),
    Refused(
        "SASL at a listener with TLS alone",
        "OTHERNAME",
        lambda at: password(at) | {"ssl_endpoint_identification_algorithm": ""},
        "the listener has no SASL",
        "correct the credentials in",
    ),
)
