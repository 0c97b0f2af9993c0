"""The result of examining a plan on a state of the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.documents.check import read
from kadmin.errors import StalePlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.diagnostics import Diagnostic
    from kadmin.errors import KadminError
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.growth import NewPartitions
    from kadmin.plan.model import Plan
    from kadmin.plan.tiers import TieredBytes


@dataclass(frozen=True, slots=True)
class Examination:
    """Errors that refuse a plan on a state, and the work that it would do.

    `work` None: nothing to do. `targets` names what an election would elect, a deletion delete or a
    recreation create, a growth add; `lost_bytes` counts all copies that a deletion deletes, None
    where unknown and for other plans. `leaders` are those of an election's targets before and after
    it, -1 for none. `new` are the partitions that a growth adds. `tiered` adds up the tiered
    partitions that a reassignment copies or a deletion deletes, None where there are none.
    """

    refusals: tuple[KadminError, ...]
    work: OperationSpec | None
    change: PlanDiff | None = None
    targets: tuple[str, ...] = ()
    lost_bytes: int | None = None
    warnings: tuple[str, ...] = ()
    throttle: Throttle | None = None
    leaders: tuple[tuple[int, int], ...] = ()
    new: NewPartitions | None = None
    tiered: TieredBytes | None = None

    @property
    def refusal(self) -> KadminError | None:
        """Return the first refusal.

        A StalePlanError combines all of its type, so one run shows every mismatch.
        """
        first = next(iter(self.refusals), None)
        if not isinstance(first, StalePlanError):
            return first
        alike = [each for each in self.refusals if type(each) is type(first)]
        return type(first)(
            " ".join(each.message for each in alike),
            cause="; ".join(dict.fromkeys(each.cause for each in alike if each.cause)) or None,
            next_step=first.next_step,
        )


def placed(plan: Plan, found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """Return diagnostics with their places in the plan's file, if it was read from one."""
    file = plan.header.file
    return found if file is None else read(file.data, file.name).place(found)
