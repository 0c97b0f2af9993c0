"""Kafka's `client.properties`, the file that its own tools take with --command-config."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import javaproperties

from kadmin.cluster.servers import Security, SecurityProtocol
from kadmin.errors import InvalidInputError
from kadmin.worlds.kafka.wire.client_tls import KeyStore, KeyStoreError, client_context
from kadmin.worlds.kafka.wire.kerberos import BrokerKerberos
from kadmin.worlds.kafka.wire.mechanisms import AwsIam, OAuthBearer, Password

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from kadmin.cluster.servers import Mechanism

_PASSWORDS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_MECHANISMS = (*_PASSWORDS, "GSSAPI", "OAUTHBEARER", "AWS_MSK_IAM")
_SERVED = (
    "security.protocol",
    "sasl.mechanism",
    "sasl.jaas.config",
    "sasl.kerberos.service.name",
    "sasl.login.callback.handler.class",
    "sasl.client.callback.handler.class",
    "sasl.oauthbearer.token.endpoint.url",
    "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.scope",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
    "ssl.truststore.certificates",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
)
_SECURITY = ("security.", "sasl.", "ssl.", "config.providers")
"""Prefixes of keys that decide on identity and trust; an unknown key with one of them is an
error."""
_NAMES_CHECKED = "https"
_VALUE = r'(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))'
_JAAS = re.compile(rf"[\w.$]+\s+\w+(?P<options>(?:\s+[\w.]+\s*=\s*{_VALUE})*)\s*;")
_JAAS_OPTION = re.compile(rf"([\w.]+)\s*=\s*{_VALUE}")


@dataclass(frozen=True, slots=True)
class ClientProperties:
    """Security settings of a file.

    `unused` are its other keys with their lines, as `client.properties:3: acks`. `warnings` name
    settings that are accepted and expose a secret, a sentence each.
    """

    security: Security
    unused: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def read_client_properties(path: Path) -> ClientProperties:
    """Read a file.

    Raises InvalidInputError, which names the line and never a value that may be a secret.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise InvalidInputError(f"{path} cannot be read.", cause=str(error)) from error
    given = _Properties(path)
    line, unused = 1, list[str]()
    try:
        for each in javaproperties.parse(text):
            if isinstance(each, javaproperties.KeyValue):
                given.add(line, each.key, each.value)
                if each.key not in _SERVED:
                    unused.append(f"{path}:{line}: {each.key}")
            line += each.source.count("\n")
    except javaproperties.InvalidUEscapeError as error:
        raise InvalidInputError(f"{path} is no properties file.", cause=str(error)) from error
    return ClientProperties(_security(given), tuple(unused), tuple(given.warnings))


class _Properties:
    """The keys of a file with their lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._values: dict[str, str] = {}
        self._lines: dict[str, int] = {}

    def add(self, line: int, key: str, value: str) -> None:
        near = difflib.get_close_matches(key, _SERVED, 1, 0.85)
        if key not in _SERVED and (near or key.startswith(_SECURITY)):
            raise InvalidInputError(
                f"{self.path}:{line}: the key {key} is not served.",
                next_step=f"write {near[0]}"
                if near
                else "leave it out, or see docs/security.md for what is served",
            )
        self._values[key], self._lines[key] = value.strip(), line

    def get(self, key: str) -> str | None:
        return self._values.get(key) or None

    def has(self, key: str) -> bool:
        return key in self._values

    def file(self, key: str) -> Path | None:
        """Return a file; a relative path begins at the folder of the properties."""
        found = self.get(key)
        return None if found is None else self.path.parent / Path(found).expanduser()

    def need(self, key: str, why: str) -> str:
        found = self.get(key)
        if found is None:
            raise InvalidInputError(
                f"{self.path}: {key} is missing.", cause=why, next_step=f"add {key} to {self.path}"
            )
        return found

    def of_login(self, options: Mapping[str, str]) -> _Properties:
        """Return the options of the login module as keys of their own, at its line."""
        found = _Properties(self.path)
        for key, value in options.items():
            found._values[key], found._lines[key] = value, self._lines["sasl.jaas.config"]
        return found

    def warn(self, key: str, problem: str, next_step: str) -> None:
        """Keep a warning; `problem` must not name a secret."""
        self.warnings.append(f"{self.path}:{self._lines[key]}: {key} {problem}: {next_step}")

    def refuse(self, key: str, problem: str, next_step: str) -> InvalidInputError:
        """Return the error of a key; `problem` must not name a secret."""
        return InvalidInputError(
            f"{self.path}:{self._lines[key]}: {key} {problem}.", next_step=next_step
        )


def _security(given: _Properties) -> Security:
    name = given.get("security.protocol") or SecurityProtocol.PLAINTEXT.value
    if name.upper() not in SecurityProtocol.__members__:
        raise given.refuse(
            "security.protocol", f"is {name!r}", f"write one of {', '.join(SecurityProtocol)}"
        )
    protocol = SecurityProtocol(name.upper())
    tls = _tls(given) if protocol.has_tls else None
    sasl = _sasl(given, protocol) if protocol.has_sasl else None
    return Security(protocol, tls, sasl, given.path)


def _tls(given: _Properties) -> ssl.SSLContext:
    key = "ssl.endpoint.identification.algorithm"
    algorithm = given.get(key) if given.has(key) else _NAMES_CHECKED
    if algorithm not in {None, _NAMES_CHECKED}:
        raise given.refuse(
            key,
            f"is {algorithm!r}",
            f"write {_NAMES_CHECKED}, or nothing: names are not checked then",
        )
    trusted, own = _trusted(given), _own(given)
    try:
        return client_context(trusted, own, check_names=algorithm is not None)
    except KeyStoreError as error:
        raise given.refuse(error.key, error.problem, error.next_step) from error


def _trusted(given: _Properties) -> KeyStore | None:
    return _store(
        given, "ssl.truststore.location", "ssl.truststore.certificates", "ssl.truststore.password"
    )


def _own(given: _Properties) -> KeyStore | None:
    found = _store(
        given, "ssl.keystore.location", "ssl.keystore.certificate.chain", "ssl.keystore.password"
    )
    if found is None:
        return None
    text = found.content
    if found.key == "ssl.keystore.certificate.chain":
        key = given.need("ssl.keystore.key", "ssl.keystore.certificate.chain has no key of its own")
        text = f"{key}\n{text.decode()}".encode()
    return replace(found, content=text, key_password=given.get("ssl.key.password"))


def _store(given: _Properties, location: str, inline: str, password: str) -> KeyStore | None:
    """Return the bytes of a store, from a file or from the properties themselves."""
    path = given.file(location)
    if path is not None:
        try:
            return KeyStore(location, path.read_bytes(), given.get(password), path=path)
        except OSError as error:
            problem = f"names a file that cannot be read: {path}: {error.strerror}"
            raise given.refuse(location, problem, "name a file that this user may read") from error
    text = given.get(inline)
    return None if text is None else KeyStore(inline, text.encode(), None)


def _sasl(given: _Properties, protocol: SecurityProtocol) -> Mechanism:
    mechanism = given.need("sasl.mechanism", f"security.protocol is {protocol}")
    if mechanism not in _MECHANISMS:
        raise given.refuse(
            "sasl.mechanism", f"is {mechanism!r}", f"write one of {', '.join(_MECHANISMS)}"
        )
    options = _jaas(given)
    if mechanism in _PASSWORDS:
        return Password(
            mechanism, *(_option(given, options, name) for name in ("username", "password"))
        )
    if mechanism == "OAUTHBEARER":
        return _oauth(given, options)
    package = "gssapi" if mechanism == "GSSAPI" else "botocore"
    if find_spec(package) is None:
        extra = "kerberos" if mechanism == "GSSAPI" else "aws"
        problem = f"is {mechanism}, which needs the package {package}"
        raise given.refuse("sasl.mechanism", problem, f"pip install 'kadmin-kafka[{extra}]'")
    if mechanism == "AWS_MSK_IAM":
        return AwsIam()
    service = given.get("sasl.kerberos.service.name") or options.get("serviceName")
    keytab = options.get("keyTab") if options.get("useKeyTab", "false").lower() == "true" else None
    return BrokerKerberos(service or "kafka", options.get("principal"), keytab)


def _oauth(given: _Properties, options: Mapping[str, str]) -> OAuthBearer:
    prefix, key = "sasl.oauthbearer.client.credentials", "sasl.oauthbearer.token.endpoint.url"
    endpoint = given.need(key, "OAUTHBEARER requests its tokens there")
    if not endpoint.startswith(("https://", "http://")):
        raise given.refuse(key, "is no URL", "write https://HOST/PATH")
    if endpoint.startswith("http://"):
        given.warn(
            key,
            "has no TLS",
            "the client's secret and the tokens are sent unencrypted; write https://",
        )
    return OAuthBearer(
        endpoint,
        given.get(f"{prefix}.client.id") or _option(given, options, "clientId"),
        given.get(f"{prefix}.client.secret") or _option(given, options, "clientSecret"),
        given.get("sasl.oauthbearer.scope") or options.get("scope"),
        _endpoint_tls(given.of_login(options)),
    )


def _endpoint_tls(login: _Properties) -> ssl.SSLContext:
    """Return the TLS of the token endpoint, by the login module's own options as in Kafka's client.

    The brokers' trusted certificates, and their switch for checking names, do not apply there.
    """
    trusted = _trusted(login)
    try:
        return client_context(trusted, None, check_names=True)
    except KeyStoreError as error:
        raise login.refuse(error.key, error.problem, error.next_step) from error


def _jaas(given: _Properties) -> Mapping[str, str]:
    """Return the options of the login module; Kafka takes exactly one."""
    text = given.get("sasl.jaas.config")
    if text is None:
        return {}
    found = _JAAS.fullmatch(text)
    if found is None:
        raise given.refuse(
            "sasl.jaas.config",
            "cannot be read",
            'write MODULE required username="NAME" password="...";',
        )
    options = _JAAS_OPTION.findall(found["options"])
    return {name: re.sub(r"\\(.)", r"\1", quoted) or plain for name, quoted, plain in options}


def _option(given: _Properties, options: Mapping[str, str], name: str) -> str:
    found = options.get(name)
    if not found:
        given.need("sasl.jaas.config", f"it names {name}")
        raise given.refuse("sasl.jaas.config", f"has no {name}", f'add {name}="..." to it')
    return found
