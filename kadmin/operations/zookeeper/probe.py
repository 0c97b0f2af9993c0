"""The probe: a harmless admin node that a listening controller consumes at once.

A reassignment of a topic that cannot exist is dropped by every listening controller in milliseconds and touches no
partition; an election of nothing likewise. (`{"partitions":[]}` must not be used for reassignments: it stays.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.zookeeper.znodes.admin import REASSIGN_PARTITIONS, encode_election, encode_reassignment
from kadmin.insight.diagnosis.zookeeper.admin_nodes import PROBE_TOPIC

if TYPE_CHECKING:
    from kadmin.cluster.model import AdminNode

PROBE_PARTITION = TopicPartition(PROBE_TOPIC, 0)


def probe_payload(path: str, broker_id: int) -> bytes:
    """Return the probe for one of the two admin nodes that are data; any live broker serves as its replica."""
    if path == REASSIGN_PARTITIONS:
        return encode_reassignment({PROBE_PARTITION: (broker_id,)})
    return encode_election(())


def is_probe(node: AdminNode | None) -> bool:
    """Whether an admin node holds a probe and nothing else."""
    return node is not None and node.entries is not None and set(node.entries) <= {PROBE_PARTITION}
