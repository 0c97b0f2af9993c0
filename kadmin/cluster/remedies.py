"""What to do by what OpenSSL and Kerberos say of a refused connection; how each thing is named is the caller's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def tls_remedies(*, name: str, expired: str, authority: str, own: str) -> dict[str, str]:
    """Return what to do by what OpenSSL says.

    `name`: the servers' certificate is for another host; `expired`: it has ended; `authority`: nobody who is trusted
    has signed it; `own`: servers do not take the client's.
    """
    return {
        "Hostname mismatch": name,
        "IP address mismatch": name,
        "certificate has expired": expired,
        "self-signed certificate": authority,
        "unable to get local issuer": authority,
        "alert": own,
    }


def kerberos_remedies(key_table: str, service: str) -> dict[str, str]:
    """Return what to do by what Kerberos says: how a key table is named, and the service corrected, is the caller's."""
    have_tickets = f"kinit, or {key_table}"
    return {
        "Ticket expired": have_tickets,
        "No Kerberos credentials available": have_tickets,
        "Can't find client principal": have_tickets,
        "Cannot contact any KDC": "see that the realm's servers run, and that this machine's krb5.conf names them",
        "Server ": service,
    }


def remedy_for(said: str, remedies: Mapping[str, str]) -> str | None:
    """Return the first remedy whose words were said; None where none of them was."""
    return next((remedy for words, remedy in remedies.items() if words in said), None)
