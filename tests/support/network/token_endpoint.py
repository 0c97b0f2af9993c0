"""A token endpoint that serves the client credentials grant (RFC 6749, 4.4)."""

from __future__ import annotations

import base64
import json
import time
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote

from support.network.loopback_server import LoopbackServer, serving

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path


class TokenEndpoint(LoopbackServer):
    """Gives unsigned tokens (RFC 7515, A.5) of `lifetime_s` to the client that knows the secret.

    With a `certificate`, a file with its key, it speaks TLS.
    """

    def __init__(
        self, client_id: str, secret: str, lifetime_s: float = 300, certificate: Path | None = None
    ) -> None:
        super().__init__(_Handler, certificate)
        self.redirect: str | None = None
        """Where every request is sent on to, with the status that makes it a GET of the same
        headers."""
        self.told: list[str] = []
        """What each request had as `Authorization`."""
        self.client = f"{client_id}:{secret}"
        self.lifetime_s = lifetime_s
        self.given: list[str] = []
        """The tokens that were given."""
        self.scopes: list[list[str]] = []
        self.most: int | None = None
        """How many tokens are given, all that are asked for by default."""

    @property
    def url(self) -> str:
        return f"{self.origin}/token"

    def token(self) -> str:
        now = time.time()
        claims = {"sub": self.client.partition(":")[0], "iat": now, "exp": now + self.lifetime_s}
        token = f"{_encoded({'alg': 'none'})}.{_encoded(claims)}."
        self.given.append(token)
        return token


class _Handler(BaseHTTPRequestHandler):
    server: TokenEndpoint

    def do_GET(self) -> None:
        self.server.told.append(self.headers.get("Authorization", ""))
        self._answer(405, {})

    def do_POST(self) -> None:
        self.server.told.append(self.headers.get("Authorization", ""))
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        scheme, _, given = self.headers.get("Authorization", "").partition(" ")
        if self.server.redirect is not None:
            self.send_response(302)
            self.send_header("Location", self.server.redirect)
            self.end_headers()
            return
        self.server.scopes.append(form.get("scope", []))
        used_up = self.server.most is not None and len(self.server.given) >= self.server.most
        if used_up or (scheme, unquote(base64.b64decode(given).decode())) != (
            "Basic",
            self.server.client,
        ):
            self._answer(401, {"error": "invalid_client"})
        elif form.get("grant_type") != ["client_credentials"]:
            self._answer(400, {"error": "unsupported_grant_type"})
        else:
            self._answer(
                200, {"access_token": self.server.token(), "expires_in": self.server.lifetime_s}
            )

    def _answer(self, status: int, body: dict[str, object]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def token_endpoint(
    client_id: str, secret: str, lifetime_s: float = 300, certificate: Path | None = None
) -> AbstractContextManager[TokenEndpoint]:
    """Serve tokens meanwhile."""
    return serving(TokenEndpoint(client_id, secret, lifetime_s, certificate))


def _encoded(value: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
