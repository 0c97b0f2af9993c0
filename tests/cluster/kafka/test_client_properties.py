"""Kafka's client.properties: what is read, and what is refused at which line, without a secret in
any message.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import pytest
from support.network.authority import Authority

from kadmin.cluster.kerberos import Kerberos
from kadmin.cluster.servers import SecurityProtocol, Servers
from kadmin.errors import InvalidInputError
from kadmin.worlds.kafka.wire.client_properties import read_client_properties
from kadmin.worlds.kafka.wire.mechanisms import OAuthBearer, Password

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "s3cret canary"  # noqa: S105 - looked for in what is told
LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required"
USER = f'{LOGIN} \\\n  username="ann" \\\n  password="{SECRET}";'
SCRAM = f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config={USER}\n"
TLS = "security.protocol=SSL\n"


def written(folder: Path, text: str) -> Path:
    file = folder / "client.properties"
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.found(tmp_path_factory.mktemp("properties") / "authority")


def test_lines_that_go_on_quotes_and_keys_that_are_not_used(tmp_path: Path) -> None:
    file = written(tmp_path, f"# of ann\n{SCRAM}\nacks: all\nclient.id = ann\n")
    found = read_client_properties(file)
    assert found.security.protocol is SecurityProtocol.SASL_PLAINTEXT
    assert found.security.sasl == Password("SCRAM-SHA-512", "ann", SECRET)
    assert found.unused == (f"{file}:8: acks", f"{file}:9: client.id")
    assert SECRET not in repr(found)
    servers = Servers(["b1:9093"], found.security)
    assert (servers.options, servers.principal) == (
        f"--bootstrap-server b1:9093 --command-config {file}",
        "User:ann",
    )


@pytest.mark.parametrize(
    ("written_as", "meant"),
    [
        ('"a;b=\\\\"c\\\\""', 'a;b="c"'),
        ("plain", "plain"),
        ('"\\u00e9"', "é"),
        ('"a\\\\\\\\b"', "a\\b"),
    ],
)
def test_passwords_are_read_as_kafka_reads_them(
    tmp_path: Path, written_as: str, meant: str
) -> None:
    """Properties first, JAAS then: each takes backslashes away."""
    line = f"sasl.jaas.config={LOGIN} username=ann password={written_as};\n"
    text = f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n{line}"
    found = read_client_properties(written(tmp_path, text)).security.sasl
    assert isinstance(found, Password)
    assert found.password == meant


def test_without_a_protocol_nothing_is_secured(tmp_path: Path) -> None:
    security = read_client_properties(written(tmp_path, "")).security
    assert (security.protocol, security.tls, security.sasl) == (
        SecurityProtocol.PLAINTEXT,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        (
            "securty.protocol=SSL\n",
            ":1: the key securty.protocol is not served.",
            "write security.protocol",
        ),
        ("\nssl.cipher.suites=X\n", ":2: the key ssl.cipher.suites is not served.", "leave it out"),
        ("config.providers=file\n", ":1: the key config.providers is not served.", "leave it out"),
        (
            "security.protocol=TLS\n",
            ":1: security.protocol is 'TLS'.",
            "write one of PLAINTEXT, SSL",
        ),
        ("security.protocol=SASL_SSL\n", "sasl.mechanism is missing.", "add sasl.mechanism"),
        (
            SCRAM.replace("SCRAM-SHA-512", "LDAP"),
            ":2: sasl.mechanism is 'LDAP'.",
            "write one of PLAIN",
        ),
        (
            SCRAM.replace("username", "user"),
            ":3: sasl.jaas.config has no username.",
            'add username="..."',
        ),
        (SCRAM.replace('";', '"'), ":3: sasl.jaas.config cannot be read.", "write MODULE required"),
        (
            f"{TLS}ssl.truststore.location=absent.pem\n",
            ":2: ssl.truststore.location names a file",
            "name a file",
        ),
        (
            f"{TLS}ssl.truststore.certificates=nothing\n",
            ":2: ssl.truststore.certificates is no store",
            "correct",
        ),
        (
            f"{TLS}ssl.endpoint.identification.algorithm=x\n",
            ":2: ssl.endpoint.identification.algorithm is 'x'.",
            "write https",
        ),
        (
            SCRAM.replace("SCRAM-SHA-512", "OAUTHBEARER"),
            "sasl.oauthbearer.token.endpoint.url is missing.",
            "add sasl.oauthbearer.token.endpoint.url",
        ),
        (
            SCRAM.replace("SCRAM-SHA-512", "OAUTHBEARER")
            + "sasl.oauthbearer.token.endpoint.url=x\n",
            ":6: sasl.oauthbearer.token.endpoint.url is no URL.",
            "write https://",
        ),
        (
            SCRAM.replace("SCRAM-SHA-512", "AWS_MSK_IAM"),
            "needs the package botocore",
            "kadmin-kafka[aws]",
        ),
    ],
)
def test_what_cannot_be_used_is_told_with_its_line(
    tmp_path: Path, text: str, message: str, remedy: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_client_properties(written(tmp_path, text))
    told = "\n".join(caught.value.lines())
    assert message in told
    assert remedy in told
    assert SECRET not in told


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"absent\.properties cannot be read"):
        read_client_properties(tmp_path / "absent.properties")


def test_a_store_of_java_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    (tmp_path / "trust.jks").write_bytes(b"\xfe\xed\xfe\xed and more")
    text = f"{TLS}ssl.truststore.location=trust.jks\nssl.truststore.password=changeit\n"
    with pytest.raises(InvalidInputError, match="is a JKS store") as caught:
        read_client_properties(written(tmp_path, text))
    store = tmp_path / "trust.jks"
    assert caught.value.next_command == (
        f"keytool -importkeystore -srckeystore {store} -destkeystore {store.with_suffix('.p12')} "
        "-deststoretype PKCS12"
    )


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_key_in_the_properties_themselves(
    tmp_path: Path, authority: Authority, *, encrypted: bool
) -> None:
    from cryptography.hazmat.primitives import serialization as forms

    pem = authority.issue("inline", "DNS:inline").read_bytes()
    key = forms.load_pem_private_key(pem, None)
    locked = forms.BestAvailableEncryption(SECRET.encode()) if encrypted else forms.NoEncryption()
    text = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, locked).decode()
    chain = pem[pem.index(b"-----BEGIN CERTIFICATE") :].decode()
    lines = {
        "ssl.keystore.key": text,
        "ssl.keystore.certificate.chain": chain,
        "ssl.keystore.type": "PEM",
    }
    if encrypted:
        lines["ssl.key.password"] = SECRET
    escaped = "".join(
        f"{name}={value.strip().replace(chr(10), chr(92) + 'n')}\n" for name, value in lines.items()
    )
    found = read_client_properties(written(tmp_path, f"{TLS}{escaped}")).security.tls
    assert isinstance(found, ssl.SSLContext)
    if encrypted:
        wrong = written(tmp_path, f"{TLS}{escaped.replace(SECRET, 'wrong')}")
        with pytest.raises(InvalidInputError, match="a key that its password does not open"):
            read_client_properties(wrong)


def test_names_are_checked_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    checked = read_client_properties(written(tmp_path, TLS)).security.tls
    given_up = read_client_properties(
        written(tmp_path, f"{TLS}ssl.endpoint.identification.algorithm=\n")
    ).security.tls
    assert checked is not None
    assert given_up is not None
    assert (checked.check_hostname, given_up.check_hostname) == (True, False)
    assert given_up.verify_mode is ssl.CERT_REQUIRED


def test_a_client_of_tokens_shows_no_secret(tmp_path: Path) -> None:
    text = (
        SCRAM.replace("SCRAM-SHA-512", "OAUTHBEARER")
        .replace("username", "clientId")
        .replace("password", "clientSecret")
    )
    found = read_client_properties(
        written(tmp_path, f"{text}sasl.oauthbearer.token.endpoint.url=https://id/token\n")
    )
    assert isinstance(found.security.sasl, OAuthBearer)
    assert SECRET not in repr(found)


def test_kerberos_is_named_by_its_user_without_the_realm() -> None:
    user = Kerberos("kafka", "kadmin/admin@EXAMPLE")
    assert user.principal == "kadmin"
    assert user.longer_names == {"kadmin/admin@EXAMPLE", "kadmin/admin", "kadmin@EXAMPLE"}
    assert Kerberos("kafka", "kadmin@EXAMPLE").longer_names == {"kadmin@EXAMPLE"}
    assert not Kerberos("kafka").longer_names
