"""What `diff` shows and `apply` refuses: one list of refusals and warnings for both."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt
from support.answers import read_json
from support.cluster.capabilities import LIMITS
from support.cluster.states import cluster, tp

from kadmin.answers.hours import HoursAnswer
from kadmin.errors import BusyError, InvalidInputError, StalePlanError
from kadmin.operations.decide.examine import examine, with_ending
from kadmin.operations.decide.recreation import RecreationWork
from kadmin.plan.codes import TABLE
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.hours import parse_window
from kadmin.plan.model import (
    UNTHROTTLED,
    DeletionPlan,
    Elect,
    ElectionPlan,
    HoursSpec,
    PartitionTarget,
    PlanHeader,
    Policy,
    ReassignmentPlan,
    RecreationPlan,
    ThrottleBy,
    ThrottleSpec,
    TopicRecipe,
    WaveLimits,
    WaveOrder,
)
from kadmin.report.operations.questions import apply_question, question_to_type
from kadmin.report.plans.answer import diff_answer
from kadmin.report.plans.markdown import diff_markdown
from kadmin.report.plans.text import diff_text
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Collection

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.hours import Window

STATE = cluster({"a-0": (1, 2), "a-1": (2, 3), "or.ders-0": (3, 1)}, states={"a-1": (3, (3,))})
SIZES = {tp(name): 1_000 for name in ("a-0", "a-1", "or.ders-0")}
DELETION = DeletionPlan(PlanHeader(), ("a",), allow_active_consumers=True)
USED = ClusterFacts(sizes=SIZES, consumers={"a": ("billing",)}, topics_create_themselves=True)


def test_a_deletion_tells_the_bytes_and_what_may_come_back() -> None:
    found = examine(DELETION, STATE, LIMITS, USED)
    assert (found.refusals, found.lost_bytes) == ((), 4_000)
    text = diff_text(DELETION, found)
    assert "4.00 kB would be destroyed, all replicas counted" in text
    assert "warning: the brokers have auto.create.topics.enable=true" in text
    answer = read_json(diff_answer(found))
    assert validate_value(answer, "answers/diff") == []
    assert (answer["lost_bytes"], len(answer["warnings"])) == (4_000, 1)


TIERED = replace(STATE, topic_configs={"a": {"remote.storage.enable": "true"}})
LOCAL_AND_ALL = "2 tiered partitions: 2.00 kB local, about 40.0 kB with remote storage"


def test_a_deletion_tells_what_remote_storage_has() -> None:
    facts = replace(USED, tiered_sizes=dict.fromkeys((tp("a-0"), tp("a-1")), 20_000))
    found = examine(DELETION, TIERED, LIMITS, facts)
    text = diff_text(DELETION, found)
    assert "4.00 kB on disk would be destroyed, all replicas counted" in text
    assert f"{LOCAL_AND_ALL}; all would be deleted" in text.split("\n\n")
    assert "warning: a has remote storage: its records there are deleted as well" in text
    assert f"1 topic to delete, 4.00 kB on disk ({LOCAL_AND_ALL}). Type" in question_to_type(
        DELETION, found, "x", "a"
    )
    assert f"\n\n{LOCAL_AND_ALL}; all would be deleted.\n" in diff_markdown("p", DELETION, found)
    answer = read_json(diff_answer(found))
    assert validate_value(answer, "answers/diff") == []
    assert answer["tiered"] == {"partitions": 2, "local_bytes": 2_000, "total_bytes": 40_000}


def test_a_reassignment_of_tiered_topics_copies_their_local_bytes() -> None:
    """Those with remote storage are unknown, as where no leader answers."""
    plan = replace(MOVES, reassignments=(PartitionTarget(tp("a-0"), (1, 3), (1, 2)),))
    facts = ClusterFacts(sizes=SIZES)
    found = examine(plan, TIERED, LIMITS, facts)
    told = "1 tiered partition: 1.00 kB local, unknown with remote storage"
    assert f"{told}; the local bytes are copied" in diff_text(plan, found).split("\n\n")
    assert f"1 partition to reassign, 1.00 kB to copy ({told})?" in apply_question(plan, found, "x")
    answer = read_json(diff_answer(found))
    assert validate_value(answer, "answers/diff") == []
    assert answer["tiered"] == {"partitions": 1, "local_bytes": 1_000, "total_bytes": None}
    plain = examine(plan, STATE, LIMITS, facts)
    assert "tiered" not in read_json(diff_answer(plain))
    assert "tiered" not in diff_text(plan, plain) + apply_question(plan, plain, "x")


def test_a_policy_refuses_what_the_plan_allows_itself() -> None:
    (refusal,) = examine(
        replace(DELETION, allow_more_than=9), STATE, LIMITS, policy=Policy(deny=("a",))
    ).refusals
    assert isinstance(refusal, InvalidInputError)
    assert "a is protected: it matches the pattern a" in refusal.message
    assert refusal.cause == f"KA050: {TABLE['KA050'].meaning}", "as validate --inventory calls it"


def test_an_election_shows_who_leads_before_and_after() -> None:
    """A preferred replica that cannot be elected leaves the leader as it is."""
    state = cluster({"a-0": (1, 2), "a-1": (2, 3)}, states={"a-0": (2, (1, 2)), "a-1": (3, (3,))})
    plan = ElectionPlan(PlanHeader(), topics=("a",))
    found = examine(plan, state, LIMITS)
    assert (found.targets, found.leaders) == (("a-0", "a-1"), ((2, 1), (3, 3)))
    shown = diff_text(plan, found).split("\n\n")[0]
    assert [line.split() for line in shown.splitlines()[1:]] == [
        ["a-0", "2", "->", "1"],
        ["a-1", "3"],
    ]
    answer = read_json(diff_answer(found))
    assert validate_value(answer, "answers/diff") == []
    assert answer["leaders"][0] == {"name": "a-0", "before": 2, "after": 1}
    assert "| `a-0` | 2 -> 1 |" in diff_markdown("p", plan, found)


@pytest.mark.parametrize(
    ("elect", "told"),
    [
        (Elect.AT_END, "preferred leaders are elected after the last wave"),
        (Elect.AFTER_EACH_WAVE, "preferred leaders are elected after each wave"),
    ],
)
def test_a_plan_that_elects_says_so_before_it_is_applied(elect: Elect, told: str) -> None:
    plan = replace(MOVES, elect=elect)
    found = examine(plan, STATE, LIMITS, ClusterFacts(sizes=SIZES))
    assert told in diff_text(plan, found).split("\n\n")
    assert f"; {told}?" in apply_question(plan, found, "x")
    assert f"\n\n{told.capitalize()}.\n" in diff_markdown("p", plan, found)
    quiet = examine(MOVES, STATE, LIMITS, ClusterFacts(sizes=SIZES))
    assert "elected" not in diff_text(MOVES, quiet) + apply_question(MOVES, quiet, "x")


def test_an_election_warns_of_what_cannot_be_elected() -> None:
    found = examine(ElectionPlan(PlanHeader(), topics=("a",)), STATE, LIMITS)
    assert (found.refusals, found.targets) == ((), ("a-1",))
    assert found.warnings == ("a-1 cannot be elected: preferred broker 2 is not in the ISR [3]",)


def test_a_recreation_is_refused_by_the_exit_codes_of_each_reason() -> None:
    recipes = tuple(
        TopicRecipe(topic, {0: ids}, {})
        for topic, ids in (("a", (1,)), ("or_ders", (1,)), ("b", (9,)))
    )
    found = examine(RecreationPlan(PlanHeader(), recipes), STATE, LIMITS)
    assert [type(each) for each in found.refusals] == [BusyError, InvalidInputError, StalePlanError]
    new = examine(
        RecreationPlan(PlanHeader(), recipes[2:]),
        replace(STATE, brokers={9: STATE.brokers[1]}),
        LIMITS,
    )
    assert (new.refusals, isinstance(new.work, RecreationWork), new.targets) == ((), True, ("b",))


MOVES = ReassignmentPlan(
    PlanHeader(),
    tuple(
        PartitionTarget(tp(name), ids)
        for name, ids in {"a-0": (2, 4), "a-1": (4, 3), "or.ders-0": (3, 2)}.items()
    ),
    UNTHROTTLED,
)


def test_a_broker_without_room_is_named_with_what_it_would_get() -> None:
    found = examine(MOVES, STATE, LIMITS, ClusterFacts(sizes=SIZES, usable={4: 1_999}))
    (refusal,) = found.refusals
    assert isinstance(refusal, StalePlanError)
    assert (
        refusal.message
        == "broker 4 has room for 2.00 kB, 1 B less than the copies of a-0, a-1 need."
    )
    assert found.change is not None, "diff shows the change as well"
    assert (
        examine(MOVES, STATE, LIMITS, ClusterFacts(sizes=SIZES, usable={4: 2_000})).refusals == ()
    )


def test_unknown_room_is_told_once_and_refuses_nothing() -> None:
    found = examine(
        MOVES, STATE, LIMITS, ClusterFacts(sizes=SIZES, usable=dict.fromkeys((1, 2, 3, 4)))
    )
    assert (found.refusals, found.warnings) == (
        (),
        ("room on disk is not known (Kafka 3.3 and later report it): brokers 2, 4",),
    )
    one = examine(MOVES, STATE, LIMITS, ClusterFacts(sizes=SIZES, usable={2: 10**9, 4: None}))
    assert one.warnings == ("room on disk is not known (Kafka 3.3 and later report it): broker 4",)
    silent = ClusterFacts(disks_unavailable=("bytes on disk are not known: silence",))
    assert examine(MOVES, STATE, LIMITS, silent).warnings == silent.disks_unavailable
    assert examine(MOVES, STATE, LIMITS, ClusterFacts(sizes=SIZES)).warnings == (), (
        "a snapshot asks nobody"
    )


def test_bytes_of_a_partition_are_those_of_all_its_copies() -> None:
    plan = ReassignmentPlan(
        PlanHeader(), (PartitionTarget(tp("a-0"), (3, 4)), PartitionTarget(tp("a-1"), (4, 3)))
    )
    found = examine(plan, STATE, LIMITS, ClusterFacts(sizes={tp("a-0"): 1_110_000}))
    row = next(
        line.split() for line in diff_text(plan, found).splitlines() if line.startswith("a-0 ")
    )
    assert row[-2:] == ["2.22", "MB"]
    assert "| `a-0` | 1,2 | 3,4 | 2.22 MB |" in diff_markdown("p", plan, found)


def test_a_plan_that_is_older_than_the_data_is_compared_with_the_bytes_on_disk() -> None:
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(tp("a-0"), (3, 2), size_bytes=1000),))
    now = ClusterFacts(sizes={tp("a-0"): 1112}, usable={3: 1112})
    found = examine(plan, STATE, LIMITS, now)
    assert found.warnings[-1] == (
        "by the plan's size_bytes 1.00 kB are to be copied, by the bytes on disk 1.11 kB; "
        "remove size_bytes from the plan to reckon with those on disk"
    )
    (refusal,) = examine(plan, STATE, LIMITS, replace(now, usable={3: 1111})).refusals
    assert refusal.message.startswith("broker 3 has room for 1.11 kB, 1 B less")
    alike = replace(now, sizes={tp("a-0"): 1111})
    assert "size_bytes" not in str(examine(plan, STATE, LIMITS, alike).warnings)


@pytest.mark.parametrize(
    "facts", [ClusterFacts(usable={4: 10**9}), ClusterFacts(capacities={4: 10**9})]
)
def test_partitions_whose_room_cannot_be_checked_are_named(facts: ClusterFacts) -> None:
    told = "room cannot be checked for {}, whose size is not known: {}"
    assert examine(MOVES, STATE, LIMITS, facts).warnings == (
        told.format("2 partitions", "a-0, a-1"),
    )
    some = replace(facts, sizes={tp("a-0"): 5})
    assert examine(MOVES, STATE, LIMITS, some).warnings == (told.format("1 partition", "a-1"),)
    assert examine(MOVES, STATE, LIMITS).warnings == (), "no limit is known either"


def test_a_comment_says_first_whether_it_may_be_applied() -> None:
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(tp("a-0"), (3, 2)),))
    found = examine(plan, STATE, LIMITS, ClusterFacts(sizes=SIZES))
    comment = diff_markdown("plans/a_*b|c.yaml", plan, found)
    assert "**1 partition** to reassign in 1 wave, 1 replica to copy, 1.00 kB." in comment
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(comment)
    assert sum(token.type == "table_open" for token in tokens) == 3
    heading = next(token.content for token in tokens if token.type == "inline")
    assert heading == r"kadmin: `plans/a_*b\|c.yaml`"
    assert diff_markdown("a`b@all", plan, found).startswith("### kadmin: `` a`b@all ``\n"), (
        "it calls nobody"
    )
    foreign = replace(plan, header=PlanHeader(cluster_id="x"))
    refused = diff_markdown("p", foreign, examine(foreign, STATE, LIMITS))
    assert "would be **refused**" in refused
    assert "| 4 |" in refused


def test_makespan_bound_and_ratio_are_those_at_the_throttle() -> None:
    """In plan order broker 2 sends 3000 bytes, then broker 1 receives 2000; but a-1 and a-2 can
    share a wave.
    """
    sizes = {tp(f"a-{number}"): size for number, size in enumerate((1000, 2000, 2000, 1000))}
    state = cluster({"a-0": (2,), "a-1": (2,), "a-2": (3,), "a-3": (4,)})
    targets = tuple(
        PartitionTarget(tp(f"a-{number}"), (to,)) for number, to in enumerate((1, 3, 1, 3))
    )
    throttle, limits = ThrottleSpec(ThrottleBy.RATE, 100), WaveLimits(max_partitions=2)
    plan = ReassignmentPlan(PlanHeader(), targets, throttle, limits, order=WaveOrder.PRIORITY)
    in_order = examine(plan, state, LIMITS, ClusterFacts(sizes=sizes))
    told = "makespan about 0:50, bound 0:30, ratio 1.67"
    assert f"throttle: 100 B/s on 4 brokers and 1 topic, {told}" in diff_text(plan, in_order)
    assert f"Throttled at 100 B/s: {told}." in diff_markdown("p", plan, in_order)
    shortest = examine(
        replace(plan, order=WaveOrder.SHORTEST), state, LIMITS, ClusterFacts(sizes=sizes)
    )
    for found, makespan in ((in_order, 50), (shortest, 30), (examine(plan, state, LIMITS), None)):
        answer = read_json(diff_answer(found))
        assert validate_value(answer, "answers/diff") == []
        assert answer["throttle"]["makespan_s"] == makespan
        assert answer["throttle"]["makespan_bound_s"] == (makespan and 30)
    assert "makespan unknown" in diff_text(plan, examine(plan, state, LIMITS))


def test_a_comment_of_many_partitions_stays_short() -> None:
    names = [f"t-{number}" for number in range(200)]
    state = cluster(dict.fromkeys(names, (1, 2)))
    plan = ReassignmentPlan(
        PlanHeader(), tuple(PartitionTarget(tp(name), (2, 1)) for name in names)
    )
    comment = diff_markdown("p", plan, examine(plan, state, LIMITS))
    assert "<summary>200 partitions</summary>" in comment
    assert "... and 150 more" in comment
    assert len(comment) < 10_000
    warned = replace(examine(plan, state, LIMITS), warnings=("w",) * 200)
    assert diff_text(plan, warned).count("warning: w") == 50
    assert "... and 150 more (all of them with -o json)" in diff_text(plan, warned)
    short = diff_markdown("p", plan, warned)
    assert (short.count("**warning**"), "... and 150 more\n\n| broker" in short) == (50, True)
    brokers = cluster({f"t-{number}": (number,) for number in range(200)})
    moved = tuple(PartitionTarget(tp(f"t-{number}"), (number + 200,)) for number in range(200))
    wide = ReassignmentPlan(PlanHeader(), moved)
    many = diff_markdown("p", wide, examine(wide, brokers, LIMITS))
    assert len(many) < 20_000
    empty = ReassignmentPlan(PlanHeader(), ())
    nothing = diff_markdown("p", empty, examine(empty, state, LIMITS))
    assert "Nothing to do." in nothing


def test_apply_refuses_all_unknown_names_at_once() -> None:
    targets = (
        PartitionTarget(tp("nowhere-0"), (1,)),
        PartitionTarget(tp("a-99"), (1,)),
        PartitionTarget(tp("a-0"), (77,)),
    )
    found = examine(ReassignmentPlan(PlanHeader(), targets), STATE, LIMITS)
    refusal = found.refusal
    assert isinstance(refusal, StalePlanError)
    assert len(found.refusals) > 1
    assert [name in refusal.message for name in ("nowhere", "a-99", "77")] == [True] * 3, (
        refusal.message
    )
    assert [code in str(refusal.cause) for code in ("KA040", "KA041", "KA042")] == [True] * 3, (
        refusal.cause
    )
    assert examine(MOVES, STATE, LIMITS, ClusterFacts(sizes=SIZES)).refusal is None


class Week:
    """A load history with the same quiet windows for all brokers, as long as `asked` are those."""

    def __init__(self, *windows: str, asked: tuple[int, ...] = (1, 2, 3)) -> None:
        self._windows = tuple(map(parse_window, windows))
        self._asked = asked

    def quiet_windows(
        self, state: ClusterState, broker_ids: Collection[int], most: float
    ) -> tuple[Window, ...]:
        assert (state.cluster_id, tuple(broker_ids), most) == (STATE.cluster_id, self._asked, 0.7)
        return self._windows


QUIET = replace(
    MOVES,
    throttle=ThrottleSpec(ThrottleBy.RATE, 1_000),
    hours=HoursSpec(quiet=0.7, folder="load", outside=500),
)


def quiet(load: Week | None) -> Examination:
    touched = replace(QUIET, reassignments=(PartitionTarget(tp("a-0"), (1, 3)),))
    facts = ClusterFacts(sizes=SIZES, load=load)
    return with_ending(examine(touched, STATE, LIMITS, facts), datetime(2026, 6, 1, 12, tzinfo=UTC))


def test_quiet_hours_become_windows_of_the_brokers_that_are_throttled() -> None:
    found = quiet(Week("22:00-06:00", "sat-sun"))
    assert found.refusals == ()
    assert found.throttle is not None
    hours = found.throttle.hours
    nights = tuple(map(parse_window, ("22:00-06:00", "sat-sun")))
    assert hours == HoursSpec(nights, "UTC", outside=500)
    shown = diff_text(QUIET, found)
    assert (
        "hours: 22:00-06:00 and sat-sun in UTC, 500 B/s outside; if copies begin now, done "
        in shown
    )
    answered = diff_answer(found).throttle
    assert answered is not None
    assert answered.hours == HoursAnswer(("22:00-06:00", "sat-sun"), "UTC", 500)
    assert answered.done_at == "2026-06-01T12:00:02Z", "outside, at half the rate"
    assert "\n\nHours: 22:00-06:00 and sat-sun in UTC, 500 B/s outside; " in diff_markdown(
        "p", QUIET, found
    )
    answer = read_json(diff_answer(found))
    assert validate_value(answer, "answers/diff") == []


def test_a_rate_that_follows_the_clients_has_two_ends() -> None:
    hours = HoursSpec((parse_window("22:00-06:00"),), "UTC")
    pace = ThrottleSpec(ThrottleBy.RATE, 1, most=10)
    plan = replace(QUIET, throttle=pace, hours=hours)
    at = datetime(2026, 6, 1, 12, tzinfo=UTC)
    found = with_ending(examine(plan, STATE, LIMITS, ClusterFacts(sizes=SIZES)), at)
    answered = diff_answer(found).throttle
    assert answered is not None
    assert (answered.makespan_s, answered.done_at, answered.done_at_most) == (
        2_000,
        "2026-06-01T22:33:20Z",
        "2026-06-01T22:03:20Z",
    )
    assert "done today 22:03 (at max), today 22:33 (at min), UTC" in diff_text(plan, found)


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (Week(), "No hour of the week is quiet for brokers 1, 2, 3."),
        (None, "The load history load was not read."),
    ],
)
def test_a_plan_without_a_quiet_hour_is_refused(load: Week | None, said: str) -> None:
    found = quiet(load)
    assert found.refusal is not None
    assert found.refusal.exit_code == 3
    assert found.refusal.message.startswith(said)
    assert f"apply would stop with exit code 3: {said}" in diff_text(QUIET, found)
