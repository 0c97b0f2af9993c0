"""GSSAPI: tickets of a key table or of a cache, and what Kerberos says when it gives none."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

from kafka.errors import SaslAuthenticationFailedError
from kafka.net.sasl import register_sasl_mechanism
from kafka.net.sasl.gssapi import SaslMechanismGSSAPI

if TYPE_CHECKING:
    from collections.abc import Iterator


_NOTHING_SAID = "Success"
_NO_CACHE = -1765328189 % 2**32
"""KRB5_FCC_NOFILE: nothing was had for the cache in memory, and so there is none."""


@dataclass(frozen=True, slots=True)
class Kerberos:
    """GSSAPI as `user`, with the key table, or else with a ticket of this machine's cache.

    Tickets of a key table are in memory; the library renews them, for the next connection, after half of their time.
    """

    service: str
    user: str | None = None
    keytab: str | None = None
    mechanism: ClassVar[str] = "GSSAPI"

    @property
    def principal(self) -> str | None:
        """The user's name without its realm, as brokers shorten it."""
        return None if self.user is None else self.user.partition("@")[0].partition("/")[0]

    def settings(self) -> dict[str, Any]:
        """Return kafka-python's settings: they have none for a key table, and hand on this value as it is."""
        return {"sasl_kerberos_name": self}

    def credentials(self) -> Any:  # noqa: ANN401 - gssapi ships no types
        """Return the tickets, with a first one or a renewed one of the key table.

        Raises gssapi's GSSError, and SaslAuthenticationFailedError for a key table without a key.
        """
        from gssapi.exceptions import ExpiredCredentialsError

        cache = f"MEMORY:{self.user}:{self.keytab}"
        found = self._acquire(cache)
        if self.keytab is not None:
            with suppress(ExpiredCredentialsError):
                if found.lifetime != 0:
                    return found
            # The library does not say why it could not renew them; for a cache of which it knows nothing it does.
            found = self._acquire(f"{cache}:{uuid4()}")
        return found

    def _acquire(self, cache: str) -> Any:  # noqa: ANN401 - as above
        import gssapi

        name = None if self.user is None else gssapi.Name(self.user, gssapi.NameType.kerberos_principal)
        store = None if self.keytab is None else {"client_keytab": self.keytab, "ccache": cache}
        try:
            return gssapi.Credentials(name=name, usage="initiate", mechs=[gssapi.MechType.kerberos], store=store)
        except gssapi.exceptions.GSSError as error:
            if self.keytab is None or error.min_code != _NO_CACHE:
                raise
            missing = f"the key table {self.keytab} cannot be read, or has no key of {self.user}"
            raise SaslAuthenticationFailedError(missing) from error


class _Gssapi(SaslMechanismGSSAPI):  # type: ignore[misc] # kafka-python ships no types
    """kafka-python's mechanism with these credentials; what Kerberos refuses are errors of authentication."""

    def __init__(self, *, host: str, sasl_kerberos_name: Kerberos, **_: object) -> None:
        import gssapi

        self._is_done = self._is_authenticated = False
        self.auth_id = f"{sasl_kerberos_name.service}@{host}"
        with _refused():
            service = gssapi.Name(self.auth_id, gssapi.NameType.hostbased_service)
            self._client_ctx = gssapi.SecurityContext(
                name=service.canonicalize(gssapi.MechType.kerberos),
                creds=sasl_kerberos_name.credentials(),
                usage="initiate",
            )
            self._next_token = self._client_ctx.step(None)

    def receive(self, auth_bytes: bytes) -> None:
        """Take what the broker sent."""
        with _refused():
            super().receive(auth_bytes)

    def auth_details(self) -> str:
        """Say it as it was asked for: the library tells nothing of a context whose ticket has just ended."""
        return f"Authenticated to {self.auth_id} via SASL / GSSAPI"


@contextmanager
def _refused() -> Iterator[None]:
    from gssapi.exceptions import GSSError

    try:
        yield
    except GSSError as error:
        # The minor status is what Kerberos says; where it says nothing, the major one is of the library itself.
        said = [each for each in error.get_all_statuses(error.min_code, False) if each != _NOTHING_SAID]  # noqa: FBT003 - as gssapi has it
        said = said or error.get_all_statuses(error.maj_code, True)  # noqa: FBT003 - as above
        raise SaslAuthenticationFailedError("; ".join(said)) from error


register_sasl_mechanism(Kerberos.mechanism, _Gssapi, overwrite=True)
