"""Named clusters of a contexts file.

Frozen; secrets are references, so that no value is ever shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from kadmin.plan.model import ThrottleBy, ThrottleSpec, WaveLimits
from kadmin.plan.model.field_types import NOT_EMPTY, ByteRate, ClusterId, Text, read_rate
from kadmin.schema.documents import read
from kadmin.schema.shapes import At, Defined, FieldGroup, Keywords, WrittenAs, exactly_one

WAVE_SIZES = ("max_bytes", "max_payload")
"""The limits of waves that are bytes."""
ZOOKEEPER_SERVICE = "zookeeper"
"""The first part of the principals of ZooKeeper's servers, unless a context has another."""
_DEFAULTS = FieldGroup(
    "defaults", "What apply and diff use where neither an option nor the plan says it."
)
_LINE = r"^[^\u0000-\u001f\u007f-\u009f]{1,4096}$"
ContextName: TypeAlias = Annotated[
    str,
    Keywords(
        title="context name",
        pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$",
        x_hint="a context's name is up to 253 characters of a-z A-Z 0-9 . _ -",
    ),
    "The name of a context.",
    Defined("contextName"),
]
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


def _read_sasl(value: Mapping[str, Any]) -> SaslUser | KerberosUser:
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


@dataclass(frozen=True, slots=True)
class ZooKeeperAccess:
    """The connection string, credentials and TLS files for ZooKeeper."""

    connect: Annotated[
        Line,
        Keywords(title="connect string"),
        "Servers and chroot, as brokers have it: zk1:2181,zk2:2181/kafka.",
    ]
    sasl: Annotated[
        SaslUser | KerberosUser | None,
        WrittenAs(SaslFields, _read_sasl),
        Keywords(title="SASL"),
        "SASL, as brokers use it with zookeeper.set.acl=true: "
        "DIGEST-MD5 needs username and password, GSSAPI principal.",
    ] = None
    digest: Annotated[User | None, "ZooKeeper's digest scheme, mainly for its super user."] = None
    tls: Annotated[
        TlsFiles | None,
        Keywords(title="TLS"),
        "TLS to the servers, with host names checked; files in PEM.",
    ] = None


@dataclass(frozen=True, slots=True)
class KafkaAccess:
    """The access to brokers.

    `records` is the folder that keeps lock and records in place of the cluster.
    """

    bootstrap_servers: Annotated[
        Line | None, Keywords(title="brokers"), "Brokers' addresses: b1:9093,b2:9093."
    ] = None
    command_config: Annotated[
        FilePath | None, "Kafka's client.properties: how brokers are asked."
    ] = None
    records: Annotated[
        FilePath | None,
        "Without ZooKeeper: the folder that keeps lock and records, in place of the cluster.",
    ] = None


PlanKind: TypeAlias = Annotated[
    str,
    Keywords(
        title="kind",
        enum=["PartitionReassignment", "PreferredReplicaElection", "TopicDeletion", "TopicRecipe"],
    ),
    "A kind of plan.",
]


def _read_throttle(rate: str) -> ThrottleSpec:
    return ThrottleSpec(ThrottleBy.RATE, read_rate(rate))


def _read_waves(value: Mapping[str, Any]) -> dict[str, int]:
    limits = read(WaveLimits, value)
    return {name: getattr(limits, name) for name in value}


@dataclass(frozen=True, slots=True)
class NamedContext:
    """One cluster.

    `allow` None allows plans of every kind; `waves` are those limits that a plan need not set.
    """

    name: str
    description: Annotated[Text | None, "A description, in a sentence."] = None
    cluster_id: Annotated[
        ClusterId | None, "The id that the cluster must have; another one is refused."
    ] = None
    zookeeper: Annotated[
        ZooKeeperAccess | None,
        Keywords(title="ZooKeeper"),
        "How ZooKeeper is reached; where it is present, it is the address of the cluster.",
    ] = None
    kafka: Annotated[
        KafkaAccess,
        Keywords(title="Kafka"),
        "How brokers are reached; without ZooKeeper it is the address of the cluster.",
    ] = field(default_factory=KafkaAccess)
    policy: Annotated[FilePath | None, "The Policy for commands without --policy."] = None
    inventory: Annotated[
        FilePath | None,
        "The folder of the cluster's inventory, which snapshot writes without --out.",
    ] = None
    protect: Annotated[
        Protection,
        Keywords(title="protection"),
        "confirm: what writes wants the context's name typed; read-only: nothing may write.",
    ] = Protection.NONE
    allow: Annotated[
        frozenset[PlanKind] | None,
        Keywords(title="list of kinds"),
        "The kinds of plans that may be applied; absent: all.",
    ] = None
    throttle: Annotated[
        ThrottleSpec | None,
        At("throttle", _DEFAULTS),
        WrittenAs(ByteRate, _read_throttle),
        "Bytes per second that each broker may send, and as many that it may receive.",
    ] = None
    waves: Annotated[
        Mapping[str, int],
        At("waves", _DEFAULTS),
        WrittenAs(WaveLimits, _read_waves),
        "Limits of waves for plans that do not set them.",
    ] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The address of the cluster: its ZooKeeper, or else its brokers."""
        return (
            self.zookeeper.connect if self.zookeeper is not None else self.kafka.bootstrap_servers
        ) or ""


@dataclass(frozen=True, slots=True)
class Contexts:
    """Kind `Contexts`; `current` is the context of commands that name no cluster."""

    KEYS: ClassVar = ("current", "contexts")

    contexts: Annotated[
        Mapping[
            ContextName,
            Annotated[
                NamedContext,
                Keywords(title="context"),
                "One cluster: its address, its credentials by reference, defaults and protection.",
                Defined("context"),
            ],
        ],
        "The contexts by name.",
    ]
    current: Annotated[ContextName | None, "The context of commands that name no cluster."] = None
