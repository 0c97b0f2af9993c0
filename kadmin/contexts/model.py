"""Named clusters of a contexts file. Frozen; secrets are references, so that no value is ever shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kadmin.plan.model import ThrottleSpec

WAVE_SIZES = ("max_bytes", "max_payload")
"""The limits of waves that are bytes."""
ZOOKEEPER_SERVICE = "zookeeper"
"""The first part of the principals of ZooKeeper's servers, unless a context has another."""


class Protection(StrEnum):
    """The protection of a context against commands that write."""

    NONE = "none"
    CONFIRM = "confirm"
    READ_ONLY = "read-only"


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
    """A secret that a program prints, run in `folder`. Its arguments are not shown: they may hold secrets."""

    program: str
    arguments: tuple[str, ...] = field(repr=False)
    folder: Path

    def __str__(self) -> str:
        return f"command {self.program}"


SecretReference = SecretFile | SecretVariable | SecretCommand


@dataclass(frozen=True, slots=True)
class User:
    """A name with its password."""

    username: str
    password: SecretReference


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
class TlsFiles:
    """The TLS files of a client, in PEM."""

    ca: Path
    certificate: Path | None = None
    key: Path | None = None
    key_password: SecretReference | None = None


@dataclass(frozen=True, slots=True)
class ZooKeeperAccess:
    """The connection string, credentials and TLS files for ZooKeeper."""

    connect: str
    sasl: SaslUser | KerberosUser | None = None
    digest: User | None = None
    tls: TlsFiles | None = None


@dataclass(frozen=True, slots=True)
class KafkaAccess:
    """The access to brokers; `records` is the folder that keeps lock and records in place of the cluster."""

    bootstrap_servers: str | None = None
    command_config: Path | None = None
    records: Path | None = None


@dataclass(frozen=True, slots=True)
class NamedContext:
    """One cluster. `allow` None allows plans of every kind; `waves` are those limits that a plan need not set."""

    name: str
    description: str | None = None
    cluster_id: str | None = None
    zookeeper: ZooKeeperAccess | None = None
    kafka: KafkaAccess = field(default_factory=KafkaAccess)
    policy: Path | None = None
    inventory: Path | None = None
    protect: Protection = Protection.NONE
    allow: frozenset[str] | None = None
    throttle: ThrottleSpec | None = None
    waves: Mapping[str, int] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The address of the cluster: its ZooKeeper, or else its brokers."""
        return (self.zookeeper.connect if self.zookeeper is not None else self.kafka.bootstrap_servers) or ""


@dataclass(frozen=True, slots=True)
class Contexts:
    """Kind `Contexts`; `current` is the context of commands that name no cluster."""

    contexts: Mapping[str, NamedContext]
    current: str | None = None
