"""Finds controllers that do not follow the active one.

It also finds brokers that are fenced, missing or not registered.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.insight.diagnosis.health import return_or_decommission
from kadmin.insight.quorum import has_majority, not_following, running_brokers
from kadmin.next_step import command
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kadmin.cluster.model import ClusterState, Controller, QuorumMember
    from kadmin.next_step import NextStep
    from kadmin.worlds.kafka.doctor.evidence import ClusterLook

_START_CONTROLLERS = "start the controllers that are down; then " + command("inspect controller")


def server_troubles(look: ClusterLook, elsewhere: Collection[int] = ()) -> Iterator[Finding]:
    """Find troubles of controllers and brokers; without a working quorum every apply stops.

    Another finding is about the brokers `elsewhere`, where they are dead.
    """
    controller = look.state.controller
    if look.controllers_silent:
        yield Finding(
            Trouble.NO_QUORUM,
            "No controller answers: nothing is reassigned, elected, created or deleted.",
            _START_CONTROLLERS,
            evidence=(
                f"the brokers answer: {name_some(sorted(look.state.brokers))}",
                look.controllers_silent,
            ),
        )
    elif controller is not None:
        yield from _quorum(controller)
    yield from _brokers(look.state, elsewhere)


def _quorum(controller: Controller) -> Iterator[Finding]:
    late = not_following(controller)
    seen = (
        f"the active controller is {controller.broker_id}",
        *map(_lag, late),
    )
    if not has_majority(controller):
        yield Finding(
            Trouble.NO_QUORUM,
            "No majority of the controllers follows the active one: nothing can be changed.",
            _START_CONTROLLERS,
            evidence=seen,
        )
    elif late:
        yield Finding(
            Trouble.LAGGING_CONTROLLER,
            "Controllers do not follow the active one: "
            f"{name_some(each.server_id for each in late)}.",
            "start them if they are down; else their logs say why they do not follow: "
            + command("inspect controller"),
            severity="warning",
            evidence=seen,
        )


def _lag(voter: QuorumMember) -> str:
    if voter.fetched_s_ago is None:
        return f"controller {voter.server_id} has not fetched since that one was elected"
    caught_up = (
        ""
        if voter.caught_up_s_ago is None
        else f", and was last caught up {voter.caught_up_s_ago:.0f} s ago"
    )
    return f"controller {voter.server_id} last fetched {voter.fetched_s_ago:.0f} s ago{caught_up}"


def _brokers(state: ClusterState, elsewhere: Collection[int]) -> Iterator[Finding]:
    held = Counter(
        broker
        for topic in state.topics.values()
        for replicas in topic.replicas.values()
        for broker in set(replicas)
    )
    fenced = sorted((state.fenced_brokers or {}).keys() - elsewhere)
    registered = {*state.brokers, *(state.fenced_brokers or ())}
    live = running_brokers(state.controller)
    unregistered = sorted(live - registered)
    missing = sorted(held.keys() - registered - set(unregistered) - set(elsewhere))
    if fenced:
        yield _broker_finding(
            Trouble.FENCED_BROKER,
            f"Brokers are registered and fenced: {name_some(fenced)}. They lead nothing, and "
            "plans that name them are refused.",
            f"the log of one that runs says why it is fenced; {return_or_decommission(fenced)}",
            _described(fenced, live, held),
        )
    if unregistered:
        yield _broker_finding(
            Trouble.UNREGISTERED_BROKER,
            f"Servers follow the metadata and do not serve: {name_some(unregistered)}. They are "
            "not registered"
            f"{', or are fenced' if state.fenced_brokers is None else ''}.",
            "restart them: a broker registers when it starts; " + command("inspect brokers"),
            (
                f"server {each}: its process runs, assigned replicas: {held[each]}"
                for each in unregistered[:10]
            ),
        )
    if missing:
        yield _broker_finding(
            Trouble.MISSING_BROKERS,
            f"Brokers that hold replicas are not alive: {name_some(missing)}. Plans that name "
            "them are refused.",
            return_or_decommission(missing),
            _described(missing, live, held),
        )


def _described(brokers: Sequence[int], live: Collection[int], held: Counter[int]) -> Iterator[str]:
    for broker in brokers[:10]:
        yield f"broker {broker}: {_runs(broker, live)}, assigned replicas: {held[broker]}"


def _runs(broker: int, live: Collection[int]) -> str:
    return "its process runs" if broker in live else "its process does not fetch the metadata"


def _broker_finding(
    trouble: Trouble, message: str, next_step: NextStep | str, seen: Iterator[str]
) -> Finding:
    return Finding(trouble, message, next_step, severity="warning", evidence=tuple(seen))
