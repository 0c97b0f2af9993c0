"""Gives rates to brokers that did not answer when the throttle of a catch-up was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.decide.catch_up import CatchUpWork
from kadmin.operations.events import Note
from kadmin.plan.throttle import merge, rates
from kadmin.plan.units import readable_rate
from kadmin.wording import name_some

if TYPE_CHECKING:
    from kadmin.cluster.config_entity import ConfigEntity
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.context import Context
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.throttles.operation import Throttling


class LateBrokers:
    """Brokers of a catch-up without a rate on record, because only a broker shows its own configs.

    Until such a broker has its rate, the rates of the leaders limit its copies.
    """

    def __init__(self, context: Context, work: OperationSpec, throttling: Throttling) -> None:
        self._context = context
        self._throttling = throttling
        self._answered: set[ConfigEntity] = set()
        targets = work.targets if isinstance(work, CatchUpWork) else ()
        self._brokers = {
            broker for each in targets for broker in (*each.replicas, *(each.current or ()))
        }

    def look(self, state: ClusterState, lease: Lease) -> None:
        """Put the rates of brokers that answer now on record and set them, with a note.

        They get the lowest rate of a range.
        """
        throttle = self._throttling.current
        if throttle is None or throttle.spec is None or not self._brokers:
            return
        rate, known = throttle.spec.amount, {*throttle.changes, *self._answered}
        alive = rates(dict.fromkeys(self._brokers & state.brokers.keys(), rate))
        wanted = {entity: keys for entity, keys in alive.items() if entity not in known}
        found = self._context.backend.read_configs(wanted) if wanted else {}
        self._answered.update(found)
        changes = merge({entity: wanted[entity] for entity in found}, found)
        brokers = sorted(each.broker_id for each in changes if each.broker_id is not None)
        if brokers:
            names = name_some(sorted(changes))
            self._throttling.set_rates(dict.fromkeys(brokers, rate), f"{names} answers", lease)
            self._context.tell(Note(f"throttled at {readable_rate(rate)} on {names}"))
