"""Tokens of OAUTHBEARER: to whom the client's secret goes, and whom it is kept from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kafka.errors import SaslAuthenticationFailedError
from support.kafka.secured import jaas
from support.network.authority import LOOPBACK, Authority
from support.network.token_endpoint import token_endpoint

from kadmin.errors import InvalidInputError
from kadmin.worlds.kafka.wire.client_properties import read_client_properties
from kadmin.worlds.kafka.wire.mechanisms import OAuthBearer

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.worlds.kafka.wire.client_properties import ClientProperties

SECRET = "s3cret canary"  # noqa: S105 - looked for in what is told
CLIENT = {"clientId": "kadmin", "clientSecret": SECRET}


def properties(folder: Path, url: str, more: str = "", **login: str) -> ClientProperties:
    """Read the file of a client of tokens; `login` are further options of its login module."""
    file = folder / "client.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
        f"sasl.jaas.config={jaas('oauthbearer.OAuthBearerLoginModule', **CLIENT, **login)}\n"
        f"sasl.oauthbearer.token.endpoint.url={url}\n{more}"
    )
    return read_client_properties(file)


def client(found: ClientProperties) -> OAuthBearer:
    assert isinstance(found.security.sasl, OAuthBearer)
    return found.security.sasl


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.found(tmp_path_factory.mktemp("endpoint") / "authority")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def test_a_redirect_is_not_followed_so_that_no_other_host_has_the_secret(tmp_path: Path) -> None:
    with token_endpoint("kadmin", SECRET) as first, token_endpoint("kadmin", SECRET) as second:
        first.redirect = second.url
        with pytest.raises(
            SaslAuthenticationFailedError, match="redirects, which is not followed: 302"
        ):
            client(properties(tmp_path, first.url)).token()
        assert (len(first.told), second.told) == (1, [])


def test_an_endpoint_without_tls_is_warned_of_at_its_line(tmp_path: Path) -> None:
    with token_endpoint("kadmin", SECRET) as endpoint:
        found = properties(tmp_path, endpoint.url)
        assert client(found).token() == endpoint.given[0]
    (warning,) = found.warnings
    assert warning.startswith(
        f"{tmp_path}/client.properties:4: sasl.oauthbearer.token.endpoint.url has no TLS: "
    )
    assert SECRET not in warning
    assert properties(tmp_path, "https://id.example/token").warnings == ()


def test_the_endpoint_is_trusted_by_the_login_module_alone(
    tmp_path: Path, authority: Authority
) -> None:
    """Whom the brokers' certificates come from is not asked: they and the endpoint are different
    parties.
    """
    certificate = authority.issue("endpoint", LOOPBACK)
    brokers = f"ssl.truststore.location={authority.ca}\nssl.truststore.type=PEM\n"
    with token_endpoint("kadmin", SECRET, certificate=certificate) as endpoint:
        with pytest.raises(SaslAuthenticationFailedError) as refused:
            client(properties(tmp_path, endpoint.url, brokers)).token()
        assert "is not trusted: unable to get local issuer certificate" in str(refused.value)
        assert "ssl.truststore.location in sasl.jaas.config names its authority" in str(
            refused.value
        )
        assert endpoint.told == []
        own = {"ssl.truststore.location": authority.ca, "ssl.truststore.type": "PEM"}
        assert client(properties(tmp_path, endpoint.url, **own)).token() == endpoint.given[0]
    with pytest.raises(
        InvalidInputError, match=r":3: ssl\.truststore\.location names a file that cannot be read"
    ):
        properties(tmp_path, endpoint.url, **{"ssl.truststore.location": "absent.pem"})


def test_the_endpoints_name_is_checked_where_those_of_brokers_are_not(
    tmp_path: Path, authority: Authority
) -> None:
    certificate = authority.issue("elsewhere", "DNS:elsewhere.example")
    own = {"ssl.truststore.location": authority.ca}
    with token_endpoint("kadmin", SECRET, certificate=certificate) as endpoint:
        found = properties(
            tmp_path, endpoint.url, "ssl.endpoint.identification.algorithm=\n", **own
        )
        with pytest.raises(
            SaslAuthenticationFailedError, match="is not trusted: IP address mismatch"
        ):
            client(found).token()
        assert endpoint.told == []
