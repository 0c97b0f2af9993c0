"""Next steps by the error texts of OpenSSL and Kerberos for a refused connection.

The caller words the steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def tls_next_steps(*, name: str, expired: str, authority: str, own: str) -> dict[str, str]:
    """Return the next step by error text of OpenSSL.

    `name`: the servers' certificate is for another host; `expired`: it has expired; `authority`: no
    trusted authority signed it; `own`: servers refuse the client's certificate.
    """
    return {
        "Hostname mismatch": name,
        "IP address mismatch": name,
        "certificate has expired": expired,
        "self-signed certificate": authority,
        "unable to get local issuer": authority,
        "alert": own,
    }


def kerberos_next_steps(key_table: str, service: str) -> dict[str, str]:
    """Return the next step by error text of Kerberos.

    The caller words those for a key table and for the service.
    """
    have_tickets = f"kinit, or {key_table}"
    return {
        "Ticket expired": have_tickets,
        "No Kerberos credentials available": have_tickets,
        "Can't find client principal": have_tickets,
        "Cannot contact any KDC": (
            "check that the realm's servers run, and that this machine's krb5.conf names them"
        ),
        "Server ": service,
    }


def next_step_for(said: str, next_steps: Mapping[str, str]) -> str | None:
    """Return the first next step whose error text is in `said`; None without one."""
    return next((next_step for words, next_step in next_steps.items() if words in said), None)
