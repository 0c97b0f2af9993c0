"""Changes dynamic configs through the brokers; a change counts once its value is read back.

The API has no compare-and-set. Entries of lists are appended and subtracted, so that clients that
do the same do not overwrite each other. A broker's own configs are read and written at that broker;
those of a broker that does not answer can be written at the active controller, and read nowhere.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.errors import (
    BusyError,
    KadminError,
    NotAuthorizedError,
    NotCompletedError,
    UnknownOutcomeError,
    UnreachableError,
)
from kadmin.next_step import command
from kadmin.operations.port import ConfigsOutcome
from kadmin.plan.cordon import CORDON
from kadmin.plan.throttle import LISTS, THROTTLE_KEYS, WILDCARD, entries
from kadmin.plan.written import require_written
from kadmin.wording import name_some
from kadmin.worlds.kafka.reader import read_quorum
from kadmin.worlds.kafka.sending import RequestsOfStep
from kadmin.worlds.kafka.wire.catch_up import catches_up, caught_up_broker
from kadmin.worlds.kafka.wire.configs import (
    ConfigEdit,
    ConfigOperation,
    alter_configs,
    read_own_configs,
)
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.quorum import reach_controller

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.operations.context import Clock
    from kadmin.operations.port import EditConfigs
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.steps import Step
    from kadmin.operations.store import OperationStore
    from kadmin.plan.throttle import ConfigEdits, ConfigValues
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.model import Quorum

    Edits = Mapping[str, tuple[ConfigEdit, ...]]

BATCH = 200
"""Number of entities in one request."""
_BROKER_KEYS = THROTTLE_KEYS | {CORDON}
_ROUNDS = 5
"""Number of rounds of requests without progress towards the wanted values."""


class EntityConfigs:
    """Reads and changes the configs of topics and brokers."""

    def __init__(
        self, connection: KafkaConnection, operations: OperationStore, clock: Clock
    ) -> None:
        self._connection = connection
        self._operations = operations
        self._clock = clock

    def entities(self) -> dict[ConfigEntity, bool]:
        """Return every topic and broker, and whether it exists; a broker exists while alive."""
        found = read_metadata(self._connection)
        held = {broker for each in found.partitions.values() for broker in each.replicas}
        alive = {broker for broker, each in found.brokers.items() if each.alive}
        topics = dict.fromkeys(map(ConfigEntity.of_topic, found.topics), True)
        brokers = {
            ConfigEntity.of_broker(broker): broker in alive
            for broker in sorted({*held, *found.brokers})
        }
        return {**topics, **brokers, DEFAULT_ENTITY: True}

    def read(self, entities: Iterable[ConfigEntity]) -> ConfigValues:
        """Return the throttles and cordons among the dynamic configs of entities.

        A broker that does not answer is left out. The values are no older than the call. Without
        the keys a broker would describe some thirty settings a topic.
        """
        names = sorted(entities)
        quorum = read_quorum(self._connection)
        found: dict[ConfigEntity, Mapping[str, str]] = {}
        common = [entity for entity in names if entity.broker_id is None]
        at = (
            caught_up_broker(self._connection, quorum.high_watermark)
            if quorum is not None and common
            else None
        )
        for start in range(0, len(common), BATCH):
            found |= read_own_configs(
                self._connection, common[start : start + BATCH], keys=THROTTLE_KEYS, broker_id=at
            )
        own = [(entity, broker) for entity in names if (broker := entity.broker_id) is not None]
        alive = read_metadata(self._connection, ()).brokers if own else {}
        for entity, broker in own:
            if (
                broker in alive
                and alive[broker].alive
                and (values := self._own(entity, broker, quorum)) is not None
            ):
                found[entity] = values
        return found

    def change(
        self,
        entities: Iterable[ConfigEntity],
        edit: EditConfigs,
        lease: Lease,
        step: Step | None = None,
    ) -> ConfigsOutcome:
        """Apply the edits that `edit` derives from the values found, until it derives none.

        Brokers that do not answer are left out. `step` is on record as unanswered while a request
        may be applied late. Raises LostLockError, BusyError where values keep changing,
        NotCompletedError for a refusal.
        """
        names, least, idle, silent = sorted(entities), math.inf, 0, False
        with RequestsOfStep(self._operations, lease, step) as requests:
            while wanted := edit(found := self.read(names)):
                require_written(wanted)
                edits = {entity: _edits(values, found[entity]) for entity, values in wanted.items()}
                left = sum(len(each) for keys in edits.values() for each in keys.values())
                idle = 0 if left < least else idle + 1
                least = min(least, left)
                if idle == _ROUNDS:
                    raise _keep_changing(wanted, silent=silent)
                if self._is_ending:
                    return ConfigsOutcome.CUT_SHORT
                silent = self._send(edits, requests)
            return ConfigsOutcome.UNANSWERED if requests.unanswered else ConfigsOutcome.WRITTEN

    def overwrite(
        self, values: ConfigEdits, lease: Lease, step: Step | None = None
    ) -> dict[ConfigEntity, str]:
        """Write configs of dead brokers at the active controller, without reading them.

        Returns the reason for each broker whose configs were not written. Raises LostLockError.
        """
        require_written(values)
        edits = {
            entity: {key: _put(value) for key, value in keys.items()}
            for entity, keys in values.items()
        }
        with RequestsOfStep(self._operations, lease, step) as requests:
            send_by = requests.prove()
            try:
                controller = reach_controller(self._connection)
                answers = alter_configs(
                    self._connection, edits, broker_id=controller, send_by=send_by
                )
            except KadminError as error:
                requests.unanswered = isinstance(error, UnknownOutcomeError)
                return dict.fromkeys(values, f"{error.message} {error.cause or ''}".strip())
        return {entity: str(answer) for entity, answer in answers.items() if answer is not None}

    @property
    def _is_ending(self) -> bool:
        return self._clock.stop_signal is not None or self._clock.over

    def _own(
        self, entity: ConfigEntity, broker: int, quorum: Quorum | None
    ) -> dict[str, str] | None:
        try:
            if quorum is not None and not catches_up(
                self._connection, broker, quorum.high_watermark
            ):
                return None
            return read_own_configs(
                self._connection, [entity], keys=_BROKER_KEYS, broker_id=broker
            )[entity]
        except UnreachableError:
            return None

    def _send(self, edits: Mapping[ConfigEntity, Edits], requests: RequestsOfStep) -> bool:
        """Send the next edit of each value; returns whether some broker did not answer."""
        by_broker: dict[int | None, dict[ConfigEntity, Mapping[str, ConfigEdit]]] = {}
        for entity, keys in edits.items():
            by_broker.setdefault(entity.broker_id, {})[entity] = {
                key: each[0] for key, each in keys.items()
            }
        silent = False
        for broker_id, part in by_broker.items():
            try:
                self._send_to(broker_id, part, requests)
            except NotAuthorizedError:
                raise
            except UnknownOutcomeError:
                requests.unanswered = silent = True
            except UnreachableError:
                silent = True
        return silent

    def _send_to(
        self,
        broker_id: int | None,
        part: Mapping[ConfigEntity, Mapping[str, ConfigEdit]],
        requests: RequestsOfStep,
    ) -> None:
        names = sorted(part)
        for start in range(0, len(names), BATCH):
            if self._is_ending:
                return
            chunk = {entity: part[entity] for entity in names[start : start + BATCH]}
            refused = alter_configs(
                self._connection, chunk, broker_id=broker_id, send_by=requests.prove()
            )
            for entity, answer in refused.items():
                if answer is not None:
                    raise NotCompletedError(
                        f"The configs of {entity} were not changed.",
                        cause=str(answer),
                        next_step=command("throttle show"),
                    )


def _keep_changing(wanted: Iterable[ConfigEntity], *, silent: bool) -> BusyError:
    return BusyError(
        f"The configs of {name_some(sorted(wanted))} keep changing; not all of them were written.",
        cause="brokers did not answer" if silent else "another client writes them at the same time",
        next_step=command("throttle show"),
    )


def _edits(wanted: Mapping[str, str | None], found: Mapping[str, str]) -> Edits:
    return {key: edits_towards(key, value, found.get(key)) for key, value in wanted.items()}


def edits_towards(key: str, wanted: str | None, found: str | None) -> tuple[ConfigEdit, ...]:
    """Return the edits, each a request of its own, that lead to the wanted value.

    Those of a list are by its entries. Subtracting the last entry leaves an empty value: it is
    deleted next where no value is wanted, unless another client has added an entry meanwhile.
    """
    before, after = entries(found), entries(wanted)
    if key not in LISTS or WILDCARD in (*before, *after):
        return (_put(wanted),)
    gone = [entry for entry in before if entry not in after]
    new = [entry for entry in after if entry not in before]
    edits = [ConfigEdit(ConfigOperation.SUBTRACT, ",".join(gone))] if gone else []
    edits += [ConfigEdit(ConfigOperation.APPEND, ",".join(new))] if new else []
    return (*edits, _put(wanted)) if wanted is None or not edits else tuple(edits)


def _put(value: str | None) -> ConfigEdit:
    return (
        ConfigEdit(ConfigOperation.DELETE)
        if value is None
        else ConfigEdit(ConfigOperation.SET, value)
    )
