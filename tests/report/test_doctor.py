"""`doctor` as text: lines of 80 columns, broken between words, and commands that can be copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kadmin.cluster.services import Service
from kadmin.insight.diagnosis.doctor_report import DoctorReport
from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.insight.diagnosis.health import return_or_decommission
from kadmin.insight.tables.partitions import PartitionCounts
from kadmin.next_step import command
from kadmin.report.doctor import doctor_answer, doctor_text

if TYPE_CHECKING:
    from kadmin.next_step import NextStep

COUNTS = PartitionCounts(
    1_200,
    no_state=0,
    offline=0,
    under_replicated=40,
    under_min_isr=0,
    at_min_isr=7,
    not_preferred=0,
    moving=0,
)


def shown(next_step: NextStep | str, message: str = "Brokers are gone.") -> list[str]:
    found = Finding(Trouble.MISSING_BROKERS, message, next_step, severity="warning")
    return doctor_text(DoctorReport((found,), (), None, COUNTS)).splitlines()


def test_partitions_that_lack_replicas_are_counted_where_nothing_else_is_wrong() -> None:
    text = doctor_text(DoctorReport((), (), None, COUNTS))
    assert text.endswith("\n1,200 partitions: 40 under-replicated, 7 at min ISR")
    assert doctor_answer(DoctorReport((), (), None, COUNTS)).conditions == COUNTS
    assert doctor_answer(DoctorReport((), (), None, None)).conditions is None


def test_a_managed_service_is_one_line_with_its_page() -> None:
    report = DoctorReport((), (), None, COUNTS, Service.EVENT_HUBS)
    assert doctor_text(report).splitlines()[1:] == [
        "1,200 partitions: 40 under-replicated, 7 at min ISR",
        "service: Azure Event Hubs (docs/managed.md#azure-event-hubs)",
    ]
    assert doctor_answer(report).service == "Azure Event Hubs"


def test_a_next_step_is_broken_between_words_and_its_commands_stay_whole() -> None:
    lines = shown(return_or_decommission([3, 7]))
    below = lines[lines.index("1. missing-brokers: Brokers are gone.") + 1 :]
    assert below == [
        "   next: start brokers 3, 7, or move the replicas of one that stays dead to",
        "         others:",
        "         kadmin propose decommission --broker 3 --out PLAN",
    ]


def test_commands_to_choose_from_have_a_line_each() -> None:
    choice = "continue it, or take it back: " + command("resume", "op-1", "--due")
    lines = shown(choice + ", or " + command("cancel", "an-operation-with-a-long-id"))
    assert lines[-3:] == [
        "   next: continue it, or take it back:",
        "         kadmin resume op-1 --due",
        "         kadmin cancel an-operation-with-a-long-id",
    ]


@pytest.mark.parametrize(
    "hint",
    [
        (
            "start them if they are down; else their logs say why they do not follow: kadmin "
            "inspect controller -z zk:2181"
        ),
        (
            "a reassignment to these brokers and kadmin rollback, one after the other, remove "
            "them too, as was said"
        ),
        (
            "kadmin throttle audit --context "
            "the-name-of-a-context-that-is-long-because-somebody-likes-long-names-of-it"
        ),
        (
            "grant it: kafka-acls.sh --bootstrap-server kafka-1.example.org:9092 --add "
            "--allow-principal User:me --topic t"
        ),
    ],
)
def test_no_word_is_broken_at_80_columns(hint: str) -> None:
    given = hint.replace(":", "").replace(";", "").split()
    lines = shown(
        hint, f"{'x' * 100} is the name of a topic that no line can hold, and it is whole."
    )
    told = " ".join(lines)
    assert [
        word for word in given if word not in told.replace(":", "").replace(";", "").split()
    ] == []
    assert "x" * 100 in told.split()
    commands = [
        line
        for line in lines
        if line.strip().removeprefix("next: ").startswith(("kadmin", "kafka-"))
    ]
    assert all(len(line) <= 79 for line in lines if line not in commands and "x" * 100 not in line)
