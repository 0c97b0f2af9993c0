"""Errands of an operation: changes of brokers as a whole, and of configs that are set back.

Those of brokers are on record before their request, configs once they are as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.capabilities import MetadataMode
from kadmin.errors import NotCompletedError, StalePlanError, UsageError
from kadmin.operations.cordons import cordon_under, find_to_cordon, uncordon_under
from kadmin.operations.decide.actions import NoteGone, PlanRound, RestoreConfigs, RunErrand
from kadmin.operations.events import Note
from kadmin.operations.port import ConfigsOutcome
from kadmin.operations.record.steps import ConfigStep, DrainStep, Errand, ErrandStep, GoneStep
from kadmin.operations.registrations import unregister_under
from kadmin.operations.throttles.changes import Removal
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from kadmin.operations.context import Context
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.steps import Step
    from kadmin.plan.throttle import ConfigChanges


class Errands:
    """Runs errands under a lease; steps are numbered after those on record."""

    def __init__(self, context: Context, steps: Collection[Step], lease: Lease) -> None:
        self._context = context
        self._steps = steps
        self._number = len(steps)
        self._lease = lease

    def run(self, action: NoteGone | PlanRound | RunErrand | RestoreConfigs) -> str | None:
        """Return the reason to wait and try again, None where it is done."""
        match action:
            case NoteGone():
                self._write(lambda number, at: GoneStep(number, at, action.wave, action.brokers))
                self._note(f"{brokers_in_words(action.brokers)} stopped")
            case PlanRound():
                self._write(lambda number, at: DrainStep(number, at, action.waves))
                moved = sum(map(len, action.waves))
                self._note(f"another round: {count(moved, 'partition')} landed meanwhile")
            case RunErrand(Errand.CORDON):
                self._cordon(action.brokers)
            case RunErrand(Errand.UNCORDON):
                for broker in sorted(action.brokers):
                    uncordon_under(self._context, broker, self._lease)
                self._on_record(action.errand, action.brokers)
                self._note(f"{brokers_in_words(action.brokers)} uncordoned")
            case RunErrand(Errand.UNREGISTER):
                return self._unregister(action.brokers)
            case RestoreConfigs():
                return self._restore_configs(action.configs)
        return None

    def _restore_configs(self, changes: ConfigChanges) -> str | None:
        removal, backend = Removal(changes), self._context.backend
        outcome = backend.change_configs(changes, removal.edit, self._lease)
        if outcome is ConfigsOutcome.CUT_SHORT:
            return "not every config is as before yet"
        topics = tuple(each.name for each in changes)
        self._write(lambda number, at: ConfigStep(number, at, topics))
        names = name_some({key for keys in changes.values() for key in keys})
        self._note(f"{names} is as before on {name_some(topics)}")
        if removal.foreign:
            self._note(f"kept what another client changed: {name_some(removal.foreign.values())}")
        return None

    def _cordon(self, brokers: frozenset[int]) -> None:
        """Cordon those that can be and are not; what lands on others is moved in later rounds.

        Kafka places nothing on a broker that is not alive.
        """
        for broker in sorted(self._context.backend.read(()).brokers.keys() & brokers):
            try:
                found = find_to_cordon(self._context, broker)
                if not found.is_cordoned:
                    self._on_record(Errand.CORDON, {broker})
                    cordon_under(self._context, found, self._lease)
                    self._note(f"broker {broker} is cordoned")
            except (NotCompletedError, StalePlanError, UsageError) as error:
                self._note(f"broker {broker} is not cordoned: {error.cause or error.message}")

    def _unregister(self, brokers: Collection[int]) -> str | None:
        if self._context.backend.capabilities.mode is MetadataMode.ZOOKEEPER:
            return None  # a registration ends with its session
        for broker in sorted(brokers):
            if not self._began(broker):
                self._on_record(Errand.UNREGISTER, {broker})
            try:
                unregister_under(self._context, broker, self._lease)
            except StalePlanError:
                continue  # an earlier run unregistered it
            except NotCompletedError as error:
                return error.message
            self._note(f"broker {broker} is unregistered")
        return None

    def _began(self, broker: int) -> bool:
        asked = (each for each in self._steps if isinstance(each, ErrandStep))
        return any(each.errand is Errand.UNREGISTER and broker in each.brokers for each in asked)

    def _on_record(self, errand: Errand, brokers: Collection[int]) -> None:
        self._write(lambda number, at: ErrandStep(number, at, errand, tuple(sorted(brokers))))

    def _write(self, step: Callable[[int, str], Step]) -> None:
        self._number += 1
        written = step(self._number, self._context.clock.timestamp())
        self._context.operations.write_step(written, self._lease)

    def _note(self, text: str) -> None:
        self._context.tell(Note(text))
