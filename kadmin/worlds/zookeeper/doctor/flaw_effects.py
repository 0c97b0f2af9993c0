"""Effects of flaws of an admin node on controllers, by version: tables measured on live brokers.

Constraints: a flaw of one entry may affect the whole node. From 2.0 on the reassignment decoder is
strict about keys and lenient about numbers; the election decoder is lenient about keys and strict
about numbers on every version. Where the cluster's version is not known exactly, all possible
effects are returned. Versions before 1.1 have the rows of 1.1 except where a difference was
measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kadmin.cluster.versions import NEWEST, OLDEST
from kadmin.insight.diagnosis.finding import Flaw
from kadmin.insight.tables.admin_nodes import Effect
from kadmin.worlds.zookeeper.znodes.admin import REASSIGN_PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.versions import KafkaVersions, Version


EffectTable: TypeAlias = "Mapping[str, tuple[tuple[Version, Effect], ...]]"
"""For each flaw its effects, each with the first version that has it."""


def _always(effect: Effect) -> tuple[tuple[Version, Effect], ...]:
    return ((OLDEST, effect),)


def _changed(before: Effect, version: Version, since: Effect) -> tuple[tuple[Version, Effect], ...]:
    return ((OLDEST, before), (version, since))


_STRICT: Version = (2, 0)
_MARKED: Version = (2, 4)
_TOLERANT_ELECTIONS: Version = (2, 2)
_ASYNCHRONOUS: Version = (1, 1)
_AFTER_THE_OLDEST: Version = (0, 11)

_COMMON: EffectTable = {
    Flaw.NULL_DATA: _always(Effect.POISON),
    Flaw.PROBE: _always(Effect.DROPPED),
    Flaw.BEING_DELETED: _always(Effect.DROPPED),
    Flaw.NO_OP: _always(Effect.DROPPED),
}
_REASSIGNMENT: EffectTable = {
    **_COMMON,
    Flaw.JSON_NULL: _changed(Effect.IGNORED, _AFTER_THE_OLDEST, Effect.POISON),
    Flaw.EMPTY_DATA: _always(Effect.IGNORED),
    Flaw.NOT_JSON: _always(Effect.IGNORED),
    Flaw.NOT_AN_OBJECT: _always(Effect.IGNORED),
    Flaw.TRAILING_TEXT: _changed(Effect.IGNORED, _ASYNCHRONOUS, Effect.OBEYED),
    Flaw.NO_PARTITIONS: _changed(Effect.IGNORED, _STRICT, Effect.POISON),
    Flaw.NOT_A_LIST: _changed(Effect.POISON, _STRICT, Effect.IGNORED),
    Flaw.NO_ENTRIES: _always(Effect.IGNORED),
    Flaw.UNKNOWN_KEY: _changed(Effect.OBEYED, _STRICT, Effect.IGNORED),
    Flaw.NOT_AN_ENTRY: _changed(Effect.POISON, _STRICT, Effect.IGNORED),
    Flaw.NO_TOPIC: _changed(Effect.POISON, _STRICT, Effect.DROPPED),
    Flaw.ODD_PARTITION: _changed(Effect.POISON, _STRICT, Effect.OBEYED),
    Flaw.BAD_PARTITION: _changed(Effect.POISON, _STRICT, Effect.IGNORED),
    Flaw.NO_REPLICAS: (
        (OLDEST, Effect.POISON),
        (_STRICT, Effect.DROPPED),
        (_MARKED, Effect.POISON),
    ),
    Flaw.BAD_REPLICAS: _changed(Effect.POISON, _STRICT, Effect.IGNORED),
    Flaw.BAD_BROKER_ID: _changed(Effect.DROPPED, _AFTER_THE_OLDEST, Effect.POISON),
    Flaw.EMPTY_REPLICAS: _always(Effect.POISON),
    Flaw.DUPLICATE_BROKER: _changed(Effect.OBEYED, _MARKED, Effect.STAYS),
    Flaw.UNKNOWN_TOPIC: _always(Effect.DROPPED),
    Flaw.UNKNOWN_PARTITION: _always(Effect.DROPPED),
    Flaw.DEAD_BROKER: _always(Effect.WAITS),
}
_ELECTION: EffectTable = {
    **_COMMON,
    Flaw.JSON_NULL: _always(Effect.POISON),
    Flaw.EMPTY_DATA: (
        (OLDEST, Effect.POISON),
        (_ASYNCHRONOUS, Effect.DROPPED),
        (_TOLERANT_ELECTIONS, Effect.POISON),
    ),
    Flaw.NOT_JSON: _changed(Effect.POISON, _ASYNCHRONOUS, Effect.DROPPED),
    Flaw.NOT_AN_OBJECT: _always(Effect.POISON),
    Flaw.NO_PARTITIONS: _always(Effect.POISON),
    Flaw.NOT_A_LIST: _always(Effect.POISON),
    Flaw.NOT_AN_ENTRY: _always(Effect.POISON),
    Flaw.NO_TOPIC: _always(Effect.POISON),
    Flaw.ODD_PARTITION: _always(Effect.POISON),
    Flaw.BAD_PARTITION: _always(Effect.POISON),
    Flaw.NO_ENTRIES: _always(Effect.DROPPED),
    Flaw.NAMED_TWICE: _changed(Effect.STAYS, _ASYNCHRONOUS, Effect.OBEYED),
    Flaw.UNKNOWN_TOPIC: _changed(Effect.STAYS, _TOLERANT_ELECTIONS, Effect.DROPPED),
    Flaw.UNKNOWN_PARTITION: _changed(Effect.STAYS, _TOLERANT_ELECTIONS, Effect.DROPPED),
    Flaw.NOT_ELECTABLE: _always(Effect.DROPPED),
}


def effects(path: str, flaw: str, versions: KafkaVersions) -> frozenset[Effect]:
    """Return the effects of a flaw of the node at `path` on controllers of these versions.

    Never empty.
    """
    rows = (_REASSIGNMENT if path == REASSIGN_PARTITIONS else _ELECTION).get(
        flaw, _always(Effect.OBEYED)
    )
    # A row is valid up to the version before the next row's.
    ends = [*(_before(since) for since, _ in rows[1:]), NEWEST]
    return frozenset(
        effect
        for (since, effect), end in zip(rows, ends, strict=True)
        if versions.may_be(since, end)
    )


def _before(version: Version) -> Version:
    major, minor = version
    return (major, minor - 1) if minor else (major - 1, 99)
