"""Whether `validate` on a snapshot and the commands that act on the same state refuse the same
documents.

    PYTHONPATH=tests python tests/support/plan/agreement.py --cases 100000 --seed 1

A case is a random small cluster and a random document. `diff` and `apply` examine a plan on the
state itself, `propose` plans a request on the snapshot, and `validate --inventory` reads the
document's text beside the snapshot. The script prints how often each code was met, and every
disagreement.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from support.cluster.capabilities import NODES
from support.plan.random_cases import random_case
from support.planner.load_histories import row, week, write

from kadmin.documents import dump_json
from kadmin.documents.check import read
from kadmin.errors import KadminError
from kadmin.inventory import inventory_of, write_inventory
from kadmin.inventory.validation import validate_files
from kadmin.operations.decide.examine import examine
from kadmin.plan import codes
from kadmin.plan.model import Policy, RebalanceRequest, RecreationPlan
from kadmin.plan.rules import refuses
from kadmin.planner.local import propose
from kadmin.planner.proposal import Options

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from support.plan.random_cases import Case

    from kadmin.cluster.model import ClusterState
    from kadmin.inventory import Inventory

ONLY_LIVE = {
    codes.REASSIGNMENT_RUNNING,
    codes.ELECTION_RUNNING,
    codes.BEING_DELETED,
    codes.NO_ROOM,
    codes.GUARD_UNKNOWN,
    codes.UNKNOWN_SIGNAL,
    codes.ELECTED_TOO,
    codes.DISK_FILLS,
}
ONLY_PLANNED = {codes.INFEASIBLE}
TOGETHER = {codes.PARTITION_IN_TWO_PLANS, codes.DELETED_AND_USED}
"""Codes of several documents, which no command that acts on one plan can find."""
LEAST = 200
"""How often the large run must meet each code to judge it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The codes that were met in one case, and how the two sides disagree, "" where they agree."""

    met: frozenset[str]
    disagreement: str


def judge(case: Case, folder: Path) -> Verdict:
    """Compare what the two sides say of one case; the snapshot is written into the folder."""
    write_inventory(snapshot_of(case), folder, "csv")
    text = dump_json(case.document).encode()
    told = validate_files([("plan.json", text)], case.policy, folder).diagnostics
    refused = _refused(case, text, folder)
    missed = refused - ONLY_LIVE - ONLY_PLANNED - {each.code for each in told}
    met = frozenset({each.code for each in told} | refused)
    if missed:
        return Verdict(met, f"refused, and not reported by validate: {sorted(missed)}")
    unheeded = {each.code for each in told if refuses(each)} - refused
    if isinstance(case.document, RebalanceRequest):  # propose raises the first refusal only
        unheeded = unheeded if not refused else set()
    return Verdict(
        met, f"reported by validate, and not refused: {sorted(unheeded)}" if unheeded else ""
    )


def snapshot_of(case: Case) -> Inventory:
    """Return the inventory of the case's state; capacities come from elsewhere, as an operator adds
    them.
    """
    inventory = inventory_of(case.state, case.facts.sizes, "2026-11-22T08:00:00Z", case.facts)
    cluster = inventory.single()
    brokers = tuple(
        replace(row, capacity_bytes=case.facts.capacities.get(row.broker_id))
        for row in cluster.brokers
    )
    return replace(inventory, clusters={"": replace(cluster, brokers=brokers)})


def _refused(case: Case, text: bytes, folder: Path) -> set[str]:
    """Return the codes by which the document is refused: by its own text alone, and on the
    cluster.
    """
    checked = read(text, "plan.json")
    if checked.document is None:
        return {each.code for each in checked.problems if each.severity == "error"}
    if isinstance(case.document, RebalanceRequest):
        try:
            request = _with_history(case.document, case.state, folder)
            propose(request, folder, Options(), policy=case.policy)
        except KadminError as error:
            return _codes([error])
        return set()
    assert not isinstance(case.document, Policy)
    refused = _codes(
        examine(case.document, case.state, NODES.publish, case.facts, case.policy).refusals
    )
    exists = isinstance(case.document, RecreationPlan) and set(case.document.topics) & set(
        case.state.topics
    )
    # A snapshot does not show what is being deleted.
    return refused if exists else refused - {codes.TOPIC_EXISTS}


def _with_history(request: RebalanceRequest, state: ClusterState, folder: Path) -> RebalanceRequest:
    """Return the request with a load history of every partition in the folder, if it asks for
    load.
    """
    if request.load is None:
        return request
    write(
        folder / "load", [row(each.topic, each.partition, week(1.0)) for each in state.assignment]
    )
    return replace(request, load=replace(request.load, folder=str(folder / "load")))


def _codes(refusals: Iterable[KadminError]) -> set[str]:
    return {(error.cause or f"no code: {error}").partition(":")[0] for error in refusals}


def expected_codes() -> list[str]:
    """Return the codes that the large run must meet: those of rules on one document."""
    return [
        code for code in codes.TABLE if code >= codes.DUPLICATE_PARTITION and code not in TOGETHER
    ]


def main(arguments: Sequence[str]) -> int:
    """Run the cases and print the figures; 1 where sides disagree or a code is met too rarely."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    random = Random(asked.seed)  # noqa: S311 - a run must be repeatable
    met, disagreements = Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.cases):
            case = random_case(random)
            verdict = judge(case, Path(folder))
            met.update(verdict.met)
            if verdict.disagreement:
                disagreements += 1
                sys.stdout.write(f"case {number}: {verdict.disagreement}\n  {case}\n")
                sys.stdout.flush()
    for code in expected_codes():
        sys.stdout.write(f"{code} {met[code]:>7}\n")
    rare = [code for code in expected_codes() if met[code] < LEAST]
    sys.stdout.write(
        f"seed {asked.seed}: {asked.cases} cases, {disagreements} disagreements, too rare: {rare}\n"
    )
    return 1 if disagreements or rare else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
