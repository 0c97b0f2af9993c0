"""The settings of a connection to an ensemble, and the errors that name it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.connect_string import server_name
from kadmin.cluster.kerberos import Kerberos
from kadmin.cluster.ports import ANSWER_S, Listener, listeners_instead
from kadmin.cluster.refused_connections import kerberos_next_steps, next_step_for, tls_next_steps
from kadmin.errors import (
    InvalidInputError,
    NotAuthorizedError,
    NotZooKeeperModeError,
    UnknownOutcomeError,
    UnreachableError,
)
from kadmin.next_step import command
from kadmin.worlds.zookeeper.wire import four_letter

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from kadmin.cluster.connect_string import ConnectString
    from kadmin.worlds.zookeeper.wire.authentication import Authentication

LAST_CALL_S = 0.3
"""Seconds for a call that begins after the command's end: enough to release a lock."""

_EVERY_SERVER_TAKES_BYTES = 64 * 1024
_TOO_LARGE = (
    "; it was {size:,} bytes, and a server with a smaller jute.maxbuffer cuts the connection at "
    "such a write"
)

_IN_KRAFT = (
    "name its brokers in place of ZooKeeper: -b BROKERS; a cluster in KRaft mode has no ZooKeeper"
)
_NEXT_STEPS = {
    Listener.BROKER: "give -z the brokers' zookeeper.connect",
    Listener.KRAFT_BROKER: _IN_KRAFT,
    Listener.KRAFT_CONTROLLER: _IN_KRAFT,
    Listener.TLS: (
        "name a port of ZooKeeper without TLS (clientPort), or write zookeeper.tls into the context"
    ),
    Listener.ZOOKEEPER: (
        "name a port of ZooKeeper with TLS (secureClientPort), or remove zookeeper.tls of the "
        "context"
    ),
}
"""The next step where another kind of listener answers at the address."""
_OTHER_CREDENTIALS = "correct zookeeper.sasl of the context: " + command("context show")
_KERBEROS_NEXT_STEPS = kerberos_next_steps(
    "name a key table in the context: zookeeper.sasl.keytab",
    "name the servers in zookeeper.connect as their principals do, and correct "
    "zookeeper.sasl.service of the context",
)
_TLS_NEXT_STEPS = tls_next_steps(
    name="name the servers in zookeeper.connect as their certificates do",
    expired="have the certificate renewed that the servers show",
    authority="name the certificate of the servers' authority: zookeeper.tls.ca of the context",
    own=(
        "show a certificate that the servers trust: zookeeper.tls.certificate and key of the "
        "context"
    ),
)


@dataclass(frozen=True, slots=True)
class Connection:
    """Servers, identity, a call's time limit, and the command's end: `until`, monotonic seconds."""

    connect: ConnectString
    timeout_s: float
    session_timeout_s: float
    authentication: Authentication
    tls: ssl.SSLContext | None
    until: float = math.inf

    def end(self) -> float:
        """Return the time at which a call that begins now must end, whatever answers it awaits."""
        return max(self.until, time.monotonic() + LAST_CALL_S)

    def deadline(self, end: float) -> float:
        """Return the deadline of a call that starts now: its time limit, or `end` if earlier."""
        return min(time.monotonic() + self.timeout_s, end)

    def unreachable(self, reason: str) -> UnreachableError:
        """Build the error for a deadline that passed.

        Its cause is each server's answer to `srvr`.
        """
        left_s = self.end() - time.monotonic()
        limit = (
            "before --timeout ended"
            if time.monotonic() >= self.until
            else f"within {self.timeout_s:g} s"
        )
        return UnreachableError(
            f"ZooKeeper at {self.connect} did not answer {limit} ({reason}).",
            cause=_listed(four_letter.complaints(self.connect.servers, self.tls, left_s)),
            next_step=(
                "check the address, the servers and the TLS options, then run the command again"
            ),
        )

    def not_zookeeper(self) -> NotZooKeeperModeError | None:
        """Build the error for addresses where something else listens.

        None where that is not so, or unknown.
        """
        wanted = Listener.ZOOKEEPER if self.tls is None else Listener.TLS
        within_s = min(ANSWER_S, self.end() - time.monotonic())
        found = listeners_instead(
            [server_name(server) for server in self.connect.servers], wanted, within_s=within_s
        )
        if not found:
            return None
        return NotZooKeeperModeError(
            f"No ZooKeeper server{'' if self.tls is None else ' with TLS'} listens at "
            f"{self.connect.hosts}.",
            cause="; ".join(f"{address} is {listener}" for address, listener in found.items()),
            next_step=_NEXT_STEPS[next(iter(found.values()))],
        )

    def tls_refusal(self) -> NotAuthorizedError | None:
        """Build the error where TLS fails with every server, on either side.

        None where one has another complaint.
        """
        if self.tls is None:
            return None
        found = four_letter.complaints(
            self.connect.servers, self.tls, self.end() - time.monotonic()
        )
        next_steps = [next_step_for(said, _TLS_NEXT_STEPS) for said in found.values()]
        if None in next_steps:
            return None
        return NotAuthorizedError(
            f"There is no TLS connection with ZooKeeper at {self.connect}.",
            cause=_listed(found),
            next_step=next_steps[0],
        )

    def sasl_refusal(self, reason: str) -> NotAuthorizedError:
        """Build the error for a user that the servers, or the Kerberos realm, refuse."""
        next_steps = _KERBEROS_NEXT_STEPS if isinstance(self.authentication.sasl, Kerberos) else {}
        return NotAuthorizedError(
            f"ZooKeeper at {self.connect} refuses {self.authentication}.",
            cause=reason,
            next_step=next_step_for(reason, next_steps) or _OTHER_CREDENTIALS,
        )

    def forbidden(self, what: str, reason: str) -> NotAuthorizedError:
        """Build the error for NoAuth and for refused credentials."""
        return NotAuthorizedError(
            f"ZooKeeper at {self.connect} does not allow access to {what}.",
            cause=f"{reason}: its ACL does not grant it to {self.authentication}",
            next_step=(
                "authenticate as the brokers' principal, or have it grant the right: "
                f"zookeeper-shell.sh {self.connect} getAcl {what.removeprefix('the ACL of ')}, "
                "then setAcl"
            ),
        )

    def refused(self, what: str, reason: str) -> UnreachableError:
        """Build the error for any other refusal of a whole request."""
        return UnreachableError(f"ZooKeeper at {self.connect} refused {what}.", cause=reason)

    def too_large(self, size_bytes: int, most_bytes: int) -> InvalidInputError:
        """Build the error for a write that is not sent."""
        return InvalidInputError(
            f"A write of {size_bytes:,} bytes is too large for ZooKeeper.",
            cause=(
                f"kadmin sends at most {most_bytes:,} bytes; servers cut the connection at "
                "1,048,575"
            ),
            next_step="lower spec.waves.max_partitions or spec.waves.max_payload",
        )

    def unknown(self, reason: str, size_bytes: int) -> UnknownOutcomeError:
        """Build the error for a write without an answer."""
        too_large = (
            "" if size_bytes <= _EVERY_SERVER_TAKES_BYTES else _TOO_LARGE.format(size=size_bytes)
        )
        return UnknownOutcomeError(
            f"ZooKeeper at {self.connect} did not answer a write.",
            cause=f"{reason}; it may have been applied or not{too_large}",
            next_step=command("status"),
        )


def _listed(complaints: Mapping[str, str]) -> str:
    return "; ".join(f"{server}: {reason}" for server, reason in complaints.items())
