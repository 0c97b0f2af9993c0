"""Decides the steps of a heal, one after the other.

Each is tested on live brokers of every version it is for.

=======================================================  ===========================================
trouble                                                  repair
=======================================================  ===========================================
poison, ignored or zombie node, or one with a wrong ACL  delete it and move the controller
zombie node with entries in flight                       move the controller; the node stays
string ids or no replicas in a topic znode               write the original ids back, move the
                                                         controller
the same in an election loop                             delete or write back only: it ends the loop
no controller                                            create and delete /controller: brokers
                                                         elect one
controller does not watch, leftover probe                move the controller, which then reads the
                                                         node
=======================================================  ===========================================

The controller is moved with the last node that it could not read: a new one would resign over the
others. One move heals everything that a move heals, so there is one for each diagnosis.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.finding import Trouble
from kadmin.wording import name_some
from kadmin.worlds.zookeeper.heal.topic_repair import repair_topic
from kadmin.worlds.zookeeper.reader import not_begun
from kadmin.worlds.zookeeper.znodes.admin import PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.insight.diagnosis.finding import Finding
    from kadmin.worlds.zookeeper.model import Znode

_ADMIN_NODES = frozenset({REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION})
_NODES = frozenset(
    {Trouble.POISON_NODE, Trouble.IGNORED_NODE, Trouble.ZOMBIE_NODE, Trouble.WRONG_ACL}
)
_TOPICS = frozenset({Trouble.STRING_IDS, Trouble.EMPTY_REPLICAS})
_MOVED = frozenset({Trouble.LEFTOVER_PROBE, Trouble.DEAF_CONTROLLER})

_HEALED = _NODES | _TOPICS | _MOVED | {Trouble.ELECTION_LOOP, Trouble.NO_CONTROLLER}
_BEYOND = frozenset({Trouble.FOREIGN_NODE, Trouble.STUCK_DELETION, Trouble.UNREADABLE_ZNODE})


class Write(Enum):
    """The write of a repair, apart from moving the controller."""

    NOTHING = "nothing"
    DELETE = "delete"
    OVERWRITE = "overwrite"
    PLACEHOLDER = "placeholder"


@dataclass(frozen=True, slots=True)
class RepairStep:
    """One step.

    `node` is the znode that it replaces, saved with the step; `data` is written instead. `move`:
    the same write moves the controller. `checked`: the write checks its epoch, which is impossible
    in a loop. `words` describe the step.
    """

    finding: Finding
    write: Write
    words: str
    move: bool
    checked: bool = True
    node: Znode | None = None
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The findings, the state, and the znodes that the findings name, by path."""

    findings: Sequence[Finding]
    state: ClusterState
    nodes: Mapping[str, Znode]


def next_step(diagnosis: Diagnosis, tried: Collection[tuple[str, str]]) -> RepairStep | None:
    """Return the next step, None where there is none; `tried` findings are not tried again."""
    fresh = [
        finding for finding in diagnosis.findings if (finding.code, finding.znode) not in tried
    ]
    looping = any(finding.code is Trouble.ELECTION_LOOP for finding in diagnosis.findings)
    repairable = {
        finding.znode: finding for finding in reversed(fresh) if _is_repairable(finding, diagnosis)
    }
    first = next((finding for finding in fresh if finding in repairable.values()), None)
    if first is not None:
        move = len(repairable) == 1 and not looping and diagnosis.state.controller is not None
        return _repair(first, diagnosis, move=move, looping=looping)
    if looping:
        return None
    for finding in fresh:
        if finding.code is Trouble.NO_CONTROLLER:
            return RepairStep(
                finding,
                Write.PLACEHOLDER,
                "create /controller and delete it after a second: brokers elect one",
                move=False,
            )
    return next((_move(finding, diagnosis) for finding in fresh if finding.code in _MOVED), None)


def healable(finding: Finding) -> bool:
    """Whether heal repairs this trouble at this znode."""
    return finding.code in _HEALED and (
        finding.code is not Trouble.WRONG_ACL or finding.znode in _ADMIN_NODES
    )


def unhealed(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings that block every operation, repairable or not."""
    return tuple(finding for finding in findings if finding.code in _HEALED | _BEYOND)


def _is_repairable(finding: Finding, diagnosis: Diagnosis) -> bool:
    node = diagnosis.nodes.get(finding.znode)
    if node is None or not healable(finding):
        return False
    if finding.code in _TOPICS:
        return repair_topic(node) is not None
    # Its reassignments run although the controller cannot delete the entries: they are completed
    # first.
    waits = finding.code is Trouble.WRONG_ACL and _names_moves(finding.znode, diagnosis.state)
    return finding.code in _NODES and not waits


def _repair(finding: Finding, diagnosis: Diagnosis, *, move: bool, looping: bool) -> RepairStep:
    node = diagnosis.nodes[finding.znode]
    then = " and move the controller" if move else ""
    if finding.code in _TOPICS:
        words = f"write the original replica ids back to {finding.znode}{then}"
        return RepairStep(
            finding, Write.OVERWRITE, words, move, not looping, node, repair_topic(node) or b""
        )
    if (
        finding.code is Trouble.ZOMBIE_NODE
        and move
        and _names_moves(finding.znode, diagnosis.state)
    ):
        return _move(finding, diagnosis)
    return RepairStep(
        finding, Write.DELETE, f"delete {finding.znode}{then}", move, not looping, node
    )


def _move(finding: Finding, diagnosis: Diagnosis) -> RepairStep:
    pending = diagnosis.state.requests.reassignment
    begun = () if pending is None else pending.not_begun
    starts = f"; the next one starts {name_some(begun)}" if begun else ""
    return RepairStep(
        finding, Write.NOTHING, f"move the controller to another broker{starts}", move=True
    )


def _names_moves(path: str, state: ClusterState) -> bool:
    # Controllers up to 2.3 drop a reassignment that is not in the node, and keep its old and new
    # replicas for good.
    node = state.requests.reassignment
    if path != REASSIGN_PARTITIONS or node is None or node.entries is None:
        return False
    listed = {
        p: target for p, target in node.entries.items() if state.replicas(p) not in {None, target}
    }
    return set(not_begun(listed, state.topics)) != set(listed)
