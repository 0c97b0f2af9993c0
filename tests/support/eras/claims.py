"""The differences between versions of Kafka that kadmin's rules rely on, as data.

Each claim holds, per version tried, what a live broker of that version does. Every row is proved by a live test of the
same name on each of its versions (tests/live/test_eras.py), and docs/eras.md is generated from this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VERSIONS = ("0.10.2.2", "1.1.1", "2.3.1", "2.4.1", "2.8.2", "3.9.2")
"""One version of each kind of controller in ZooKeeper mode, oldest first."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One difference: `seen` maps each version to what happens, `matters` is what kadmin does because of it."""

    name: str
    title: str
    seen: Mapping[str, str]
    matters: str


def _by_version(*seen: str) -> dict[str, str]:
    return dict(zip(VERSIONS, seen, strict=True))


def _from(version: str, *, before: str, since: str) -> dict[str, str]:
    first = VERSIONS.index(version)
    return {each: since if index >= first else before for index, each in enumerate(VERSIONS)}


CLAIMS = (
    Claim(
        "node_deleted_by_hand",
        "A reassignment node is deleted by hand, then another is created",
        _from("1.1.1", before="seen", since="not seen"),
        "The watch is one-shot, on creation: kadmin checks the watch before it writes, and deletes no admin node.",
    ),
    Claim(
        "node_overwritten",
        "Another tool overwrites a reassignment node that waits",
        _from("1.1.1", before="seen", since="not seen"),
        "kadmin never overwrites a live admin node; it publishes a wave by a create.",
    ),
    Claim(
        "unknown_key",
        "A reassignment node holds a key that Kafka does not know (`log_dirs`)",
        _by_version("runs", "runs", "node deleted", "node stays", "node stays", "node stays"),
        "Payloads hold only known keys, and are validated against their schema right before the write.",
    ),
    Claim(
        "not_json",
        "A reassignment node holds no JSON",
        _by_version("node stays", "node stays", "node deleted", "node stays", "node stays", "node stays"),
        "kadmin does not touch the node of another tool.",
    ),
    Claim(
        "loop_without_its_cause",
        "Controllers resign one after the other because of an election node, and the node is deleted",
        _from("1.1.1", before="goes on until brokers are restarted", since="ends"),
        "`heal` removes the cause; if elections continue, it names the brokers to restart.",
    ),
    Claim(
        "controller_deleted_at_once",
        "`/controller` is deleted again as soon as it is there",
        _from("1.1.1", before="elected every time", since="nobody is elected in the end"),
        "kadmin moves the controller once, and only when every live broker watches `/controller`.",
    ),
    Claim(
        "topic_znode_in_mid_move",
        "The topic znode while a partition is being reassigned",
        _from("2.4.1", before="union", since="adding and removing"),
        "Up to 2.3, only the step record distinguishes a move in flight from a finished increase of replicas.",
    ),
    Claim(
        "copy_of_a_cancelled_reassignment",
        "A reassignment is cancelled before its copy has caught up: the copy on the added broker",
        _by_version("removed", "removed", "removed", "removed", "stays on disk", "removed"),
        "`cancel --now` asks the brokers for their log directories if it can, and names the copies that stay.",
    ),
    Claim(
        "unused_copy_after_a_restart",
        "A broker holds a copy of a reassignment that was cancelled while it was away, and is restarted: that copy",
        _by_version(*["stays on disk"] * 6),
        "`doctor` advises no restart alone: a folder that is deleted while its broker is stopped stays away.",
    ),
    Claim(
        "unused_copy_assigned_and_taken_away",
        "The partition of such a copy is assigned to that broker, and taken away from it: the copy",
        _by_version(*["removed"] * 6),
        "`doctor` advises it, too: apply a plan that adds the broker, then `kadmin rollback`.",
    ),
    Claim(
        "unknown_target_broker",
        "A target broker that is not registered",
        _by_version(*["waits for ever"] * 6),
        "A plan with a target that is not alive is refused, and the publish checks every target.",
    ),
    Claim(
        "unknown_topic_entry",
        "A reassignment of a topic that does not exist",
        _by_version(*["entry removed"] * 6),
        "The absence of the node proves nothing: kadmin reads the assignment. Its probe is such an entry.",
    ),
    Claim(
        "election_of_unknown_partition",
        "An election names a partition that does not exist",
        _from("2.3.1", before="node stays", since="node removed"),
        "An election names only partitions that were just read from the cluster.",
    ),
    Claim(
        "election_without_the_preferred",
        "An election of a partition whose preferred replica is not alive",
        _by_version(*["node removed, leader kept"] * 6),
        "Outcomes are read from each partition's state; the absence of the node means processed, not succeeded.",
    ),
    Claim(
        "reorder_moves_no_leader",
        "A reassignment that only reorders",
        _by_version(*["leader kept"] * 6),
        "Only `elect: at_end` or `after_each_wave` elects the new preferred leaders.",
    ),
    Claim(
        "deletion_document",
        "A document as data of `/admin/delete_topics`",
        _by_version(*["not read"] * 6),
        "A deletion creates one child per topic; Kafka's controllers never read `layout: document`.",
    ),
    Claim(
        "deletion_of_unknown_topic",
        "A child of `/admin/delete_topics` for a topic that does not exist",
        _by_version(*["child removed"] * 6),
        "The absence of the child proves nothing: kadmin reads the topic's own znodes.",
    ),
    Claim(
        "topic_made_in_version_1",
        "The topic znode after a topic was created as old tools do (version 1)",
        _from("2.8.2", before="version 1", since="rewritten to version 3"),
        "From 2.8 on, a version check may fail right after a topic's creation; kadmin reads again.",
    ),
    Claim(
        "broker_registration",
        "A broker's registration",
        _from("2.8.2", before="version 4", since="version 5"),
        "Endpoints are read from the listener map, or from host and port if there is no map.",
    ),
    Claim(
        "controller_znode",
        "The `/controller` znode",
        _from("3.9.2", before="version 1", since="version 2"),
        "Version 2 has a KRaft epoch: -1 is ZooKeeper mode; kadmin refuses any other.",
    ),
    Claim(
        "sizes_by_request",
        "Sizes of partitions by DescribeLogDirs",
        _from("1.1.1", before="not served", since="served"),
        "`snapshot` asks the brokers for sizes; older clusters need `--sizes FILE`, or plans have no sizes.",
    ),
    Claim(
        "room_on_disk",
        "Room on disk by DescribeLogDirs",
        _from("3.9.2", before="not reported", since="reported"),
        "`diff` and `apply` compare it with the bytes still to come (KA070), and warn where it is not reported.",
    ),
    Claim(
        "reassignment_api",
        "Reassignments through the brokers' API",
        _from("2.4.1", before="not served", since="served"),
        "From 2.4 on, a move can be in flight without an admin node: kadmin reads the topic znodes.",
    ),
    Claim(
        "leader_after_a_loss",
        "The leader fails: the next leader of [A, B, C] with ISR {A, C, B}",
        _by_version(*["B, by assignment order"] * 6),
        "`whatif` follows the order of the assignment, not of the ISR.",
    ),
)


def claim(name: str, among: Iterable[Claim] = CLAIMS) -> Claim:
    """Return one claim; raises KeyError for a name that is none."""
    return {each.name: each for each in among}[name]
