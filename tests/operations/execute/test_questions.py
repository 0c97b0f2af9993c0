"""Every question names the cluster, its address, what will happen, and how much of it; on a real
pseudo-terminal.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cli.terminal import in_terminal
from support.controller.eras import ERAS
from support.controller.simple_controller import CLUSTER_ID
from support.controller.znodes import REASSIGN, reassignment_payload
from support.documents.plans import UNASKED, deletion, document, reassignment
from support.executor.runs import Practice

from kadmin.cluster.model import TopicPartition
from kadmin.report.operations.questions import cluster_at

if TYPE_CHECKING:
    from pathlib import Path

    from support.executor.runs import Site

pytestmark = pytest.mark.zookeeper

WHERE = f"cluster {CLUSTER_ID} at ZK"


def asked(practice: Practice, *arguments: object, answer: str = "n") -> str:
    """What a command asks on a terminal where the answer is no."""
    line = [sys.executable, "-m", "kadmin", *map(str, arguments), "-z", practice.connect_string]
    status, written = in_terminal(line, 500, typed=f"{answer}\n")
    assert (status, "error: Not confirmed; nothing was" in written) == (64, True), written
    (asking,) = (each for each in written.splitlines() if practice.connect_string in each)
    question = asking.partition("\x1b")[
        0
    ].rstrip()  # the answer was echoed before the question came
    return re.sub(r"\d{8}T\d{6}Z-\w{6}", "ID", question.replace(practice.connect_string, "ZK"))


@pytest.fixture
def practice(site: Site) -> Practice:
    """A cluster with a topic of two partitions."""
    made = Practice(site, ERAS["2.8.2"])
    made.model.create_topic("orders", {0: (1, 2), 1: (1, 2)})
    made.model.run()
    return made


def test_before_a_plan_is_applied(practice: Practice, tmp_path: Path) -> None:
    plan = reassignment("orders", {0: [3, 2], 1: [2, 1]}, current={0: [1, 2], 1: [1, 2]})
    for entry in plan["spec"]["partitions"]:
        entry["size_bytes"] = 33_000_000
    question = asked(practice, "apply", document(tmp_path / "plan.json", plan))
    assert (
        question == f"Apply plan test to {WHERE}: 2 partitions to reassign, 33.0 MB to copy? [y/N]:"
    )


def test_bytes_that_are_not_known_are_told_as_such(practice: Practice, tmp_path: Path) -> None:
    question = asked(
        practice, "apply", document(tmp_path / "plan.json", reassignment("orders", {0: [3, 2]}))
    )
    assert (
        question
        == f"Apply plan test to {WHERE}: 1 partition to reassign, bytes to copy unknown? [y/N]:"
    )


def test_before_data_is_destroyed(practice: Practice, tmp_path: Path) -> None:
    practice.model.znodes.create("/config/brokers/9", b"{}")
    plan = document(tmp_path / "plan.json", deletion("orders", allow=UNASKED))
    question = asked(practice, "apply", plan)
    assert question.startswith(f"This destroys data on {WHERE}: 1 topic to delete")
    assert question.endswith("Type the topics to delete them (orders):")


def test_before_an_operation_is_resumed_cancelled_or_throttled(killed: Practice) -> None:
    left = r"\d partitions? left\? \[y/N\]:"
    assert re.fullmatch(
        f"Resume operation ID of plan three-waves on {WHERE}: {left}", asked(killed, "resume")
    )
    how = {"cancel": "when its current wave is done", "cancel --now": "and revert its current wave"}
    for name, words in how.items():
        question = asked(killed, *name.split())
        assert re.fullmatch(
            f"Cancel operation ID of plan three-waves on {WHERE}, {words}: {left}", question
        )
    throttled = asked(killed, "throttle", "set", "--rate", "7MB/s")
    assert throttled == f"Write these values for 3 brokers on {WHERE}? [y/N]:"
    (listing,) = killed.journal.unfinished()
    released = asked(killed, "lock", "release", listing.operation_id)
    runner = "Take the lock from the runner of operation ID, whose next write then fails"
    assert released == f"{runner}, on {WHERE}? [y/N]:"


def test_before_reassignments_of_other_tools_are_ended(practice: Practice) -> None:
    practice.model.copies_held = True
    moves = {TopicPartition("orders", 0): (3, 2), TopicPartition("orders", 1): (3, 2)}
    practice.model.znodes.create(REASSIGN, reassignment_payload(moves))
    practice.model.run()
    question = asked(practice, "cancel", "--foreign")
    assert question == f"End 2 reassignments of other tools on {WHERE}: orders-0, orders-1? [y/N]:"


def test_before_a_finding_is_repaired(practice: Practice) -> None:
    practice.model.znodes.create(REASSIGN, b"no JSON")
    assert asked(practice, "heal") == f"Repair this on {WHERE}? [y/N]:"
    assert practice.model.znodes.exists(REASSIGN)


def test_what_was_confirmed_beforehand_is_shown_once(practice: Practice) -> None:
    answer = command(
        "throttle",
        "set",
        "--broker",
        "1",
        "--rate",
        "7MB/s",
        "--yes",
        "-z",
        practice.connect_string,
    )
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.count("leader.replication.throttled.rate") == 1


def test_a_throttle_without_an_operation_says_what_it_is_for(practice: Practice) -> None:
    answer = command("throttle", "set", "--rate", "7MB/s", "--yes", "-z", practice.connect_string)
    assert (answer.status, answer.out) == (0, "nothing to do\n")
    assert answer.err == "no reassignment is unfinished: this throttles the partitions in flight\n"


def test_a_cluster_without_a_known_id_is_named_by_its_address() -> None:
    assert cluster_at(None, "zk1:2181/kafka") == "the cluster at zk1:2181/kafka"


def test_an_error_after_an_interrupted_question_begins_a_line_of_its_own(
    practice: Practice, tmp_path: Path
) -> None:
    plan = document(tmp_path / "plan.json", reassignment("orders", {0: [3, 2]}))
    command = [sys.executable, "-m", "kadmin", "apply", str(plan), "-z", practice.connect_string]
    status, written = in_terminal(command, 500, interrupt_at="[y/N]: ")
    assert status == 130
    assert "[y/N]: \r\n" in written
    assert "error: Interrupted (^C); nothing was changed." in written
