"""Converts the proposals of Cruise Control to a plan.

They are in the JSON that its endpoints `rebalance`, `add_broker`, `remove_broker`, `demote_broker`,
`proposals` and others answer with `json=true&verbose=true`::

    {"proposals":[{"topicPartition":{"hash":1,"topic":"foo","partition":0},"oldLeader":1,
                   "oldReplicas":[1,2],"newReplicas":[3,2]}], "summary":{...}, ...}

The first of `newReplicas` is the leader to be. Other keys of the answer are figures.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kadmin.documents.json_section import (
    Converted,
    JsonSection,
    rule_notes,
    schema_notes,
    text_of,
)
from kadmin.documents.kafka_entries import key_notes, note
from kadmin.plan import codes
from kadmin.plan.model import Elect, PlanHeader, ReassignmentPlan
from kadmin.schema import show
from kadmin.schema.documents import read
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.diagnostics import Field
    from kadmin.documents.placing import PendingDiagnostic

_SPECIAL = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)')
_NEEDED = ("topicPartition", "oldReplicas", "newReplicas")
_PLACES: Mapping[str, Field] = {
    "topic": ("topicPartition", "topic"),
    "partition": ("topicPartition", "partition"),
    "current": ("oldReplicas",),
    "replicas": ("newReplicas",),
}
"""The place of each field of a plan's entry in a proposal."""


def parse_proposals(data: bytes, source: str) -> Converted:
    """Return the plan of Cruise Control's proposals, in their order, with `current`.

    It elects at the end, as Cruise Control does. Raises InvalidInputError that lists every problem
    with its place.
    """
    section = JsonSection(_without_special_numbers(text_of(data, source)), source)
    value = section.value()
    section.refuse(list(_answer_notes(value)))
    proposals = value["proposals"]
    section.refuse(list(_proposal_notes(proposals)))
    entries = list(map(_entry, proposals))
    found = schema_notes("PartitionReassignment", "partition-reassignment", {"partitions": entries})
    section.refuse(_in_proposals(found))
    plan = read(ReassignmentPlan, {"partitions": entries}, header=PlanHeader())
    resized = any(len(each.replicas) != len(each.current or ()) for each in plan.reassignments)
    plan = replace(plan, elect=Elect.AT_END, allow_replication_factor_change=resized)
    section.refuse(_in_proposals(rule_notes(plan)))
    return _moving(plan, section)


def _without_special_numbers(text: str) -> str:
    """Return the text with 0 for NaN and infinities, which Cruise Control writes among figures."""
    return _SPECIAL.sub(
        lambda found: found[0] if found[1] is None else "0".ljust(len(found[0])), text
    )


def _answer_notes(value: object) -> Iterator[PendingDiagnostic]:
    """Find out why a value is no answer with proposals."""
    keys = value.keys() if isinstance(value, dict) else ()
    if not isinstance(value, dict):
        yield note(codes.KIND, "this is no answer of Cruise Control", None, ())
    elif "progress" in keys:
        message = "this is the progress of a task of Cruise Control"
        yield note(codes.KIND, message, "ask again with its User-Task-ID", ("progress",))
    elif "errorMessage" in keys:
        message = f"Cruise Control answered with an error: {show(value['errorMessage'])}"
        yield note(codes.KIND, message, None, ("errorMessage",))
    elif "proposals" not in keys:
        next_step = "ask Cruise Control with json=true&verbose=true"
        yield note(codes.KIND, "the answer has no proposals", next_step, ())
    elif not isinstance(value["proposals"], list):
        yield note(codes.WRONG_TYPE, "proposals is not a list", None, ("proposals",))
    elif not value["proposals"]:
        yield note(codes.EMPTY, "there are no proposals: nothing to move", None, ("proposals",))


def _proposal_notes(proposals: Sequence[Any]) -> Iterator[PendingDiagnostic]:
    """Find values that are no proposals, and keys that proposals do not have."""
    yield from key_notes("proposals", proposals, ("oldLeader", *_NEEDED))
    for index, proposal in enumerate(proposals):
        is_proposal = isinstance(proposal, dict) and all(key in proposal for key in _NEEDED)
        if not is_proposal or not isinstance(proposal["topicPartition"], dict):
            message = f"a proposal has {', '.join(_NEEDED)}"
            yield note(codes.WRONG_TYPE, message, None, ("proposals", index))


def _entry(proposal: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a plan, as far as the proposal has its fields."""
    partition = proposal["topicPartition"]
    named = {key: partition[key] for key in ("topic", "partition") if key in partition}
    return {**named, "current": proposal["oldReplicas"], "replicas": proposal["newReplicas"]}


def _in_proposals(found: Sequence[PendingDiagnostic]) -> list[PendingDiagnostic]:
    """Return diagnostics of a plan with the fields of the proposals."""
    return [
        each._replace(
            diagnostic=replace(each.diagnostic, field=_place(each.diagnostic.field)),
            first=None if each.first is None else _place(each.first),
        )
        for each in found
    ]


def _place(field: Field) -> Field:
    """Return the place in the answer of a field below a plan's `spec`: list, index, key, ..."""
    key = [_PLACES.get(str(each), ()) for each in field[2:3]]
    return ("proposals", *field[1:2], *(part for place in key for part in place), *field[3:])


def _moving(plan: ReassignmentPlan, section: JsonSection) -> Converted:
    """Return the plan without proposals that name the same replicas before and after.

    They move replicas between the disks of a broker, which the answer does not name.
    """
    moving = tuple(each for each in plan.reassignments if each.replicas != each.current)
    inside = len(plan.reassignments) - len(moving)
    if not moving:
        message = "every proposal moves replicas between the disks of a broker, and names no disk"
        section.refuse([note(codes.EMPTY, message, None, ("proposals",))])
    left_out = f"left out: {count(inside, 'proposal')} between the disks of a broker"
    return Converted(replace(plan, reassignments=moving), (left_out,) if inside else ())
