"""Replication throttles as config values.

They are added to existing values, and removed without changing foreign ones.

Goals: a throttle has two halves (KIP-73): rates on the brokers that send or receive, and lists of
replicas on the topics, `partition:broker,...` or `*`. A topic's lists may hold foreign entries:
ours are added to them.
Constraints: values that others change between setting and removal are kept.
Algorithm: three-way: `previous` and `ours` are on record, `found` is on the cluster. Entries of a
list are ours when they are in `ours` and not in `previous`. A rate that was changed while it was
set is ours with each of its values: where the change was interrupted, some brokers still have an
`earlier` one.
Example: found `0:1`, wanted `0:1,0:2` gives ours `0:1,0:2`; later found `0:1,0:2,9:9` becomes
`0:1,9:9`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from kadmin.cluster.config_entity import BROKER_KIND, ConfigEntity
from kadmin.cluster.names import is_legal_topic_name
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kadmin.plan.model import PartitionTarget

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
DISK_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
"""The rate of all moves of replicas between the disks of one broker together."""
RATES = (LEADER_RATE, FOLLOWER_RATE)
LISTS = (LEADER_REPLICAS, FOLLOWER_REPLICAS)
MOST_LIST_BYTES = 32_767
"""The longest list that brokers take through their API, some 5,000 entries; a longer one becomes
WILDCARD.

Brokers throttle no replica that is in sync (KIP-73), so that it slows down the same copies.
"""
THROTTLE_KEYS = frozenset({*RATES, *LISTS, DISK_RATE})
MAY_RETURN = (
    "a rate that was removed may be back after its broker restarts (seen on Kafka 4.3.0 and "
    "4.4.0, not on 4.1.2): docs/throttles.md#a-rate-that-comes-back"
)
"""In KRaft mode a broker starts with the own configs of its last snapshot; no request shows which
those are."""
WILDCARD = "*"
"""The value of a replica list that names every replica of the topic."""

ConfigValues: TypeAlias = Mapping[ConfigEntity, Mapping[str, str]]
"""Values by entity and key."""
ConfigEdits: TypeAlias = Mapping[ConfigEntity, Mapping[str, str | None]]
"""Values to write by entity and key; None deletes the key."""


def is_throttle(entity: ConfigEntity, key: str) -> bool:
    """Whether a config is the rate of a broker, or their default, or a topic's list of replicas."""
    if entity.is_topic:
        return is_legal_topic_name(entity.name) and key in LISTS
    return entity.kind == BROKER_KIND and key in {*RATES, DISK_RATE}


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One config value: as it was found, and as we set it (None: no such key).

    `earlier` are our values before.
    """

    previous: str | None
    ours: str | None
    earlier: tuple[str | None, ...] = ()


ConfigChanges: TypeAlias = Mapping[ConfigEntity, Mapping[str, ConfigChange]]
"""Changes by entity and key."""


@dataclass(frozen=True, slots=True)
class ForeignValue:
    """A value that another tool set or removed (None) after ours was planned or set."""

    entity: ConfigEntity
    key: str
    value: str | None

    def __str__(self) -> str:
        return f"{self.entity} {self.key} = {'(none)' if self.value is None else self.value}"


@dataclass(frozen=True, slots=True)
class Edits:
    """Values to write, and the foreign values that are kept."""

    values: ConfigEdits
    kept: tuple[ForeignValue, ...]


def throttled(targets: Iterable[PartitionTarget], rate: int) -> dict[ConfigEntity, dict[str, str]]:
    """Return the configs that throttle these reassignments; those that copy nothing need none.

    Of each partition the current replicas are throttled as senders, since any of them may become
    leader, the added ones as receivers; both rates on every broker among them.
    """
    senders: dict[str, list[str]] = {}
    receivers: dict[str, list[str]] = {}
    brokers: set[int] = set()
    for target in targets:
        new, number = target.added, target.partition.partition
        if new:
            senders.setdefault(target.partition.topic, []).extend(
                f"{number}:{broker}" for broker in target.current or ()
            )
            receivers.setdefault(target.partition.topic, []).extend(
                f"{number}:{broker}" for broker in new
            )
            brokers.update(new, target.current or ())
    topics = {
        ConfigEntity.of_topic(topic): {
            LEADER_REPLICAS: ",".join(senders[topic]),
            FOLLOWER_REPLICAS: ",".join(receivers[topic]),
        }
        for topic in senders
    }
    return {**topics, **rates(dict.fromkeys(brokers, rate))}


def only_readable(
    wanted: ConfigValues, found: ConfigValues, changes: ConfigChanges
) -> dict[ConfigEntity, Mapping[str, str]]:
    """Return the wanted values of entities with readable configs, or with changes on record."""
    return {
        entity: values for entity, values in wanted.items() if entity in found or entity in changes
    }


def rates(rate_of: Mapping[int, int]) -> dict[ConfigEntity, dict[str, str]]:
    """Return both rates on each broker, of its bytes per second."""
    return {
        ConfigEntity.of_broker(broker): dict.fromkeys(RATES, str(rate))
        for broker, rate in sorted(rate_of.items())
    }


def disk_rates(brokers: Iterable[int], rate: int) -> dict[ConfigEntity, dict[str, str]]:
    """Return the rate of moves between the disks of each broker, in bytes per second."""
    return {ConfigEntity.of_broker(broker): {DISK_RATE: str(rate)} for broker in sorted(brokers)}


def rates_of(changes: ConfigChanges) -> dict[int, int]:
    """Return the bytes per second of each broker to which changes give a rate."""
    return rates_in(
        {
            entity: {key: change.ours or "0" for key, change in keys.items()}
            for entity, keys in changes.items()
        }
    )


def rates_in(values: ConfigValues) -> dict[int, int]:
    """Return the bytes per second of each broker that has a rate among these values."""
    return {
        entity.broker_id: int(keys[LEADER_RATE])
        for entity, keys in values.items()
        if entity.broker_id is not None and LEADER_RATE in keys
    }


def merge(wanted: ConfigValues, found: ConfigValues) -> dict[ConfigEntity, dict[str, ConfigChange]]:
    """Return the changes that add the wanted values to those found.

    Entities that need none are left out.
    """
    changes: dict[ConfigEntity, dict[str, ConfigChange]] = {}
    for entity, values in wanted.items():
        for key, value in values.items():
            previous = found.get(entity, {}).get(key)
            ours = _joined(previous, value) if key in LISTS else value
            if not _same(key, previous, ours):
                changes.setdefault(entity, {})[key] = ConfigChange(previous, ours)
    return changes


def plan_revision(
    wanted: ConfigValues, changes: ConfigChanges, found: ConfigValues
) -> dict[ConfigEntity, dict[str, ConfigChange]]:
    """Return the changes to add to those on record so that they set the wanted values.

    Lists on record contain the wanted entries already; of a rate on record only `ours` changes.
    """
    new = {
        entity: {key: value for key, value in values.items() if key not in changes.get(entity, {})}
        for entity, values in wanted.items()
    }
    edits = merge(new, found)
    for entity, keys in changes.items():
        for key, change in keys.items():
            value = wanted.get(entity, {}).get(key)
            if key in RATES and value is not None and value != change.ours:
                edits.setdefault(entity, {})[key] = ConfigChange(change.previous, value)
    return edits


def apply_revision(changes: ConfigChanges, newer: ConfigChanges) -> ConfigChanges:
    """Return changes with newer ones added; the old value of `ours` becomes an `earlier` one."""
    every = dict(changes)
    for entity, keys in newer.items():
        before = every.get(entity, {})
        revised = {}
        for key, change in keys.items():
            on_record = before.get(key)
            earlier = () if on_record is None else (*on_record.earlier, on_record.ours)
            revised[key] = replace(change, earlier=tuple(dict.fromkeys(earlier)))
        every[entity] = {**before, **revised}
    return every


def edits_to_set(changes: ConfigChanges, found: ConfigValues) -> Edits:
    """Return the edits that changes still need.

    A value that is neither previous nor ours is kept.
    """
    values: dict[ConfigEntity, dict[str, str | None]] = {}
    kept = []
    for entity, key, change, now in _each(changes, found):
        if _same(key, now, change.ours):
            continue
        if (
            _same(key, now, change.previous)
            or now in change.earlier
            or _is_emptied(key, change.ours, now)
        ):
            values.setdefault(entity, {})[key] = change.ours
        else:
            kept.append(ForeignValue(entity, key, now))
    return Edits(values, tuple(kept))


def edits_to_restore(changes: ConfigChanges, found: ConfigValues) -> Edits:
    """Return the edits that undo changes: values still ours, and of a list our entries alone."""
    values: dict[ConfigEntity, dict[str, str | None]] = {}
    kept = []
    for entity, key, change, now in _each(changes, found):
        if _same(key, now, change.previous):
            continue
        if (
            _same(key, now, change.ours)
            or now in change.earlier
            or _is_emptied(key, change.previous, now)
        ):
            values.setdefault(entity, {})[key] = change.previous
            continue
        kept.append(ForeignValue(entity, key, now))
        without = _without_ours(change, now) if key in LISTS else now
        if without != now:
            values.setdefault(entity, {})[key] = without
    return Edits(values, tuple(kept))


def holds_ours(key: str, change: ConfigChange, now: str | None) -> bool:
    """Whether a value found is ours, or a list that still has entries of ours."""
    if _same(key, now, change.previous):
        return False
    if _same(key, now, change.ours) or now in change.earlier:
        return True
    return key in LISTS and _without_ours(change, now) != now


def _each(
    changes: ConfigChanges, found: ConfigValues
) -> Iterator[tuple[ConfigEntity, str, ConfigChange, str | None]]:
    for entity, keys in changes.items():
        for key, change in keys.items():
            yield entity, key, change, found.get(entity, {}).get(key)


def entries(value: str | None) -> list[str]:
    """Return the entries of a list of replicas, `partition:broker` or `*`, in order."""
    return [entry.strip() for entry in (value or "").split(",") if entry.strip()]


def _joined(previous: str | None, wanted: str) -> str:
    listed = entries(previous)
    joined = ",".join([*listed, *(entry for entry in entries(wanted) if entry not in set(listed))])
    if WILDCARD in listed or wanted == WILDCARD or len(joined) > MOST_LIST_BYTES:
        return WILDCARD
    return joined


def _same(key: str, value: str | None, other: str | None) -> bool:
    # Brokers read a list as a set; an absent key and an empty list are different, and are restored
    # as they were.
    if value is None or other is None or key not in LISTS:
        return value == other
    return set(entries(value)) == set(entries(other))


def _is_emptied(key: str, wanted: str | None, now: str | None) -> bool:
    # Through the brokers a list is emptied first, and its key is removed after that.
    return key in LISTS and wanted is None and now is not None and not entries(now)


def _without_ours(change: ConfigChange, now: str | None) -> str | None:
    ours = set(entries(change.ours)) - set(entries(change.previous)) - {WILDCARD}
    left = [entry for entry in entries(now) if entry not in ours]
    if len(left) == len(entries(now)):
        return now
    return ",".join(left) or None


def describe_entities(entities: Collection[ConfigEntity]) -> str:
    """Format the numbers of brokers and topics, `4 brokers and 3 topics`; zeros are left out."""
    topics = sum(entity.is_topic for entity in entities)
    found = ((len(entities) - topics, "broker"), (topics, "topic"))
    return " and ".join(count(number, noun) for number, noun in found if number)
