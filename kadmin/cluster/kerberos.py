"""Kerberos tickets of a key table or of a cache, and Kerberos's errors."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOTHING_SAID = "Success"
_NO_CACHE = -1765328189 % 2**32
"""KRB5_FCC_NOFILE: the cache in memory does not exist, because it got no ticket."""


class KerberosError(Exception):
    """Kerberos gives no ticket, or does not take one; the message is its reason."""


@dataclass(frozen=True, slots=True)
class Kerberos:
    """GSSAPI as `user`, with the key table, or else with a ticket of this machine's cache.

    Tickets of a key table are in memory; the library renews them, for the next connection, after
    half of their time.
    """

    service: str
    user: str | None = None
    keytab: str | None = None
    mechanism: ClassVar[str] = "GSSAPI"

    @property
    def principal(self) -> str | None:
        """The user's name without host and realm, as servers shorten it."""
        return None if self.user is None else self.user.partition("@")[0].partition("/")[0]

    @property
    def longer_names(self) -> frozenset[str]:
        """Longer forms of the user's name, for servers whose rules keep host, realm or both."""
        if self.user is None:
            return frozenset()
        name, _, realm = self.user.partition("@")
        return frozenset({self.user, name, f"{self.principal}@{realm}"}) - {f"{self.principal}"}

    def context(self, host: str) -> Any:  # noqa: ANN401 - gssapi ships no types
        """Return gssapi's context for the service on a host, with a valid ticket.

        Raises KerberosError.
        """
        import gssapi

        with refused():
            service = gssapi.Name(f"{self.service}@{host}", gssapi.NameType.hostbased_service)
            return gssapi.SecurityContext(
                name=service.canonicalize(gssapi.MechType.kerberos),
                creds=self._credentials(),
                usage="initiate",
            )

    def _credentials(self) -> Any:  # noqa: ANN401 - as above
        """Return the tickets, with a first one or a renewed one of the key table.

        Raises gssapi's GSSError.
        """
        from gssapi.exceptions import ExpiredCredentialsError

        cache = f"MEMORY:{self.user}:{self.keytab}"
        found = self._acquire(cache)
        if self.keytab is not None:
            with suppress(ExpiredCredentialsError):
                if found.lifetime != 0:
                    return found
            # The library gives no reason for a failed renewal; for a new cache its error has the
            # reason.
            found = self._acquire(f"{cache}:{uuid4()}")
        return found

    def _acquire(self, cache: str) -> Any:  # noqa: ANN401 - as above
        import gssapi

        name = (
            None
            if self.user is None
            else gssapi.Name(self.user, gssapi.NameType.kerberos_principal)
        )
        store = None if self.keytab is None else {"client_keytab": self.keytab, "ccache": cache}
        try:
            return gssapi.Credentials(
                name=name, usage="initiate", mechs=[gssapi.MechType.kerberos], store=store
            )
        except gssapi.exceptions.GSSError as error:
            if self.keytab is None or error.min_code != _NO_CACHE:
                raise
            missing = f"the key table {self.keytab} cannot be read, or has no key of {self.user}"
            raise KerberosError(missing) from error


@contextmanager
def refused() -> Iterator[None]:
    """Raise KerberosError for gssapi's errors."""
    from gssapi.exceptions import GSSError

    try:
        yield
    except GSSError as error:
        # The minor status is Kerberos's error; without one, the major status is the library's.
        minor = error.get_all_statuses(error.min_code, False)  # noqa: FBT003 - as gssapi has it
        said = [each for each in minor if each != _NOTHING_SAID]
        said = said or error.get_all_statuses(error.maj_code, True)  # noqa: FBT003 - as above
        raise KerberosError("; ".join(said)) from error
