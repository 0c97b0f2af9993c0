"""Named clusters of a contexts file, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, ClassVar, TypeAlias

from kadmin.contexts.credentials import (
    FilePath,
    KerberosUser,
    Line,
    SaslFields,
    SaslUser,
    Secret,
    TlsFiles,
    User,
    read_sasl,
)
from kadmin.plan.model import ThrottleBy, ThrottleSpec, WaveLimits
from kadmin.plan.model.field_types import ByteRate, ClusterId, SignalName, Text, read_rate
from kadmin.schema.documents import read
from kadmin.schema.shapes import At, Defined, FieldGroup, Keywords, WrittenAs

WAVE_SIZES = ("max_bytes", "max_payload")
"""The limits of waves that are bytes."""
_DEFAULTS = FieldGroup(
    "defaults", "What apply and diff use where neither an option nor the plan says it."
)
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


class Protection(StrEnum):
    """The protection of a context against commands that write."""

    NONE = "none"
    CONFIRM = "confirm"
    READ_ONLY = "read-only"


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
        WrittenAs(SaslFields, read_sasl),
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


class SignalUnit(StrEnum):
    """The unit of a signal's number, written as in amounts of plans."""

    SECONDS = "s"
    MILLISECONDS = "ms"
    BYTES = "B"
    BYTES_PER_SECOND = "B/s"


@dataclass(frozen=True, slots=True)
class Signal:
    """A number that Prometheus answers: the largest sample of an instant query.

    At most one of `basic_auth` and `bearer_token` is set.
    """

    prometheus: Annotated[
        Line,
        Keywords(title="URL"),
        "The URL of Prometheus, or of a server with its API: what comes before /api/v1/query.",
    ]
    query: Annotated[
        Text,
        Keywords(
            title="query",
            pattern=r"^\s*\S[\s\S]*$",
            x_hint="write an instant query in PromQL",
        ),
        "An instant query in PromQL; of several samples the largest counts.",
    ]
    unit: Annotated[
        SignalUnit | None,
        "The unit of the query's samples; absent: they are plain numbers.",
    ] = None
    basic_auth: Annotated[User | None, "The user of HTTP's basic authentication."] = None
    bearer_token: Annotated[Secret | None, "The token of HTTP's bearer authentication."] = None
    tls: Annotated[
        TlsFiles | None,
        Keywords(title="TLS"),
        "TLS to the server, with its host name checked; absent: this machine's authorities are "
        "trusted. Files in PEM.",
    ] = None


PlanKind: TypeAlias = Annotated[
    str,
    Keywords(
        title="kind",
        enum=[
            "PartitionReassignment",
            "PreferredReplicaElection",
            "TopicDeletion",
            "TopicRecipe",
            "BrokerMaintenance",
            "BrokerDecommission",
            "UncleanLeaderElection",
            "PartitionGrowth",
        ],
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
    signals: Annotated[
        Mapping[
            SignalName,
            Annotated[
                Signal,
                Keywords(title="signal"),
                "A number from a metrics system, now.",
                Defined("signal"),
            ],
        ],
        "Numbers from a metrics system, by name.",
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
