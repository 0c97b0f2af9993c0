"""How an ensemble is reached, and what is said when it cannot be."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper import four_letter
from kadmin.errors import InvalidInputError, NotAuthorizedError, UnknownOutcomeError, UnreachableError

if TYPE_CHECKING:
    import ssl

    from kadmin.cluster.zookeeper.addresses import ConnectString
    from kadmin.cluster.zookeeper.authentication import Authentication

LAST_CALL_S = 0.3
"""What a call gets that begins after the command's end: enough to give back a lock, not to make anybody wait."""

_EVERY_SERVER_TAKES_BYTES = 64 * 1024
_TOO_LARGE = "; it was {size:,} bytes, and a server with a smaller jute.maxbuffer cuts the connection at such a write"


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the servers are, as whom kadmin comes, how long one call may take, and when the command ends.

    `until` is in monotonic seconds.
    """

    connect: ConnectString
    timeout_s: float
    session_timeout_s: float
    authentication: Authentication
    tls: ssl.SSLContext | None
    until: float = math.inf

    def end(self) -> float:
        """Return when whatever begins now is over, however many answers it waits for."""
        return max(self.until, time.monotonic() + LAST_CALL_S)

    def deadline(self, end: float) -> float:
        """Return when an answer that is awaited from now on is given up."""
        return min(time.monotonic() + self.timeout_s, end)

    def unreachable(self, reason: str) -> UnreachableError:
        """Build the error for a deadline that passed; every server is asked once more what is wrong with it."""
        left_s = self.end() - time.monotonic()
        limit = "before --timeout ended" if time.monotonic() >= self.until else f"within {self.timeout_s:g} s"
        return UnreachableError(
            f"ZooKeeper at {self.connect} did not answer {limit} ({reason}).",
            cause=four_letter.complaints(self.connect.servers, self.tls, left_s),
            next_command="check the address, that the servers run, and TLS where it is used; then try again",
        )

    def forbidden(self, what: str, reason: str) -> NotAuthorizedError:
        """Build the error for NoAuth and for refused credentials."""
        return NotAuthorizedError(
            f"ZooKeeper at {self.connect} does not allow access to {what}.",
            cause=f"{reason}: its ACL does not grant it to this identity, or the credentials are wrong",
            next_command="use the brokers' own identity: secured clusters grant writes to that one alone",
        )

    def refused(self, what: str, reason: str) -> UnreachableError:
        """Build the error for any other refusal of a whole request."""
        return UnreachableError(f"ZooKeeper at {self.connect} refused {what}.", cause=reason)

    def too_large(self, size_bytes: int, most_bytes: int) -> InvalidInputError:
        """Build the error for a write that is not even tried."""
        return InvalidInputError(
            f"A write of {size_bytes:,} bytes is too large for ZooKeeper.",
            cause=f"kadmin sends at most {most_bytes:,} bytes; servers cut the connection at 1,048,575",
            next_command="make it smaller: fewer partitions per wave (waves.max_partitions, waves.max_payload)",
        )

    def unknown(self, reason: str, size_bytes: int) -> UnknownOutcomeError:
        """Build the error for a write whose answer never came."""
        hint = "" if size_bytes <= _EVERY_SERVER_TAKES_BYTES else _TOO_LARGE.format(size=size_bytes)
        return UnknownOutcomeError(
            f"A write was sent to ZooKeeper at {self.connect}, and no answer came.",
            cause=f"{reason}; it may have been applied or not{hint}",
            next_command="kadmin status",
        )
