"""HTTP to servers that a user names: an opener, and errors in words."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import HTTPRedirectHandler, HTTPSHandler, build_opener

if TYPE_CHECKING:
    import ssl
    from urllib.request import OpenerDirector

REDIRECTS = range(300, 400)


def direct_opener(tls: ssl.SSLContext | None = None) -> OpenerDirector:
    """Return an opener that follows no redirect: an answer with one is an HTTPError.

    `tls` is the context for https; without one, the authorities of this machine are trusted.
    """
    return build_opener(_NoRedirects, HTTPSHandler(context=tls))


def reason_of(error: Exception, within_s: float) -> str:
    """Return why a server did not answer, in words that never hold its address."""
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, TimeoutError):
        return f"it did not answer within {within_s:.3g} s"
    if isinstance(reason, ConnectionResetError):
        return "it closed the connection"
    return (reason.strerror if isinstance(reason, OSError) else None) or type(reason).__name__


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect: it would send secrets to an address that the answer chooses."""

    def redirect_request(self, *_: object) -> None:
        """Return None, which leaves the answer an error."""
