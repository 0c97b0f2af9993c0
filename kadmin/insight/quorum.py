"""Judges the quorum of controllers (KRaft mode); clusters in ZooKeeper mode have no voters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kadmin.cluster.model import Controller, QuorumMember

SILENT_S = 10.0
"""Seconds without a fetch after which a server does not follow the active controller; servers fetch
twice a second."""

RUNS_S = 5.0
"""A process that fetched so recently runs; a broker that was killed is fenced later than this."""


def running_brokers(controller: Controller | None) -> frozenset[int]:
    """Return the brokers whose process fetched the metadata just now, alive or fenced."""
    observers = () if controller is None else controller.observers
    return frozenset(
        each.server_id
        for each in observers
        if each.fetched_s_ago is not None and each.fetched_s_ago < RUNS_S
    )


def follows(member: QuorumMember) -> bool:
    """Whether a server fetches the metadata."""
    return member.fetched_s_ago is not None and member.fetched_s_ago <= SILENT_S


def has_majority(controller: Controller) -> bool:
    """Whether a majority of the controllers follows the active one.

    Without it nothing can be changed.
    """
    following = sum(map(follows, controller.voters))
    return not controller.voters or 2 * following > len(controller.voters)


def lagging(controller: Controller, limit_s: float) -> tuple[QuorumMember, ...]:
    """Return the controllers that were last caught up with the active one more than `limit_s` ago.

    A controller that has not fetched since the election of the active one has no such time, and is
    left out.
    """
    return tuple(
        each
        for each in controller.voters
        if each.caught_up_s_ago is not None and each.caught_up_s_ago > limit_s
    )


def not_following(controller: Controller, limit_s: float = SILENT_S) -> tuple[QuorumMember, ...]:
    """Return the controllers, by id, that do not fetch or are `limit_s` behind the active one."""
    late = {each.server_id: each for each in lagging(controller, limit_s)}
    late |= {each.server_id: each for each in controller.voters if not follows(each)}
    return tuple(late[each] for each in sorted(late))
