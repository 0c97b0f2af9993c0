"""SASL GSSAPI (RFC 4752) as ZooKeeper speaks it: tokens until both sides are proved, then the choice of no layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.kerberos import KerberosError, refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.cluster.kerberos import Kerberos

_NO_LAYER = 1
_OFFER_BYTES = 4


def prove(user: Kerberos, host: str, exchange: Callable[[bytes], bytes]) -> None:
    """Authenticate with the server on a host; `exchange` sends a message and returns the answer.

    Raises KerberosError, and whatever `exchange` raises.
    """
    context = user.context(host)
    with refused():
        token = context.step(None)
    answer = exchange(token)
    if not answer:
        raise KerberosError("the server has no SASL")
    while not context.complete:
        with refused():
            token = context.step(answer)
        answer = exchange(token or b"")
    with refused():
        choice = choose_no_layer(context.unwrap(answer).message)
        message = context.wrap(choice, False).message  # noqa: FBT003 - as gssapi has it
    exchange(message)


def choose_no_layer(offer: bytes) -> bytes:
    """Answer a server's offer of security layers: a bit for each, and the size of messages.

    The answer has no name: the server uses the one in the ticket. Raises KerberosError where a layer is required.
    """
    if len(offer) != _OFFER_BYTES or not offer[0] & _NO_LAYER:
        raise KerberosError("the server wants a security layer, which connections of ZooKeeper do not have")
    return bytes([_NO_LAYER, 0, 0, 0])
