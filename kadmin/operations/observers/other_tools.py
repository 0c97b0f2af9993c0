"""Reassignments of other tools while an operation runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.decide.copies import CopyingSpec
from kadmin.operations.decide.foreign import foreign_moves
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.plan.sources import lacks_source
from kadmin.waiting import next_at
from kadmin.wording import name_some

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.decide.spec import OperationSpec

LOOK_AROUND_S = 5.0
"""Seconds between two readings of the whole cluster."""


class OtherTools:
    """Finds the partitions that other tools reassign beside a reassignment.

    Beside other operations, none.
    """

    def __init__(self, context: Context, work: OperationSpec) -> None:
        self._context = context
        self._work = work
        self._look_at = context.clock.now() + LOOK_AROUND_S
        self._known: tuple[TopicPartition, ...] = ()
        self.cluster: ClusterState | None = None
        """The last reading of the whole cluster."""

    def moving(self, state: ClusterState) -> tuple[TopicPartition, ...]:
        """Return the partitions that other tools reassign and that have a replica to copy from."""
        if not isinstance(self._work, ReassignmentWork):
            return ()
        return tuple(
            each
            for each in foreign_moves(state, self._work.targets)
            if not lacks_source(each, state)
        )

    @property
    def message(self) -> str:
        """The reassignments of the last look in a sentence, '' where there were none."""
        text = (
            f"another tool reassigns {name_some(self._known)}; the next wave waits until they are "
            "done"
        )
        return text if self._known else ""

    def look(self) -> str | None:
        """Read the cluster once it is time; return a note where others began or ended."""
        clock, began = self._context.clock, self._context.clock.now()
        if not isinstance(self._work, CopyingSpec) or began < self._look_at:
            return None
        self.cluster = self._context.backend.read()
        found, before = self.moving(self.cluster), self._known
        self._look_at = next_at(began, clock.now(), LOOK_AROUND_S)
        self._known = found
        return (
            None
            if found == before
            else self.message or "no other tool reassigns partitions any more"
        )
