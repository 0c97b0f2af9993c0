"""The probe: a harmless admin node that a listening controller consumes at once.

A reassignment of a topic that cannot exist is dropped by every listening controller in milliseconds and touches no
partition; an election of nothing likewise. (`{"partitions":[]}` must not be used for reassignments: it stays.)
"""

from __future__ import annotations

from kadmin.cluster.payloads import encode_election, encode_reassignment
from kadmin.cluster.zookeeper.znodes.admin import PROBE_PARTITION
from kadmin.operations.record.record import Channel


def probe_payload(channel: Channel, broker_id: int) -> bytes:
    """Return the probe for a channel; any live broker serves as its replica."""
    if channel is Channel.REASSIGNMENT:
        return encode_reassignment({PROBE_PARTITION: (broker_id,)})
    return encode_election(())
