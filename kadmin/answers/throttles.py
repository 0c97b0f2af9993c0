"""Shapes of the answers of `throttle`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kadmin.operations.throttles.audit import Origin
from kadmin.plan.throttle import LISTS, RATES
from kadmin.schema.shapes import Keywords

Entity: TypeAlias = Annotated[str, "topics/NAME or brokers/ID."]
Key: TypeAlias = Annotated[str, Keywords(enum=[*RATES, *LISTS]), "The config's name."]


@dataclass(frozen=True, slots=True)
class ThrottlesAnswer:
    """The throttles of a cluster."""

    throttles: Annotated[tuple[ThrottlesOfEntity, ...], "Every topic and broker with a throttle."]


@dataclass(frozen=True, slots=True)
class ThrottlesOfEntity:
    """The throttle of a topic or broker."""

    entity: Entity
    present: Annotated[bool, "Whether the topic exists, or the broker is registered."]
    values: Annotated[
        Mapping[Key, Annotated[str, "Value in ZooKeeper."]], "The throttle's configs."
    ]


@dataclass(frozen=True, slots=True)
class AuditAnswer:
    """The origin of every throttle value of a cluster."""

    findings: Annotated[tuple[AuditFinding, ...], "Every throttle value."]


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """The origin of one throttle value."""

    entity: Entity
    key: Key
    value: Annotated[
        str | None, "Value in ZooKeeper; null where an operation set it and it is gone."
    ]
    origin: Annotated[Origin, "Origin of the value."]
    operation_id: Annotated[str | None, "Operation that set it; null where no recorded one did."]
    runner: Annotated[bool, "Whether a runner of that operation is at work."]
    next_command: Annotated[str, "Command that removes it, or shows the runner that will."]


@dataclass(frozen=True, slots=True)
class ThrottleChangesAnswer:
    """The changes that throttle set or throttle clear made."""

    changes: Annotated[tuple[ChangedThrottle, ...], "What was changed."]
    kept: Annotated[
        tuple[KeptThrottle, ...],
        "Values that were not changed, because another client changed them at the same time.",
    ]


@dataclass(frozen=True, slots=True)
class ChangedThrottle:
    """One throttle value before and after."""

    entity: Entity
    key: Key
    before: Annotated[str | None, "The value before; null for none."]
    after: Annotated[str | None, "The value now; null for none."]
    seen: Annotated[
        bool,
        "Whether the value before could be read. "
        "Where it could not, the broker does not answer and its controller has the value after.",
    ]
    restored_from: Annotated[
        str | None, "The operation whose replaced value comes back; null where none does."
    ]


@dataclass(frozen=True, slots=True)
class KeptThrottle:
    """A throttle value that another client changed."""

    entity: Entity
    key: Key
    value: Annotated[str | None, "The value now; null for none."]
