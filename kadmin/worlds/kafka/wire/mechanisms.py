"""SASL mechanisms with their credentials. Secrets are not part of any repr."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request

from kafka.errors import SaslAuthenticationFailedError
from kafka.net.sasl.oauth import AbstractTokenProvider

from kadmin.http_client import REDIRECTS, direct_opener

_ENDPOINT_S = 5.0
"""Seconds that the token endpoint may take: requests to brokers wait meanwhile."""
_RENEWED_AT = 0.8
"""Fraction of its lifetime after which a token is renewed, the same as in Kafka's own client."""
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Password:
    """A name and a password: PLAIN and SCRAM."""

    mechanism: str
    username: str
    password: str = field(repr=False)

    @property
    def principal(self) -> str:
        """The user's name."""
        return self.username

    def settings(self) -> dict[str, Any]:
        """Return kafka-python's settings."""
        return {"sasl_plain_username": self.username, "sasl_plain_password": self.password}


@dataclass(frozen=True, slots=True)
class AwsIam:
    """AWS_MSK_IAM, with the credentials that botocore finds."""

    mechanism: ClassVar[str] = "AWS_MSK_IAM"
    principal: ClassVar[None] = None

    def settings(self) -> dict[str, Any]:
        """Return kafka-python's settings: none."""
        return {}


class OAuthBearer(AbstractTokenProvider):  # type: ignore[misc] # kafka-python ships no types
    """OAUTHBEARER: tokens of a client.

    They come by the client credentials grant (RFC 6749, 4.4) at a token endpoint. Each new
    connection gets a token; a new one is asked for before the old one ends. `tls` is the context
    for an endpoint with https.
    """

    mechanism = "OAUTHBEARER"
    principal = None

    def __init__(
        self, endpoint: str, client_id: str, secret: str, scope: str | None, tls: ssl.SSLContext
    ) -> None:
        super().__init__()
        self._endpoint = endpoint
        self._client = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
        self._scope = scope
        self._opener = direct_opener(tls)
        self._token = ""
        self._until = 0.0
        self._mutex = threading.Lock()

    def settings(self) -> dict[str, Any]:
        """Return kafka-python's settings."""
        return {"sasl_oauth_token_provider": self}

    def token(self) -> str:
        """Return a token.

        Raises SaslAuthenticationFailedError, which contains neither secret nor token.
        """
        with self._mutex:
            now = time.monotonic()
            if now >= self._until:
                self._token, lasts_s = self._ask()
                self._until = now + _RENEWED_AT * lasts_s
            return self._token

    def _ask(self) -> tuple[str, float]:
        where = f"the token endpoint {self._endpoint.partition('?')[0]}"
        form = {"grant_type": "client_credentials"} | (
            {} if self._scope is None else {"scope": self._scope}
        )
        headers = {"Authorization": f"Basic {base64.b64encode(self._client.encode()).decode()}"}
        asked = Request(self._endpoint, urlencode(form).encode(), headers)  # noqa: S310 - its scheme was checked
        try:
            with self._opener.open(asked, timeout=_ENDPOINT_S) as answer:
                found = json.loads(answer.read(_MOST_BYTES))
            return str(found["access_token"]), float(found.get("expires_in", 0))
        except HTTPError as error:
            if error.code in REDIRECTS:
                raise SaslAuthenticationFailedError(
                    f"{where} redirects, which is not followed: {error.code}"
                ) from None
            raise SaslAuthenticationFailedError(
                f"{where} refused: {error.code} {_reason(error)}"
            ) from None
        except OSError as error:
            if isinstance(reason := getattr(error, "reason", None), ssl.SSLCertVerificationError):
                raise SaslAuthenticationFailedError(
                    f"{where} is not trusted: {reason.verify_message}; "
                    "ssl.truststore.location in sasl.jaas.config names its authority"
                ) from None
            raise SaslAuthenticationFailedError(f"{where} does not answer: {error}") from None
        except (ValueError, KeyError, TypeError):
            raise SaslAuthenticationFailedError(f"{where} answered without a token") from None


def _reason(error: HTTPError) -> str:
    """Return the error of RFC 6749, 5.2, as invalid_client."""
    try:
        return str(json.loads(error.read(_MOST_BYTES))["error"])
    except (OSError, ValueError, KeyError, TypeError):
        return error.reason
