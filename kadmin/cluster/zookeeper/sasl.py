"""Authenticates each new connection of a KazooClient by SASL DIGEST-MD5.

It takes the place of kazoo's own exchange, which needs a package that is no longer maintained, never ends where a
server has no SASL, and takes a connection that is cut in the middle for a wrong password.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import AuthFailedError, ConnectionDropped
from kazoo.protocol.serialization import SASL

from kadmin.cluster.zookeeper.digest_md5 import DigestMd5Error, respond

if TYPE_CHECKING:
    from kadmin.cluster.zookeeper.authentication import Sasl

_DROPS = 3
"""Servers answer wrong credentials by closing the connection: as often, one after the other, no outage does."""


class SaslLogin:
    """Authenticates the connections of one client; `refusal` says why servers refused the last one."""

    def __init__(self, sasl: Sasl) -> None:
        self._sasl = sasl
        self._drops = 0
        self.refusal: str | None = None

    def log_in(self, connection: Any, timeout_s: float) -> None:  # noqa: ANN401 - kazoo ships no types
        """Authenticate a connection that has a session; raises kazoo's errors, AuthFailedError where it is refused."""
        try:
            challenge = _exchange(connection, b"", 1, timeout_s)
            response = respond(challenge, self._sasl.username, self._sasl.password, secrets.token_hex(16))
            response.require_proof(_exchange(connection, response.message, 2, timeout_s))
        except DigestMd5Error as error:
            raise self._refused(str(error)) from error
        except AuthFailedError as error:
            raise self._refused("unknown user or wrong password") from error
        except ConnectionDropped as error:
            self._drops += 1
            if self._drops < _DROPS:
                raise
            raise self._refused("the server closes the connection when asked for SASL") from error
        self._drops = 0

    def _refused(self, reason: str) -> AuthFailedError:
        self.refusal = reason
        return AuthFailedError(reason)


def _exchange(connection: Any, message: bytes, xid: int, timeout_s: float) -> bytes:  # noqa: ANN401 - as above
    connection._submit(SASL(message), timeout_s, xid)  # noqa: SLF001 - no public way exists
    header, buffer, offset = connection._read_header(timeout_s)  # noqa: SLF001 - as above
    if header.err:
        raise AuthFailedError(header.err)
    found: bytes | None = SASL.deserialize(buffer, offset)[0]
    return found or b""
