"""Credentials for ZooKeeper. Secrets are not part of any repr."""

from __future__ import annotations

import base64
import hashlib
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from cryptography.x509 import load_pem_x509_certificate

from kadmin.errors import InvalidInputError

if TYPE_CHECKING:
    from kadmin.cluster.kerberos import Kerberos


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
class Tls:
    """TLS to the servers: files in PEM.

    With certificate and key the identity is also `x509:<DN>`.
    """

    ca: str
    certificate: str | None = None
    key: str | None = None
    key_password: str | None = field(default=None, repr=False)

    @property
    def subject(self) -> str | None:
        """The name in the client's own certificate, as servers write it into ACLs.

        An example is `CN=kafka,O=example`.
        """
        if self.certificate is None:
            return None
        return load_pem_x509_certificate(
            Path(self.certificate).read_bytes()
        ).subject.rfc4514_string()

    def context(self) -> ssl.SSLContext:
        """Build the client's context; server certificate and host name are verified.

        Raises InvalidInputError for a file that cannot be used.
        """
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key, self.key_password)
        except OSError as error:
            raise InvalidInputError(
                "The TLS files cannot be used.", cause=error.strerror or str(error)
            ) from error
        return context


@dataclass(frozen=True, slots=True)
class Authentication:
    """Any combination; none of them is an anonymous, plain connection."""

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
