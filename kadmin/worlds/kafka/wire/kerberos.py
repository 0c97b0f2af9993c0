"""GSSAPI in kafka-python, with the tickets of `kadmin.cluster.kerberos`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafka.errors import SaslAuthenticationFailedError
from kafka.net.sasl import register_sasl_mechanism
from kafka.net.sasl.gssapi import SaslMechanismGSSAPI

from kadmin.cluster.kerberos import Kerberos, KerberosError, refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class BrokerKerberos(Kerberos):
    """GSSAPI for connections to brokers."""

    __slots__ = ()

    def settings(self) -> dict[str, Any]:
        """Return kafka-python's settings: without one for a key table, they pass this value on."""
        return {"sasl_kerberos_name": self}


class _Gssapi(SaslMechanismGSSAPI):  # type: ignore[misc] # kafka-python ships no types
    """kafka-python's mechanism with these credentials.

    Refusals of Kerberos become authentication errors.
    """

    def __init__(self, *, host: str, sasl_kerberos_name: BrokerKerberos, **_: object) -> None:
        self._is_done = self._is_authenticated = False
        self.auth_id = f"{sasl_kerberos_name.service}@{host}"
        with _translated():
            self._client_ctx = sasl_kerberos_name.context(host)
            self._next_token = self._client_ctx.step(None)

    def receive(self, auth_bytes: bytes) -> None:
        """Process a token of the broker."""
        with _translated():
            super().receive(auth_bytes)

    def auth_details(self) -> str:
        """Name the requested identity: the library has none for a context with an ended ticket."""
        return f"Authenticated to {self.auth_id} via SASL / GSSAPI"


@contextmanager
def _translated() -> Iterator[None]:
    try:
        with refused():
            yield
    except KerberosError as error:
        raise SaslAuthenticationFailedError(str(error)) from error


register_sasl_mechanism(Kerberos.mechanism, _Gssapi, overwrite=True)
