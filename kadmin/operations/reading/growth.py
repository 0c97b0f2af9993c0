"""Asks brokers for what a growth concerns: the groups that read topics, and the cleanup policy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.from_brokers import why
from kadmin.errors import KadminError
from kadmin.operations.reading.brokers import groups_in_metadata, groups_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.port import Backend, LiveBrokers
    from kadmin.plan.facts import ClusterFacts

CLEANUP_POLICY = "log.cleanup.policy"


def with_readers(
    given: ClusterFacts, backend: Backend, state: ClusterState, topics: Collection[str]
) -> ClusterFacts:
    """Complete given facts by the groups that read topics, and by the brokers' cleanup policy.

    What brokers do not answer is in `unavailable`; nothing is raised.
    """
    brokers = backend.brokers(state)
    groups, unseen = groups_of(brokers, state)
    policies, unknown = _cleanup_policies(brokers, state)
    old = groups_in_metadata(backend, topics)
    readers = {
        topic: {*old.get(topic, ()), *(name for name, read in groups.items() if topic in read)}
        for topic in topics
    }
    compacts = [policy for policy in policies if "compact" in policy]
    return replace(
        given,
        consumers={topic: tuple(sorted(names)) for topic, names in readers.items()},
        cleanup_policy=next(iter([*compacts, *policies]), None),
        unavailable=(*unseen, *unknown),
        from_brokers=True,
    )


def _cleanup_policies(brokers: LiveBrokers, state: ClusterState) -> tuple[list[str], Iterable[str]]:
    """Return the policies of the live brokers, and a sentence for each that is not known."""
    try:
        found = brokers.settings(state.brokers, (CLEANUP_POLICY,))
    except KadminError as error:
        return [], [f"{CLEANUP_POLICY} of the brokers is not known: {why(error)}"]
    unknown = [
        f"{CLEANUP_POLICY} of broker {broker} is not known: {why(error)}"
        for broker, error in found.failed.items()
    ]
    known = [settings.get(CLEANUP_POLICY) for _, settings in sorted(found.given.items())]
    return [policy for policy in known if policy is not None], unknown
