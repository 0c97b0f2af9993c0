"""Authenticates each new connection of a KazooClient by SASL: DIGEST-MD5, or GSSAPI with a ticket of that moment.

It takes the place of kazoo's own exchange, which needs a package that is no longer maintained, never ends where a
server has no SASL, and takes a connection that is cut in the middle for a wrong password.
"""

from __future__ import annotations

import itertools
import secrets
from functools import partial
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import AuthFailedError, ConnectionDropped
from kazoo.protocol.serialization import SASL

from kadmin.cluster.kerberos import Kerberos, KerberosError
from kadmin.worlds.zookeeper.wire.digest_md5 import DigestMd5Error, respond
from kadmin.worlds.zookeeper.wire.gssapi_exchange import prove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.worlds.zookeeper.wire.authentication import Sasl

_DROPS = 3
"""Closed connections in a row that count as wrong credentials, which servers answer by closing the connection."""
_REFUSED = {
    "DIGEST-MD5": "unknown user or wrong password",
    "GSSAPI": "the server does not take the ticket: it has another key of its service, or another mechanism",
}


class SaslLogin:
    """Authenticates the connections of one client; `refusal` is the servers' reason for refusing the last one."""

    def __init__(self, sasl: Sasl | Kerberos) -> None:
        self._sasl = sasl
        self._drops = 0
        self.refusal: str | None = None

    def log_in(self, connection: Any, host: str, timeout_s: float) -> None:  # noqa: ANN401 - kazoo ships no types
        """Authenticate a connection that has a session; raises kazoo's errors, AuthFailedError where it is refused."""
        exchange = partial(_exchange, connection, itertools.count(1), timeout_s)
        try:
            if isinstance(self._sasl, Kerberos):
                prove(self._sasl, host, exchange)
            else:
                _prove_by_password(self._sasl, exchange)
        except (DigestMd5Error, KerberosError) as error:
            raise self._refused(str(error)) from error
        except AuthFailedError as error:
            raise self._refused(_REFUSED[self._sasl.mechanism]) from error
        except ConnectionDropped as error:
            self._drops += 1
            if self._drops < _DROPS:
                raise
            raise self._refused("the server closes the connection when asked for SASL") from error
        self._drops = 0

    def _refused(self, reason: str) -> AuthFailedError:
        self.refusal = reason
        return AuthFailedError(reason)


def _prove_by_password(sasl: Sasl, exchange: Callable[[bytes], bytes]) -> None:
    try:
        challenge = exchange(b"")
    except AuthFailedError as error:
        raise DigestMd5Error("the server does not have DIGEST-MD5") from error
    response = respond(challenge, sasl.username, sasl.password, secrets.token_hex(16))
    response.require_proof(exchange(response.message))


def _exchange(connection: Any, xids: Iterator[int], timeout_s: float, message: bytes) -> bytes:  # noqa: ANN401 - as above
    connection._submit(SASL(message), timeout_s, next(xids))  # noqa: SLF001 - no public way exists
    header, buffer, offset = connection._read_header(timeout_s)  # noqa: SLF001 - as above
    if header.err:
        raise AuthFailedError(header.err)
    found: bytes | None = SASL.deserialize(buffer, offset)[0]
    return found or b""
