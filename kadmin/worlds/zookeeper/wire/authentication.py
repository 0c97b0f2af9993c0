"""Credentials for ZooKeeper. Secrets are not part of any repr."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import ssl

    from kadmin.cluster.kerberos import Kerberos
    from kadmin.cluster.tls import Tls


@dataclass(frozen=True, slots=True)
class Sasl:
    """SASL DIGEST-MD5, as brokers use it with `zookeeper.set.acl=true`.

    The identity becomes `sasl:<username>`.
    """

    username: str
    password: str = field(repr=False)
    mechanism: ClassVar[str] = "DIGEST-MD5"

    @property
    def principal(self) -> str:
        """The user's name."""
        return self.username


@dataclass(frozen=True, slots=True)
class Digest:
    """ZooKeeper's digest scheme, mainly for its super user."""

    username: str
    password: str = field(repr=False)

    @property
    def credential(self) -> str:
        """The id in ACLs: the name and a hash (SHA-1, base64) of name and password."""
        hashed = hashlib.sha1(
            f"{self.username}:{self.password}".encode(), usedforsecurity=False
        ).digest()
        return f"{self.username}:{base64.b64encode(hashed).decode()}"


@dataclass(frozen=True, slots=True)
class Authentication:
    """Any combination; none of them is an anonymous, plain connection.

    With the certificate of `tls` the identity is also `x509:<DN>`.
    """

    sasl: Sasl | Kerberos | None = None
    digest: Digest | None = None
    tls: Tls | None = None

    def __str__(self) -> str:
        return self.principal or "an anonymous client"

    @property
    def principal(self) -> str | None:
        """The client's identity for ZooKeeper, as `sasl:kadmin`; that of a digest has no hash.

        None if anonymous.
        """
        if self.sasl is not None:
            return f"sasl:{self.sasl.principal}"
        if self.digest is not None:
            return f"digest:{self.digest.username}"
        subject = None if self.tls is None else self.tls.subject
        return None if subject is None else f"x509:{subject}"

    def tls_context(self) -> ssl.SSLContext | None:
        """Return the TLS context, None for plain connections; raises InvalidInputError."""
        return None if self.tls is None else self.tls.context()
