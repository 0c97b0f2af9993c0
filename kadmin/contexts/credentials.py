"""Credentials of a context: names, files, and references to secrets.

Frozen; secrets are references, so that no value is ever shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from kadmin.plan.model.field_types import NOT_EMPTY
from kadmin.schema.documents import read
from kadmin.schema.shapes import Defined, Keywords, WrittenAs, exactly_one

if TYPE_CHECKING:
    from collections.abc import Mapping

ZOOKEEPER_SERVICE = "zookeeper"
"""The first part of the principals of ZooKeeper's servers, unless a context has another."""
_LINE = r"^[^\u0000-\u001f\u007f-\u009f]{1,4096}$"
FilePath: TypeAlias = Annotated[
    Path,
    WrittenAs(str, Path),
    Keywords(
        title="path",
        pattern=_LINE,
        x_hint="a path is up to 4096 characters without control characters",
    ),
    "A file or a folder.",
    Defined("path"),
]
Line: TypeAlias = Annotated[
    str,
    Keywords(
        title="text", pattern=_LINE, x_hint="up to 4096 characters without control characters"
    ),
    "One line of text.",
    Defined("line"),
]
UserName: TypeAlias = Annotated[
    str,
    Keywords(
        title="user name",
        pattern=r"^[^\u0000-\u001f\u007f-\u009f:]{1,255}$",
        x_hint="a user name is up to 255 characters, without colons and control characters",
    ),
    "A user's name.",
    Defined("userName"),
]


@dataclass(frozen=True, slots=True)
class SecretFile:
    """A secret in a file."""

    path: Path

    def __str__(self) -> str:
        return f"file {self.path}"


@dataclass(frozen=True, slots=True)
class SecretVariable:
    """A secret in an environment variable."""

    name: str

    def __str__(self) -> str:
        return f"variable {self.name}"


@dataclass(frozen=True, slots=True)
class SecretCommand:
    """A secret that a program prints, run in `folder`.

    Its arguments are not shown: they may hold secrets.
    """

    program: str
    arguments: tuple[str, ...] = field(repr=False)
    folder: Path = field(default_factory=Path)

    def __str__(self) -> str:
        return f"command {self.program}"


SecretReference = SecretFile | SecretVariable | SecretCommand


@dataclass(frozen=True, slots=True)
class SecretFields:
    """A SecretReference in a file: one of the fields."""

    file: Annotated[FilePath | None, "A file; line ends at its end do not count."] = None
    env: Annotated[
        str | None,
        Keywords(
            title="variable",
            pattern="^[A-Za-z_][A-Za-z0-9_]{0,252}$",
            x_hint="a variable is up to 253 characters of a-z A-Z 0-9 _",
        ),
        "An environment variable.",
    ] = None
    command: Annotated[
        tuple[Line, ...] | None, NOT_EMPTY, "A program with its arguments; it prints the secret."
    ] = None


def _read_secret(value: Mapping[str, Any]) -> SecretReference:
    if "file" in value:
        return SecretFile(Path(value["file"]))
    if "env" in value:
        return SecretVariable(value["env"])
    program, *arguments = value["command"]
    return SecretCommand(program, tuple(arguments))


Secret: TypeAlias = Annotated[
    SecretReference,
    WrittenAs(SecretFields, _read_secret),
    exactly_one("file", "env", "command"),
    Keywords(title="secret"),
    "Where a secret is; it is read when a command connects.",
    Defined("secret"),
]


@dataclass(frozen=True, slots=True)
class User:
    """A name with its password."""

    username: Annotated[UserName, Keywords(title="user name"), "The user."]
    password: Annotated[Secret, "The user's password."]


@dataclass(frozen=True, slots=True)
class SaslUser(User):
    """A user of SASL DIGEST-MD5."""

    mechanism: ClassVar[str] = "DIGEST-MD5"


@dataclass(frozen=True, slots=True)
class KerberosUser:
    """A user of SASL GSSAPI; without a key table its ticket is in this machine's cache."""

    principal: str
    keytab: Path | None = None
    service: str = ZOOKEEPER_SERVICE
    mechanism: ClassVar[str] = "GSSAPI"


@dataclass(frozen=True, slots=True)
class SaslFields:
    """A SaslUser or a KerberosUser in a file, by the mechanism."""

    mechanism: Annotated[Literal["DIGEST-MD5", "GSSAPI"], "SASL's mechanism."] = "DIGEST-MD5"
    username: Annotated[
        UserName | None,
        Keywords(title="user name"),
        "The user of DIGEST-MD5; its identity becomes sasl:USER.",
    ] = None
    password: Annotated[Secret | None, "The user's password."] = None
    principal: Annotated[
        UserName | None,
        Keywords(title="principal"),
        "The principal of GSSAPI, as kafka/host@EXAMPLE.COM; its identity becomes sasl:kafka.",
    ] = None
    keytab: Annotated[
        FilePath | None,
        "The key table that has the principal's key; without it, the ticket of kinit.",
    ] = None
    service: Annotated[
        UserName,
        Keywords(title="service"),
        "The first part of the principals of ZooKeeper's servers.",
    ] = ZOOKEEPER_SERVICE


def read_sasl(value: Mapping[str, Any]) -> SaslUser | KerberosUser:
    """Return the user that SaslFields mean, by their mechanism."""
    given: Any = read(SaslFields, value)
    if given.mechanism == SaslUser.mechanism:
        return SaslUser(given.username, given.password)
    return KerberosUser(given.principal, given.keytab, given.service)


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The TLS files of a client, in PEM."""

    ca: Annotated[FilePath, "The certificates of the authorities that are trusted."]
    certificate: Annotated[FilePath | None, "The client's certificate."] = None
    key: Annotated[FilePath | None, "The client's private key."] = None
    key_password: Annotated[Secret | None, "The password of the key."] = None
