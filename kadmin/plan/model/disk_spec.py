"""What a rebalance request says of the disks (log directories) of brokers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, TypeAlias

from kadmin.plan.model.field_types import NOT_EMPTY, BrokerIdKey, LogDir
from kadmin.schema.shapes import Dumped, Keywords

DISK_TOLERANCE = 0.05
"""Default tolerance of the bytes of a disk, as a fraction of its part of its broker's bytes."""

_DisksOfBrokers: TypeAlias = Annotated[
    Mapping[
        BrokerIdKey,
        Annotated[
            tuple[LogDir, ...],
            NOT_EMPTY,
            Keywords(title="list of log directories", uniqueItems=True),
            "At least one log directory of the broker.",
        ],
    ],
    Dumped.SORTED,
    Keywords(title="log directories by broker"),
]


class FailedDisks(StrEnum):
    """The planner's treatment of the replicas on failed disks."""

    MOVE = "move"


class Only(StrEnum):
    """The one kind of moves that a plan may have."""

    DISKS = "disks"


@dataclass(frozen=True, slots=True)
class DiskSpec:
    """`spec.disks`: what the disks (log directories) of brokers may hold."""

    drain: Annotated[
        _DisksOfBrokers,
        "By broker id, the log directories that shall hold no replicas; the broker keeps them on "
        "others.",
    ] = field(default_factory=dict)
    no_receive: Annotated[
        _DisksOfBrokers,
        "By broker id, the log directories that keep their replicas and receive no more.",
    ] = field(default_factory=dict)
    weights: Annotated[
        Mapping[
            BrokerIdKey,
            Annotated[
                Mapping[
                    LogDir,
                    Annotated[
                        float,
                        Keywords(title="weight", exclusiveMinimum=0, maximum=10**6),
                        "More than 0.",
                    ],
                ],
                Keywords(title="weights by log directory", minProperties=1),
                "By log directory, its share of the broker's bytes.",
            ],
        ],
        Dumped.SORTED,
        Keywords(title="weights of disks by broker"),
        "By broker id, the share of each log directory in the broker's bytes compared with one of "
        "weight 1, in place of its size.",
    ] = field(default_factory=dict)
    failed: Annotated[
        FailedDisks | None,
        "move: the replicas on failed disks go to other brokers. By default they stay, and wait "
        "for the disk.",
    ] = None

    @property
    def named(self) -> Mapping[str, Mapping[int, tuple[str, ...]]]:
        """The log directories that each field names, by broker."""
        weighted = {broker: tuple(paths) for broker, paths in self.weights.items()}
        return {"drain": self.drain, "no_receive": self.no_receive, "weights": weighted}
