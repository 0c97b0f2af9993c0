"""Finds troubles of the admin nodes, by their effects on controllers, for nodes of any tool.

A listening controller starts on a valid node and removes an unusable entry within milliseconds.
Most rules therefore compare two readings some seconds apart: a node that did not change in between
is not being processed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import escaped
from kadmin.insight.diagnosis.finding import Finding, Flaw, Trouble
from kadmin.insight.tables.admin_nodes import Effect, Motion
from kadmin.next_step import command
from kadmin.wording import name_some
from kadmin.worlds.zookeeper.doctor.admin_nodes import read_node
from kadmin.worlds.zookeeper.doctor.evidence import HEAL, STAYS_S
from kadmin.worlds.zookeeper.doctor.flaw_effects import effects
from kadmin.worlds.zookeeper.model import details_of
from kadmin.worlds.zookeeper.znodes.admin import (
    ADMIN,
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.versions import KafkaVersions
    from kadmin.insight.diagnosis.operations import OpenOperation
    from kadmin.insight.tables.admin_nodes import Entry, NodeReading
    from kadmin.next_step import NextStep
    from kadmin.worlds.zookeeper.doctor.evidence import Evidence
    from kadmin.worlds.zookeeper.model import Acl, Znode

_SUBJECTS = {REASSIGN_PARTITIONS: "reassignment", PREFERRED_REPLICA_ELECTION: "election"}
_SHOWN_DATA = 200
_SHOWN_FINDINGS = 5
_WORLD = "world"
_ALL_PERMISSIONS = 31


def admin_troubles(evidence: Evidence) -> Iterator[Finding]:
    """Find troubles of the reassignment and the election node, and of their ACLs."""
    for path in (REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION):
        node = evidence.last.node(path)
        if node is None:
            yield from _unwatched(evidence, path)
            continue
        reading = read_node(node, evidence.state)
        yield from _of_node(evidence, node, reading)
        yield from _foreign_acl(evidence, node)


def at_work(reading: NodeReading) -> bool:
    """Whether the controller is processing the node: it rewrote it, or a partition is in flight."""
    return reading.version > 0 or any(entry.motion is Motion.IN_FLIGHT for entry in reading.entries)


def worst_effect(reading: NodeReading, versions: KafkaVersions) -> Effect:
    """Return the worst effect of the whole node on controllers of these versions.

    It is POISON, IGNORED or OBEYED. Of a node that is being processed, the mildest possible effects
    count.
    """
    choose = min if at_work(reading) else max
    found = (choose(effects(reading.path, found.code, versions)) for found in reading.every_finding)
    return max((effect for effect in found if effect >= Effect.IGNORED), default=Effect.OBEYED)


def _unwatched(evidence: Evidence, path: str) -> Iterator[Finding]:
    hidden = any(each.path == path for each in details_of(evidence.state).unreadable)
    if path in evidence.not_watching and evidence.first.node(path) is None and not hidden:
        seen = "its session is connected, and in no server's list of watches (wchp); checked twice"
        yield _deaf(evidence, path, f"{path} is absent", seen)


def _of_node(evidence: Evidence, node: Znode, reading: NodeReading) -> Iterator[Finding]:
    effect = worst_effect(reading, evidence.versions)
    blocked = f"{_SUBJECTS[node.path]} until it is removed"
    if effect is Effect.POISON:
        what = "is poison: each controller that is elected next fails on it and resigns"
        yield _finding(evidence, Trouble.POISON_NODE, reading, f"{node.path} {what}.")
    elif effect is Effect.IGNORED:
        what = f"is ignored by the controller, and blocks every other {blocked}"
        yield _finding(evidence, Trouble.IGNORED_NODE, reading, f"{node.path} {what}.")
    elif not _stayed(evidence, node):
        yield from _foreign(evidence, reading)
    elif _is_probe(reading):
        what = "is a probe that no controller removed: the controller does not watch the node"
        yield _finding(evidence, Trouble.LEFTOVER_PROBE, reading, f"{node.path} {what}.")
    elif not any(_may_move(entry, evidence, node.path) for entry in reading.entries):
        what = (
            f"has no entry that the controller can still execute, and blocks every other {blocked}"
        )
        yield _finding(evidence, Trouble.ZOMBIE_NODE, reading, f"{node.path} {what}.")
    elif _not_picked_up(evidence, reading):
        yield _deaf(evidence, node.path, *_seen(evidence, reading))
    else:
        yield from _foreign(evidence, reading)


def _stayed(evidence: Evidence, node: Znode) -> bool:
    before = evidence.first.node(node.path)
    return before is not None and before.mzxid == node.mzxid and evidence.stayed_s >= STAYS_S


def _is_probe(reading: NodeReading) -> bool:
    if not reading.entries:
        return {found.code for found in reading.findings} == {Flaw.NO_ENTRIES}
    return all(found.code is Flaw.PROBE for found in reading.every_finding) and bool(
        reading.every_finding
    )


def _may_move(entry: Entry, evidence: Evidence, path: str) -> bool:
    if entry.motion is Motion.IN_FLIGHT:
        return True
    possible = [effects(path, found.code, evidence.versions) for found in entry.findings]
    return not any(found <= {Effect.DROPPED, Effect.STAYS} for found in possible)


def _not_picked_up(evidence: Evidence, reading: NodeReading) -> bool:
    if reading.path == PREFERRED_REPLICA_ELECTION:
        return True
    if at_work(reading):
        return False
    if reading.path in evidence.not_watching:
        return True
    open_entries = [entry for entry in reading.entries if _may_move(entry, evidence, reading.path)]
    untouched = all(entry.motion is Motion.NOT_STARTED for entry in open_entries)
    return untouched and reading.path not in evidence.listening


def _foreign(evidence: Evidence, reading: NodeReading) -> Iterator[Finding]:
    if any(_asked_for(operation, reading) for operation in evidence.operations):
        return
    dead = any(
        found.code is Flaw.DEAD_BROKER for entry in reading.entries for found in entry.findings
    )
    message = (
        f"{reading.path} belongs to no operation on record: another tool or operator is at work."
    )
    next_step = "wait until it is gone: " + command("inspect admin")
    if reading.path == REASSIGN_PARTITIONS:
        first = "start the brokers that it waits for, or" if dead else next_step + "; or"
        next_step = first + " end it: " + command("cancel", "--foreign")
    yield _finding(evidence, Trouble.FOREIGN_NODE, reading, message, next_step)


def _asked_for(operation: OpenOperation, reading: NodeReading) -> bool:
    if reading.path == PREFERRED_REPLICA_ELECTION:
        return operation.elects
    return all(
        entry.replicas in operation.lists.get(entry.subject, ())
        for entry in reading.entries
        if entry.subject
    )


def _deaf(evidence: Evidence, path: str, *seen: str) -> Finding:
    return Finding(
        Trouble.DEAF_CONTROLLER,
        f"The controller does not watch {path}: it does not execute requests that are written "
        "there.",
        HEAL,
        znode=path,
        evidence=(*_controller(evidence), *seen),
    )


def _controller(evidence: Evidence) -> tuple[str, ...]:
    found = evidence.state.controller
    return () if found is None else (f"the controller is broker {found.broker_id}",)


def _finding(
    evidence: Evidence,
    trouble: Trouble,
    reading: NodeReading,
    message: str,
    next_step: NextStep = HEAL,
) -> Finding:
    return Finding(
        trouble,
        message,
        next_step,
        znode=reading.path,
        evidence=_seen(evidence, reading),
        version=reading.version,
    )


def _seen(evidence: Evidence, reading: NodeReading) -> tuple[str, ...]:
    node = evidence.last.node(reading.path)
    moving = [entry for entry in reading.entries if entry.motion is Motion.IN_FLIGHT]
    return (
        f"it holds {escaped(reading.data, _SHOWN_DATA)}",
        *_worst_findings(evidence, reading),
        *((f"in flight: {name_some(moving)}",) if moving else ()),
        *(
            (f"unchanged for {evidence.stayed_s:.0f} s",)
            if node is not None and _stayed(evidence, node)
            else ()
        ),
        *(("the controller does not watch it",) if reading.path in evidence.not_watching else ()),
        f"the brokers are Kafka {evidence.versions}, inferred from their znodes",
    )


def _worst_findings(evidence: Evidence, reading: NodeReading) -> tuple[str, ...]:
    words = [(found, found.message) for found in reading.findings]
    words += [
        (found, found.message if str(entry) in found.message else f"{entry}: {found.message}")
        for entry in reading.entries
        for found in entry.findings
    ]
    words.sort(key=lambda each: -max(effects(reading.path, each[0].code, evidence.versions)))
    rest = len(words) - _SHOWN_FINDINGS
    return (
        *(each for _, each in words[:_SHOWN_FINDINGS]),
        *((f"and {rest} more",) if rest > 0 else ()),
    )


def _foreign_acl(evidence: Evidence, node: Znode) -> Iterator[Finding]:
    wanted, found = evidence.last.acls.get(ADMIN, ()), evidence.last.acls.get(node.path, ())
    if not wanted or not found or set(wanted) <= set(found) or _is_open(found):
        return
    yield Finding(
        Trouble.WRONG_ACL,
        f"{node.path} does not grant what {ADMIN} grants: the controller may be unable to read or "
        "shrink it.",
        HEAL,
        znode=node.path,
        evidence=(f"its ACL: {_granted(found)}", f"that of {ADMIN}: {_granted(wanted)}"),
        version=node.version,
    )


def _is_open(acl: tuple[Acl, ...]) -> bool:
    return any(each.scheme == _WORLD and each.permissions == _ALL_PERMISSIONS for each in acl)


def _granted(acl: tuple[Acl, ...]) -> str:
    letters = "rwcda"
    return name_some(
        f"{escaped(f'{each.scheme}:{each.credential}', 80)}:"
        + "".join(letter for bit, letter in enumerate(letters) if each.permissions & 1 << bit)
        for each in acl
    )
