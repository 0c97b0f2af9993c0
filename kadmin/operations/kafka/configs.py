"""Changes dynamic configs through the brokers: by entries where a value is a list, and each seen before it counts.

The API has no compare-and-set. Entries of lists are appended and subtracted, so that clients that do the same do not
lose each other's. A broker's own configs are read and written at that broker; those of a broker that does not answer
can be written at the active controller, and read nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.kafka.catch_up import catches_up, caught_up_broker
from kadmin.cluster.kafka.configs import DEFAULT_ENTITY, ConfigEdit, ConfigOperation, alter_configs, read_own_configs
from kadmin.cluster.kafka.connection import uptime_s
from kadmin.cluster.kafka.metadata import read_metadata
from kadmin.cluster.kafka.quorum import reach_controller
from kadmin.cluster.kafka.reader import read_quorum
from kadmin.errors import (
    BusyError,
    KadminError,
    NotAuthorizedError,
    NotCompletedError,
    UnknownOutcomeError,
    UnreachableError,
)
from kadmin.operations.kafka.sending import SEND_BY_S
from kadmin.plan.throttle import LISTS, THROTTLE_KEYS, WILDCARD, entries, require_throttles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.kafka.connection import KafkaConnection
    from kadmin.cluster.kafka.model import Quorum
    from kadmin.operations.backend import EditConfigs
    from kadmin.operations.context import Clock
    from kadmin.operations.kafka.keyed import KeyedOperations
    from kadmin.operations.record.holder import Lease

    Edits = Mapping[str, Mapping[str, ConfigEdit]]

BATCH = 200
"""How many entities one request names."""
_ATTEMPTS = 5


class EntityConfigs:
    """Reads and changes the configs of topics and brokers."""

    def __init__(self, connection: KafkaConnection, operations: KeyedOperations, clock: Clock) -> None:
        self._connection = connection
        self._operations = operations
        self._clock = clock

    def entities(self) -> dict[str, bool]:
        """Return every topic and broker, and whether it exists; a broker exists while alive."""
        found = read_metadata(self._connection)
        held = {broker for each in found.partitions.values() for broker in each.replicas}
        alive = {broker for broker, each in found.brokers.items() if each.alive}
        brokers = {f"brokers/{broker}": broker in alive for broker in sorted({*held, *found.brokers})}
        return {**{f"topics/{name}": True for name in found.topics}, **brokers, DEFAULT_ENTITY: True}

    def read(self, entities: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return the throttles among the dynamic configs of entities; a broker that does not answer is left out.

        What is read is no older than the call. Without the keys a broker would describe some thirty settings a topic.
        """
        names = sorted(entities)
        quorum = read_quorum(self._connection)
        found: dict[str, dict[str, str]] = {}
        common = [entity for entity in names if _broker_of(entity) is None]
        at = caught_up_broker(self._connection, quorum.high_watermark) if quorum is not None and common else None
        for start in range(0, len(common), BATCH):
            found |= read_own_configs(self._connection, common[start : start + BATCH], keys=THROTTLE_KEYS, broker_id=at)
        own = [(entity, broker) for entity in names if (broker := _broker_of(entity)) is not None]
        alive = read_metadata(self._connection, ()).brokers if own else {}
        for entity, broker in own:
            if broker in alive and alive[broker].alive and (values := self._own(entity, broker, quorum)) is not None:
                found[entity] = values
        return found

    def change(self, entities: Iterable[str], edit: EditConfigs, lease: Lease) -> bool:
        """Apply the edits that `edit` derives from the values found, until it derives none.

        Brokers that do not answer are left out. Returns False on a signal or at the command's end. Raises
        LostLockError, BusyError where values keep changing, NotCompletedError for what is refused.
        """
        names, unanswered = sorted(entities), 0
        for _ in range(_ATTEMPTS):
            if self._clock.stop_signal is not None or self._clock.over:
                return False
            found = self.read(names)
            wanted = edit(found)
            if not wanted:
                return True
            require_throttles(wanted)
            edits = {entity: _edits(values, found[entity]) for entity, values in wanted.items()}
            send_by = uptime_s() + SEND_BY_S
            self._operations.confirm(lease)
            try:
                self._send(edits, send_by)
            except NotAuthorizedError:
                raise
            except (UnreachableError, UnknownOutcomeError):
                unanswered += 1
        raise BusyError(
            f"The configs of {', '.join(sorted(wanted))[:200]} keep changing; not all of them were written.",
            cause="brokers did not answer" if unanswered else "another client writes them at the same time",
            next_command="kadmin throttle show",
        )

    def overwrite(self, values: Mapping[str, Mapping[str, str | None]], lease: Lease) -> dict[str, str]:
        """Write configs of brokers that do not answer at the active controller, unseen.

        Returns why, for each broker whose configs were not written. Raises LostLockError.
        """
        require_throttles(values)
        edits = {entity: {key: _put(value) for key, value in keys.items()} for entity, keys in values.items()}
        send_by = uptime_s() + SEND_BY_S
        self._operations.confirm(lease)
        try:
            controller = reach_controller(self._connection)
            answers = alter_configs(self._connection, edits, broker_id=controller, send_by=send_by)
        except KadminError as error:
            return dict.fromkeys(values, f"{error.message} {error.cause or ''}".strip())
        return {entity: str(answer) for entity, answer in answers.items() if answer is not None}

    def _own(self, entity: str, broker: int, quorum: Quorum | None) -> dict[str, str] | None:
        try:
            if quorum is not None and not catches_up(self._connection, broker, quorum.high_watermark):
                return None
            return read_own_configs(self._connection, [entity], keys=THROTTLE_KEYS, broker_id=broker)[entity]
        except UnreachableError:
            return None

    def _send(self, edits: Edits, send_by: float) -> None:
        by_place: dict[int | None, dict[str, Mapping[str, ConfigEdit]]] = {}
        for entity, keys in edits.items():
            by_place.setdefault(_broker_of(entity), {})[entity] = keys
        for place, part in by_place.items():
            names = sorted(part)
            for start in range(0, len(names), BATCH):
                chunk = {entity: part[entity] for entity in names[start : start + BATCH]}
                refused = alter_configs(self._connection, chunk, broker_id=place, send_by=send_by)
                for entity, answer in refused.items():
                    if answer is not None:
                        raise NotCompletedError(
                            f"The configs of {entity} were not changed.",
                            cause=str(answer),
                            next_command="kadmin throttle show",
                        )


def _broker_of(entity: str) -> int | None:
    """Return the broker that alone reads and changes an entity's configs; None where any broker does."""
    kind, _, name = entity.partition("/")
    return int(name) if kind == "brokers" and entity != DEFAULT_ENTITY else None


def _edits(wanted: Mapping[str, str | None], found: Mapping[str, str]) -> dict[str, ConfigEdit]:
    return {key: _edit(key, value, found.get(key)) for key, value in wanted.items()}


def _edit(key: str, wanted: str | None, found: str | None) -> ConfigEdit:
    """Return the next edit that brings a value nearer to what is wanted; of a list, by its entries.

    The last entry subtracted leaves an empty value: it is deleted next where no value is wanted, unless another client
    has added an entry meanwhile.
    """
    before, after = entries(found), entries(wanted)
    if key not in LISTS or WILDCARD in (*before, *after):
        return _put(wanted)
    if gone := [entry for entry in before if entry not in after]:
        return ConfigEdit(ConfigOperation.SUBTRACT, ",".join(gone))
    if new := [entry for entry in after if entry not in before]:
        return ConfigEdit(ConfigOperation.APPEND, ",".join(new))
    return _put(wanted)


def _put(value: str | None) -> ConfigEdit:
    return ConfigEdit(ConfigOperation.DELETE) if value is None else ConfigEdit(ConfigOperation.SET, value)
