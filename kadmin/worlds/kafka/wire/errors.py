"""kafka-python's errors as kadmin's, and the rights that requests need."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafka import errors

from kadmin.cluster.ports import REFUSED, Listener, complaints, listeners_instead
from kadmin.cluster.refused_connections import kerberos_next_steps, next_step_for, tls_next_steps
from kadmin.cluster.services import service_of
from kadmin.errors import NotAuthorizedError, NotCompletedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.rights import Right
    from kadmin.cluster.servers import Servers
    from kadmin.errors import KadminError

LOST = (
    errors.KafkaConnectionError,
    errors.KafkaTimeoutError,
    errors.RequestTimedOutError,
    errors.Cancelled,
)
CREDENTIALS = (
    errors.SaslAuthenticationFailedError,
    errors.UnsupportedSaslMechanismError,
    errors.IllegalSaslStateError,
)
"""Errors by which brokers refuse credentials, or the SASL mechanism."""
_HANDSHAKE = "Handshake failed"
_UNCLEAR = "compare the TLS settings of {source} with those of the listener"
_NO_TLS = "the listener has no TLS: correct security.protocol in {source}, or the address"
_TLS_NEXT_STEPS = {
    "WRONG_VERSION_NUMBER": _NO_TLS,
    "RECORD_LAYER_FAILURE": _NO_TLS,
    **tls_next_steps(
        name="name the brokers as their certificate does: it must have the host of each listener",
        expired="have the certificate renewed that the brokers show",
        authority="name the authority's certificate in {source}: ssl.truststore.location",
        own=(
            "show a certificate that the brokers trust, with its key: ssl.keystore.location in "
            "{source}"
        ),
    ),
}
_KERBEROS_NEXT_STEPS = kerberos_next_steps(
    "name a key table in {source}: useKeyTab=true keyTab=... principal=...",
    "name the brokers as their principals do, and correct sasl.kerberos.service.name in {source}",
)
_NAMES = {-1: "UNKNOWN_SERVER_ERROR", 39: "INVALID_REPLICA_ASSIGNMENT"}
"""Kafka's names of error codes that kafka-python names differently."""


class TooLateError(UnreachableError):
    """A request was not sent, because its time had passed before it could be."""


@contextmanager
def translated(servers: Servers, what: str) -> Iterator[None]:
    """Raise kadmin's errors for those of kafka-python.

    `what` completes "The brokers did not ...".
    """
    try:
        yield
    except errors.IncompatibleBrokerVersion as error:
        raise _not_served(servers, what, str(error)) from error
    except CREDENTIALS as error:
        raise refusal_of(servers, error) or error from error
    except errors.AuthorizationError as error:
        raise NotAuthorizedError(
            f"The brokers at {servers} do not allow to {what}.", cause=reason_of(error)
        ) from error
    except (*LOST, errors.NodeNotReadyError, errors.UnknownBrokerIdError) as error:
        raise UnreachableError(
            f"No Kafka broker at {servers} answered in time to {what}.",
            cause=reason_of(error),
            next_step="check the addresses, and that the brokers run",
        ) from error
    except errors.KafkaError as error:
        raise NotCompletedError(
            f"The brokers at {servers} did not {what}.", cause=reason_of(error)
        ) from error


def unanswered(servers: Servers, error: KadminError) -> UnreachableError:
    """Return the error with each bootstrap server's behaviour as its cause.

    A closed port is no slow server.
    """
    found = complaints(servers.addresses)
    silent = set(found.values()) != {REFUSED}
    return UnreachableError(
        error.message if silent else f"Nothing listens at {servers}.",
        cause="; ".join(f"{address}: {reason}" for address, reason in found.items()),
        next_step=error.next_step,
    )


def not_brokers(servers: Servers) -> UnreachableError | None:
    """Return the error for addresses where something else listens.

    None where that is not so, or unknown.
    """
    protocol = servers.security.protocol
    wanted: tuple[Listener, ...] = (Listener.BROKER, Listener.KRAFT_BROKER)
    if protocol.has_tls or protocol.has_sasl:
        wanted = (Listener.TLS,) if protocol.has_tls else (Listener.SASL,)
    found = listeners_instead(servers.addresses, *wanted)
    if not found:
        return None
    source = servers.security.source
    if source:
        next_step = f"correct the address, or security.protocol in {source}"
    elif {Listener.TLS, Listener.SASL} & set(found.values()):
        next_step = (
            "give the address of a listener without TLS and SASL, or --command-config FILE: "
            "Kafka's client.properties"
        )
    else:
        next_step = "name brokers of the cluster: -b BROKERS"
    return UnreachableError(
        f"No Kafka broker listens at {servers} that speaks {protocol}.",
        cause="; ".join(f"{address} is {listener}" for address, listener in found.items()),
        next_step=next_step,
    )


def raise_for(
    code: int, message: str | None, servers: Servers, what: str, right: Right | None = None
) -> None:
    """Raise the error of an answer's code; 0 is none.

    `right` is the one that is missing where that is the error.
    """
    if not code:
        return
    error = errors.for_code(code)(message or error_name(code))
    if right is not None and isinstance(error, errors.AuthorizationError):
        raise NotAuthorizedError(
            f"The brokers at {servers} do not allow to {what}.",
            cause=f"{right} is missing",
            next_step=right.granted_by(servers),
        )
    with translated(servers, what):
        raise error


def error_name(code: int) -> str:
    """Return Kafka's name of an error code, as NOT_CONTROLLER for 41."""
    return _NAMES.get(code) or getattr(errors.for_code(code), "message", None) or f"error {code}"


class NotServedError(NotCompletedError):
    """The brokers are of a version, or a mode, or a service, that does not serve a request."""


def _not_served(servers: Servers, what: str, cause: str) -> NotServedError:
    """Return the error of a service or an old version; a service is known by the addresses."""
    service = service_of(servers.hosts)
    if service is not None:
        return NotServedError(
            f"{servers} is {service}, through which kadmin cannot {what}.",
            cause=cause,
            next_step=f"what it serves: {service.page}",
        )
    return NotServedError(
        f"The brokers at {servers} are too old to {what}.",
        cause=cause,
        next_step="settings need Kafka 0.11, sizes 1.1 (or a file: --sizes), reassignments 2.4",
    )


def refusal_of(servers: Servers, error: errors.KafkaError) -> NotAuthorizedError | None:
    """Return the error for a connection that TLS or SASL refused.

    None where that was not the reason.
    """
    source = servers.security.source or "FILE"
    said = reason_of(error)
    if isinstance(error, CREDENTIALS):
        said = said.rpartition("Error: ")[2] or "no reason given"
        if isinstance(error, errors.IllegalSaslStateError):
            said = "the listener has no SASL"
        elif isinstance(error, errors.UnsupportedSaslMechanismError):
            said = "the listener does not have this SASL mechanism"
        sasl = servers.security.sasl
        next_steps = _KERBEROS_NEXT_STEPS if sasl is not None and sasl.mechanism == "GSSAPI" else {}
        next_step = next_step_for(said, next_steps) or "correct the credentials in {source}"
        return NotAuthorizedError(
            f"The brokers at {servers} refuse the credentials.",
            cause=said,
            next_step=next_step.format(source=source),
        )
    found = next_step_for(said, _TLS_NEXT_STEPS)
    if found is None and _HANDSHAKE not in said:
        return None
    return NotAuthorizedError(
        f"There is no TLS connection with the brokers at {servers}.",
        cause=said.removeprefix("KafkaConnectionError: "),
        next_step=(found or _UNCLEAR).format(source=source),
    )


def reason_of(error: BaseException | None) -> str:
    """Return the message of an error of kafka-python."""
    return str(error) or type(error).__name__
