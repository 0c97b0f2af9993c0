"""The configs that kadmin writes: no record, and no plan, makes it write another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.errors import NotCompletedError
from kadmin.next_step import command
from kadmin.plan.cordon import is_cordon
from kadmin.plan.throttle import is_throttle
from kadmin.plan.unclean import is_unclean_election

if TYPE_CHECKING:
    from kadmin.plan.throttle import ConfigEdits


def require_written(values: ConfigEdits) -> None:
    """Raise NotCompletedError where keys to be written, by entity, have one of another kind."""
    for entity, keys in values.items():
        for key in keys:
            if not any(is_one(entity, key) for is_one in _WRITTEN):
                raise NotCompletedError(
                    f"{one_line(key)} of {one_line(str(entity))} is no throttle, cordon or "
                    "unclean election; no config was written.",
                    cause=(
                        "kadmin writes rates and cordons of brokers, lists of throttled replicas "
                        "and unclean.leader.election.enable of topics, nothing else"
                    ),
                    next_step=command("history")
                    + ", which shows who wrote the operation on record",
                )


_WRITTEN = (is_throttle, is_cordon, is_unclean_election)
