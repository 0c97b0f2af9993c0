"""Builds the evidence of a diagnosis, and diagnoses it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from support.cluster.states import cluster, tp

from kadmin.cluster.payloads import encode_reassignment
from kadmin.cluster.versions import KafkaVersions
from kadmin.worlds.zookeeper.doctor.diagnose import diagnose
from kadmin.worlds.zookeeper.doctor.evidence import AdminLook, ControllerSample, Evidence
from kadmin.worlds.zookeeper.model import ControllerNode, Znode, ZooKeeperDetails
from kadmin.worlds.zookeeper.znodes.admin import PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.insight.diagnosis.finding import Finding


DETAILS = ZooKeeperDetails(ControllerNode(1, session_id=7), 1)
STATE = replace(cluster({"foo-0": (1, 2), "foo-1": (2, 3)}), details=DETAILS)
STEADY = (ControllerSample(5, ControllerNode(1, session_id=7)),) * 2
BOTH = frozenset({REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION})
GOOD = encode_reassignment({tp("foo-0"): (3, 1)})


def evidence(state: ClusterState = STATE, **changes: Any) -> Evidence:  # noqa: ANN401 - fields of the value
    """Return the evidence of a healthy 2.8 cluster whose controller listens, with these changes."""
    healthy = Evidence(
        versions=KafkaVersions((2, 8), (3, 3)),
        state=state if state.details else replace(state, details=DETAILS),
        samples=STEADY,
        first=AdminLook(),
        last=AdminLook(),
        stayed_s=1.0,
        listening=BOTH,
    )
    return replace(healthy, **changes)


def node(
    data: bytes | None, *, election: bool = False, version: int = 0, mzxid: int = 1
) -> AdminLook:
    path = PREFERRED_REPLICA_ELECTION if election else REASSIGN_PARTITIONS
    found = Znode(path, data, version, mzxid=mzxid)
    return AdminLook(election=found) if election else AdminLook(reassignment=found)


def stayed(
    data: bytes | None,
    state: ClusterState = STATE,
    *,
    election: bool = False,
    **changes: Any,  # noqa: ANN401
) -> Evidence:
    """Return the evidence of an admin znode that did not change in two readings five seconds
    apart.
    """
    look = node(data, election=election, version=changes.pop("version", 0))
    return evidence(state, first=look, last=look, stayed_s=5.0, **changes)


def troubles(found: Evidence) -> list[str]:
    return [each.code for each in diagnose(found)]


def only(found: Evidence) -> Finding:
    (finding,) = diagnose(found)
    return finding
