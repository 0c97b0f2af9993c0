"""What an operation did, and when: from a run on a real ZooKeeper, as a page and whole; and the
rules of its times.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.answers import read_json
from support.cli.in_process import command
from support.controller.eras import ERAS
from support.executor.kill_points import WAVES, Ground
from support.executor.runs import apply, resume

from kadmin.operations.reading.timeline import TimelineEventKind, moments, seconds_between, timeline
from kadmin.operations.record.record import (
    Author,
    Listing,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
    ThrottleRecord,
)
from kadmin.operations.record.steps import HealStep, Replaced, Sending, ThrottleChange, ThrottleStep
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.report.operations.history import moment_text, operation_answer, operation_text
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from pathlib import Path

    from support.executor.runs import Practice, Site

READ_AT = "2026-01-01T01:00:00Z"


@pytest.mark.zookeeper
def test_the_page_of_a_finished_operation(site: Site, tmp_path: Path) -> None:
    ground = Ground(site, ERAS["2.8.2"], throttle_rate=1_000_000)
    practice = ground.practice()
    ran = practice.run(apply(ground.plan()))
    assert ran.outcome is not None, ran.error
    page = tmp_path / "page.html"
    told = command(
        "report", str(ran.outcome.operation_id), "-z", practice.connect_string, "--out", page
    )
    assert (told.status, told.err) == (0, "")
    text = page.read_text()
    assert "<h1>Reassignment completed</h1>" in text
    assert [
        f"published wave {number + 1} of {len(WAVES)}" in text for number in range(len(WAVES))
    ] == [True] * 3
    assert "All partitions are at their target now: 5." in text
    assert "throttled to 1.00 MB/s" in text
    assert "bytes on disk are not known" in text, "the model has no brokers to ask"
    last = command("report", "-z", practice.connect_string)
    assert "<h1>Reassignment completed</h1>" in last.out, "the last operation, where none is named"
    unknown = command("report", "../nobody", "-z", practice.connect_string)
    assert (unknown.status, "There is no operation ../nobody" in unknown.err) == (3, True)


@pytest.mark.zookeeper
def test_history_shows_one_operation_whole_with_its_pauses(site: Site) -> None:
    ground = Ground(site, ERAS["2.8.2"], throttle_rate=1_000_000)
    practice = ground.practice()
    asked: list[str] = []

    def work() -> float:
        if not asked:
            asked.append("pause")
            practice.ask(StopRequest(Stop.PAUSE, "bob@h2", "2026-01-01T00:00:00Z"))
        return practice.work()

    paused = practice.process(apply(ground.plan()), work).run()
    assert paused.error is not None
    status = command("status", "-z", practice.connect_string, "-o", "json")
    (unfinished,) = json.loads(status.out)["operations"]
    assert validate_value(json.loads(status.out), "answers/status") == []
    assert (unfinished["state"], unfinished["throttle"], unfinished["plan_name"]) == (
        "paused",
        1_000_000,
        "three-waves",
    )
    assert unfinished["progress"]["wave"] == 2
    ran = practice.run(resume())
    assert ran.outcome is not None, ran.error
    name = str(ran.outcome.operation_id)
    told = command("history", name, "-z", practice.connect_string, "-o", "json")
    assert validate_value(json.loads(told.out), "answers/history") == [], told.out
    (operation,) = json.loads(told.out)["operations"]
    events = [(each["step"] or {"kind": each["event"]})["kind"] for each in operation["events"]]
    # The model's waves take no second.
    turns = [event for event in events if event not in {"probe", "wave"}]
    assert turns == ["started", "asked", "paused", "resumed", "completed"]
    assert (events.count("wave"), events[-1]) == (3, "completed")
    assert (operation["plan_name"], operation["throttle"], operation["waves"]) == (
        "three-waves",
        1_000_000,
        3,
    )
    (resumed,) = (each for each in operation["events"] if each["event"] == "resumed")
    assert "@" in resumed["by"]
    text = command("history", name, "-z", practice.connect_string).out
    assert "plan: three-waves, sha256:" in text
    assert "published wave 2 of 3" in text
    assert text.count("asked to pause by bob@h2\n") == 2, "the line has its own time"
    assert f"resumed by {resumed['by']}" in text
    unknown = command("history", "nobody", "-z", practice.connect_string)
    assert (unknown.status, "There is no operation nobody" in unknown.err) == (3, True)


@pytest.mark.zookeeper
def test_history_and_status_agree_that_an_operation_without_runner_is_interrupted(
    killed: Practice,
) -> None:
    (listing,) = killed.journal.unfinished()
    for arguments in (["status"], ["history"], ["history", listing.operation_id]):
        assert "interrupted" in command(*arguments, "-z", killed.connect_string).out, arguments


@pytest.mark.zookeeper
def test_a_rollback_names_its_operation_first(site: Site) -> None:
    ground = Ground(site, ERAS["2.8.2"])
    practice = ground.practice()
    ran = practice.run(apply(ground.plan()))
    assert ran.outcome is not None, ran.error
    told = command("rollback", "--dry-run", "-z", practice.connect_string)
    assert told.err.splitlines()[0] == f"rollback of operation {ran.outcome.operation_id}"
    in_json = command("rollback", "--dry-run", "-o", "json", "-z", practice.connect_string)
    first = json.loads(in_json.err.splitlines()[0])
    assert (first["event"], first["text"]) == (
        "noted",
        f"rollback of operation {ran.outcome.operation_id}",
    )


@pytest.mark.zookeeper
def test_a_rollback_says_which_throttle_it_takes_over_and_takes_another(site: Site) -> None:
    ground = Ground(site, ERAS["2.8.2"], throttle_rate=1_000_000)
    practice = ground.practice()
    ran = practice.run(apply(ground.plan()))
    assert ran.outcome is not None, ran.error
    told = command("rollback", "--dry-run", "-z", practice.connect_string)
    first = f"rollback of operation {ran.outcome.operation_id}"
    assert (
        told.err.splitlines()[0]
        == f"{first}, at its throttle of 1.00 MB/s; --throttle RATE gives another"
    )
    assert "throttle: 1.00 MB/s on" in told.err
    other = command("rollback", "--dry-run", "--throttle", "7MB/s", "-z", practice.connect_string)
    assert other.err.splitlines()[0] == first
    assert "throttle: 7.00 MB/s on" in other.err


def heal_of(changes: tuple[OperationStatus, ...] = ()) -> tuple[OperationRecord, Listing]:
    author, kind, at = Author("ann", "h1", 7), OperationKind.HEAL, "2026-01-01T00:00:00Z"
    record = OperationRecord(
        "op-1", kind, '{"findings":[],"kind":"Heal"}', "sha256:1", None, at, author, {}
    )
    status = OperationStatus(OperationState.COMPLETED, "2026-01-01T00:00:09Z", "healed in 3 steps")
    return record, Listing("op-1", kind, status, "sha256:1", at, author, changes)


def test_a_heal_tells_what_it_deleted_and_what_it_replaced() -> None:
    record, listing = heal_of()
    steps = [
        HealStep(1, "2026-01-01T00:00:01Z", Replaced("/admin/x", 4, b'{"a":\n1}', deleted=True)),
        HealStep(2, "2026-01-01T00:00:02Z", Replaced("/brokers/topics/t", 1, None, deleted=False)),
        HealStep(3, "2026-01-01T00:00:03Z"),
    ]
    found = timeline(record, listing, steps, READ_AT)
    assert [moment_text(each, found.record, found.waves) for each in moments(found)] == [
        "started by ann@h1",
        'deleted /admin/x, version 4, which held {"a":\\n1}',
        "replaced /brokers/topics/t, version 1, which held nothing",
        "moved the controller",
        "completed: healed in 3 steps",
    ]
    assert "heal, completed" in operation_text(found, None)


def test_every_rate_of_the_throttle_is_shown_when_it_came_and_its_removal() -> None:
    record, listing = heal_of()
    record = replace(record, throttle=ThrottleRecord(5_000_000, {}))
    removed = replace(listing, status=replace(listing.status, throttle_removed=True))
    changes = [
        ThrottleStep(number, f"2026-01-01T00:00:0{number}Z", ThrottleChange(rate, {}, None))
        for number, rate in ((1, 80_000_000), (2, 20_000_000))
    ]
    found = timeline(record, removed, changes, READ_AT)
    assert [moment_text(each, found.record, found.waves) for each in moments(found)] == [
        "started by ann@h1; throttle 5.00 MB/s",
        "changed the throttle to 80.0 MB/s",
        "changed the throttle to 20.0 MB/s",
        "completed: healed in 3 steps; the throttle is removed",
    ]
    (answer,) = read_json(operation_answer(found))["operations"]
    assert [each["throttle"] for each in answer["events"]] == [
        5_000_000,
        80_000_000,
        20_000_000,
        None,
    ]


def test_config_writes_are_shown_where_a_request_got_no_answer() -> None:
    """A step that only wrote configs: the throttle on record says what it set."""
    writes = [ThrottleStep(number, "2026-01-01T00:00:01Z") for number in (1, 2)]
    steps = [
        replace(writes[0], sending=Sending.ANSWERED),
        replace(writes[1], sending=Sending.UNANSWERED),
    ]
    found = timeline(*heal_of(), steps, READ_AT)
    (shown,) = [
        moment_text(each, found.record, found.waves)
        for each in moments(found)
        if each.turn is TimelineEventKind.STEP
    ]
    assert shown == "wrote configs of the throttle; a request got no answer"


def test_a_step_ends_at_the_pause_that_follows_it_and_older_records_show_their_last_state() -> None:
    paused = OperationStatus(OperationState.PAUSED, "2026-01-01T00:00:04Z", "nothing is in flight")
    resumed = OperationStatus(OperationState.RUNNING, "2026-01-01T01:00:00Z", by="bob@h2")
    steps = [HealStep(1, "2026-01-01T00:00:01Z"), HealStep(2, "2026-01-01T01:00:00Z")]
    record, listing = heal_of(
        (OperationStatus(OperationState.RUNNING, "2026-01-01T00:00:00Z"), paused, resumed)
    )
    found = timeline(record, listing, steps, READ_AT)
    assert [(span.at_s, span.until_s) for span in found.spans] == [(1, 4), (3600, None)]
    turns = [each.turn for each in moments(found)]
    assert turns == [
        TimelineEventKind.STARTED,
        TimelineEventKind.STEP,
        TimelineEventKind.PAUSED,
        TimelineEventKind.RESUMED,
        TimelineEventKind.STEP,
    ]
    older = moments(timeline(*heal_of(), steps[:1], READ_AT))
    assert [each.turn for each in older] == [
        TimelineEventKind.STARTED,
        TimelineEventKind.STEP,
        TimelineEventKind.ENDED,
    ]


def test_how_long_a_step_took_is_unknown_where_no_runner_was_at_work_meanwhile() -> None:
    running = OperationStatus(OperationState.RUNNING, "2026-01-01T00:00:00Z")
    resumed = OperationStatus(OperationState.RUNNING, "2026-01-01T01:00:00Z", by="bob@h2")
    times = (
        "2026-01-01T00:00:01Z",
        "2026-01-01T00:00:02Z",
        "2026-01-01T01:00:00Z",
        "2026-01-01T01:00:03Z",
    )
    steps = [HealStep(number, at) for number, at in enumerate(times, start=1)]
    found = timeline(*heal_of((running, resumed)), steps, READ_AT)
    assert [(span.at_s, span.until_s) for span in found.spans] == [
        (1, 2),
        (2, None),
        (3600, 3603),
        (3603, None),
    ]


@pytest.mark.zookeeper
@pytest.mark.parametrize(
    ("state", "then"), [("preparing", "kadmin status"), ("discarded", "kadmin history")]
)
def test_of_an_operation_with_an_incomplete_record_nothing_more_is_known(
    killed: Practice, state: str, then: str
) -> None:
    (listing,) = killed.journal.unfinished()
    path = f"/kadmin/operations/{listing.operation_id}"
    value = json.loads(killed.model.znodes.get(path) or b"{}")
    killed.model.znodes.client.set(
        f"{killed.chroot}{path}", json.dumps({**value, "state": state}).encode()
    )
    for chunk in killed.model.znodes.children(f"{path}/record"):
        killed.model.znodes.delete(f"{path}/record/{chunk}")
    for arguments in (["history", listing.operation_id], ["report", listing.operation_id]):
        told = command(*arguments, "-z", killed.connect_string)
        assert told.status == 8
        assert told.err.splitlines() == [
            (
                f"error: Operation {listing.operation_id} ({state}) has an incomplete record; "
                "nothing was published."
            ),
            f"  next:  {then} -z {killed.connect_string}",
        ]


@pytest.mark.parametrize(
    ("earlier", "later", "seconds"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z", 90),
        # A clock that was set back proves nothing.
        ("2026-01-01T00:01:30Z", "2026-01-01T00:00:00Z", None),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00", None),
        ("<script>", "2026-01-01T00:00:00Z", None),
    ],
)
def test_only_times_that_make_sense_are_told(
    earlier: str, later: str, seconds: float | None
) -> None:
    assert seconds_between(earlier, later) == seconds
