"""TLS of a client whose files are in PEM."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from kadmin.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Tls:
    """The TLS files of a client.

    With certificate and key it has an identity: its subject. Secrets are not part of any repr.
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
        from cryptography.x509 import load_pem_x509_certificate

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
