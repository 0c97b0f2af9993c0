"""Credentials for ZooKeeper. Secrets are not part of any repr."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from importlib.util import find_spec

from kadmin.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Sasl:
    """SASL, as brokers use it with `zookeeper.set.acl=true`: the identity becomes `sasl:<username>`."""

    username: str
    password: str = field(repr=False)
    mechanism: str = "DIGEST-MD5"


@dataclass(frozen=True, slots=True)
class Digest:
    """ZooKeeper's digest scheme, mainly for its super user."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Tls:
    """TLS to the servers: files in PEM. With certificate and key the identity is also `x509:<DN>`."""

    ca: str
    certificate: str | None = None
    key: str | None = None
    key_password: str | None = field(default=None, repr=False)

    def context(self) -> ssl.SSLContext:
        """Build the client's context; server certificate and host name are verified.

        Raises InvalidInputError for a file that cannot be used.
        """
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key, self.key_password)
        except OSError as error:
            raise InvalidInputError("The TLS files cannot be used.", cause=error.strerror or str(error)) from error
        return context


@dataclass(frozen=True, slots=True)
class Authentication:
    """Any combination; none of them is an anonymous, plain connection."""

    sasl: Sasl | None = None
    digest: Digest | None = None
    tls: Tls | None = None

    def tls_context(self) -> ssl.SSLContext | None:
        """Return the TLS context, None for plain connections; raises InvalidInputError."""
        if self.sasl is not None and find_spec("puresasl") is None:
            raise InvalidInputError("SASL needs the package pure-sasl.", next_command="pip install pure-sasl")
        return None if self.tls is None else self.tls.context()
