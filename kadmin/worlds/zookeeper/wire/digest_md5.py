"""SASL DIGEST-MD5 (RFC 2831) as ZooKeeper speaks it: one challenge, one response, and the server's own proof.

Pure. ZooKeeper's servers have the realm and the host name `zk-sasl-md5`, whatever their address
(SecurityUtils.java), and offer authentication alone (`qop=auth`).
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass

_DIGEST_URI = "zookeeper/zk-sasl-md5"
_COUNT = "00000001"
_DIRECTIVE = re.compile(r'([a-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^,"]*))(?:,|$)')
_ESCAPED = re.compile(r"\\(.)")


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
    """Answer a server's challenge; raises DigestMd5Error for a challenge that cannot be answered."""
    if not challenge:
        raise DigestMd5Error("the server has no SASL")
    given = _directives(challenge)
    nonce, realm = given.get("nonce"), given.get("realm", "")
    if nonce is None or "auth" not in given.get("qop", "auth").split(","):
        raise DigestMd5Error("its challenge is not one of DIGEST-MD5")
    secret = hashlib.md5(b":".join(map(_hashed, (username, realm, password))), usedforsecurity=False).digest()
    session = _md5(b"%s:%s:%s" % (secret, nonce.encode(), client_nonce.encode()))

    def proof(method: str) -> str:
        asked = _md5(f"{method}:{_DIGEST_URI}".encode())
        return _md5(f"{session}:{nonce}:{_COUNT}:{client_nonce}:auth:{asked}".encode())

    quoted = {"username": username, "realm": realm, "nonce": nonce, "cnonce": client_nonce, "digest-uri": _DIGEST_URI}
    plain = {"nc": _COUNT, "qop": "auth", "response": proof("AUTHENTICATE"), "charset": "utf-8"}
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
