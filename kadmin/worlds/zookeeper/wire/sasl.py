"""Authenticates each new connection of a KazooClient by SASL.

It uses DIGEST-MD5, or GSSAPI with a ticket of that moment. It takes the place of kazoo's own
exchange, which needs a package that is no longer maintained, never ends where a server has no SASL,
and takes a connection that is cut in the middle for a wrong password.

DIGEST-MD5 is RFC 2831: one challenge, one response, and the server's own proof. ZooKeeper's servers
have the realm and the host name `zk-sasl-md5`, whatever their address (SecurityUtils.java), and
offer authentication alone (`qop=auth`). GSSAPI is RFC 4752: tokens until both sides are proved,
then the choice of no layer.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import re
import secrets
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import AuthFailedError, ConnectionDropped
from kazoo.protocol.serialization import SASL

from kadmin.cluster.kerberos import Kerberos, KerberosError, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.worlds.zookeeper.wire.authentication import Sasl

_DROPS = 3
"""Closed connections in a row that count as wrong credentials, which servers answer by closing the
connection."""
_REFUSED = {
    "DIGEST-MD5": "unknown user or wrong password",
    "GSSAPI": (
        "the server does not take the ticket: it has another key of its service, or another "
        "mechanism"
    ),
}
_DIGEST_URI = "zookeeper/zk-sasl-md5"
_NONCE_COUNT = "00000001"
_DIRECTIVE = re.compile(r'([a-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^,"]*))(?:,|$)')
_ESCAPED = re.compile(r"\\(.)")
_NO_LAYER = 1
_OFFER_BYTES = 4


class SaslLogin:
    """Authenticates the connections of one client.

    `refusal` is the servers' reason for refusing the last one.
    """

    def __init__(self, sasl: Sasl | Kerberos) -> None:
        self._sasl = sasl
        self._drops = 0
        self.refusal: str | None = None

    def log_in(self, connection: Any, host: str, timeout_s: float) -> None:  # noqa: ANN401 - kazoo ships no types
        """Authenticate a connection that has a session.

        Raises kazoo's errors, AuthFailedError where it is refused.
        """
        exchange = partial(_exchange, connection, itertools.count(1), timeout_s)
        try:
            if isinstance(self._sasl, Kerberos):
                _prove_by_ticket(self._sasl, host, exchange)
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


class DigestMd5Error(ValueError):
    """A message of the server's that is no answer of DIGEST-MD5."""


@dataclass(frozen=True, slots=True)
class DigestMd5Response:
    """The response of the client, and the proof that a server with the password sends back."""

    message: bytes
    proof: str

    def require_proof(self, message: bytes) -> None:
        """Raise DigestMd5Error unless the server's last message proves that it has the password."""
        if not hmac.compare_digest(_directives(message).get("rspauth", ""), self.proof):
            raise DigestMd5Error("the server does not prove that it knows the password")


def respond(challenge: bytes, username: str, password: str, client_nonce: str) -> DigestMd5Response:
    """Answer a server's challenge.

    Raises DigestMd5Error for a challenge that cannot be answered.
    """
    if not challenge:
        raise DigestMd5Error("the server has no SASL")
    given = _directives(challenge)
    nonce, realm = given.get("nonce"), given.get("realm", "")
    if nonce is None or "auth" not in given.get("qop", "auth").split(","):
        raise DigestMd5Error("its challenge is not one of DIGEST-MD5")
    secret = hashlib.md5(
        b":".join(map(_hashed, (username, realm, password))), usedforsecurity=False
    ).digest()
    session = _md5(b"%s:%s:%s" % (secret, nonce.encode(), client_nonce.encode()))

    def proof(method: str) -> str:
        asked = _md5(f"{method}:{_DIGEST_URI}".encode())
        return _md5(f"{session}:{nonce}:{_NONCE_COUNT}:{client_nonce}:auth:{asked}".encode())

    quoted = {
        "username": username,
        "realm": realm,
        "nonce": nonce,
        "cnonce": client_nonce,
        "digest-uri": _DIGEST_URI,
    }
    plain = {
        "nc": _NONCE_COUNT,
        "qop": "auth",
        "response": proof("AUTHENTICATE"),
        "charset": "utf-8",
    }
    directives = [f'{name}="{_quoted(value)}"' for name, value in quoted.items()]
    directives += [f"{name}={value}" for name, value in plain.items()]
    return DigestMd5Response(",".join(directives).encode(), proof(""))


def _directives(message: bytes) -> dict[str, str]:
    found = _DIRECTIVE.findall(message.decode("utf-8", errors="replace"))
    return {name: _ESCAPED.sub(r"\1", quoted) or plain for name, quoted, plain in found}


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _hashed(text: str) -> bytes:
    # RFC 2831, 2.1.2.1: what ISO 8859-1 can express is hashed in it, all else in UTF-8.
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _prove_by_ticket(user: Kerberos, host: str, exchange: Callable[[bytes], bytes]) -> None:
    """Authenticate with the server on a host; `exchange` sends a message and returns the answer.

    Raises KerberosError, and whatever `exchange` raises.
    """
    context = user.context(host)
    with refused():
        token = context.step(None)
    answer = exchange(token)
    if not answer:
        raise KerberosError("the server has no SASL")
    while not context.complete:
        with refused():
            token = context.step(answer)
        answer = exchange(token or b"")
    with refused():
        choice = choose_no_layer(context.unwrap(answer).message)
        message = context.wrap(choice, False).message  # noqa: FBT003 - as gssapi has it
    exchange(message)


def choose_no_layer(offer: bytes) -> bytes:
    """Answer a server's offer of security layers: a bit for each, and the size of messages.

    The answer has no name: the server uses the one in the ticket. Raises KerberosError where a
    layer is required.
    """
    if len(offer) != _OFFER_BYTES or not offer[0] & _NO_LAYER:
        raise KerberosError(
            "the server wants a security layer, which connections of ZooKeeper do not have"
        )
    return bytes([_NO_LAYER, 0, 0, 0])
