"""Derives findings from evidence, in the order in which an operator would repair them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.disks import of_another_cluster
from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.insight.diagnosis.operations import operation_troubles
from kadmin.worlds.zookeeper.doctor.admin_troubles import admin_troubles
from kadmin.worlds.zookeeper.doctor.cluster_troubles import cluster_troubles
from kadmin.worlds.zookeeper.doctor.evidence import HEAL
from kadmin.worlds.zookeeper.doctor.topic_troubles import topic_troubles
from kadmin.worlds.zookeeper.znodes.admin import PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS
from kadmin.worlds.zookeeper.znodes.controller import CONTROLLER, CONTROLLER_EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.worlds.zookeeper.doctor.evidence import Evidence

LAST_TO_FAIL_AGAIN = (0, 10)
"""Up to this version a broker that failed to become controller fails again until it is
restarted."""
_FAILS_AGAIN = (
    "the cause is gone, but brokers of this version that failed on it fail again until they are "
    "restarted"
)
_CAUSES = frozenset(
    {Trouble.POISON_NODE, Trouble.STRING_IDS, Trouble.EMPTY_REPLICAS, Trouble.WRONG_ACL}
)


def diagnose(evidence: Evidence) -> tuple[Finding, ...]:
    """Return every finding that the evidence supports."""
    nodes, topics = tuple(admin_troubles(evidence)), tuple(topic_troubles(evidence))
    looping = loops(evidence)
    if looping:
        # A controller that resigns within milliseconds watches nothing, which proves nothing about
        # the next one.
        nodes = tuple(found for found in nodes if found.code is not Trouble.DEAF_CONTROLLER)
    return (
        *_controller(evidence, (*nodes, *topics), looping=looping),
        *nodes,
        *topics,
        *operation_troubles(evidence.lock, evidence.operations, evidence.root),
        *cluster_troubles(evidence),
    )


def loops(evidence: Evidence) -> bool:
    """Whether controllers follow one another without end: each sample has a higher epoch.

    A single failover shows as growth between two samples and none between the others.
    """
    grown = [after.epoch > before.epoch for before, after in pairwise(evidence.samples)]
    return len(grown) > 1 and all(grown)


def unchecked(evidence: Evidence) -> tuple[str, ...]:
    """Return a sentence for each missing check.

    An empty list of findings is then not read as health.
    """
    disks = (
        f"emptied brokers, and copies on disk that no partition uses: {evidence.disks_unavailable}"
    )
    unasked = (
        *((disks,) if evidence.disks_unavailable else ()),
        *of_another_cluster(evidence.state, evidence.earlier_disks),
    )
    if evidence.state.controller is None or loops(evidence):
        return unasked
    unknown = (
        {REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION}
        - evidence.not_watching
        - evidence.listening
    )
    return unasked + tuple(
        (
            f"whether the controller watches {path}: four-letter words do not show it; apply "
            "checks with a probe"
        )
        for path in sorted(unknown, reverse=True)
        if evidence.last.node(path) is None
    )


def _controller(
    evidence: Evidence, others: tuple[Finding, ...], *, looping: bool
) -> Iterator[Finding]:
    first, last = evidence.samples[0], evidence.samples[-1]
    if looping:
        causes = [
            f"likely cause: {found.code} at {found.znode}"
            for found in others
            if found.code in _CAUSES
        ]
        exhausted = not causes and evidence.versions.newest <= LAST_TO_FAIL_AGAIN
        unexplained = (
            _FAILS_AGAIN
            if exhausted
            else "no cause was found in ZooKeeper: read the controllers' logs"
        )
        yield Finding(
            Trouble.ELECTION_LOOP,
            "Controllers are elected and resign without end: nothing is reassigned, elected, "
            "created or deleted.",
            "restart the brokers, one after the other" if exhausted else HEAL,
            znode=CONTROLLER_EPOCH,
            evidence=(
                (
                    f"the epoch went from {first.epoch} to {last.epoch} in "
                    f"{len(evidence.samples)} looks a second apart"
                ),
                *(causes or (unexplained,)),
            ),
        )
    elif evidence.state.brokers and all(sample.controller is None for sample in evidence.samples):
        yield Finding(
            Trouble.NO_CONTROLLER,
            "The cluster has no controller, and none is being elected.",
            HEAL,
            znode=CONTROLLER,
            evidence=(
                (
                    f"{CONTROLLER} was absent in {len(evidence.samples)} looks a second apart; an "
                    "election takes less"
                ),
                (
                    "live brokers: "
                    f"{', '.join(str(broker) for broker in sorted(evidence.state.brokers))}"
                ),
            ),
        )
