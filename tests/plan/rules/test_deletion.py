"""Guards of a deletion, one by one: what each needs to speak, and the waiver that silences it and
nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import cluster, moving, tp, with_node

from kadmin.cluster.names import RECORD_TOPIC
from kadmin.diagnostics import Diagnostic
from kadmin.errors import (
    BusyError,
    InvalidInputError,
    NotCompletedError,
    StalePlanError,
    UnreachableError,
)
from kadmin.next_step import command
from kadmin.operations.decide.deletion import bytes_lost
from kadmin.plan import codes
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import DeletionPlan, PlanHeader, Policy
from kadmin.plan.rules import ClusterView, check, refusals_of

STATE = cluster(
    {"a-0": (1, 2), "a-1": (2, 3), "b-0": (1, 9), "_c-0": (1,), "__consumer_offsets-0": (1,)}
)
FACTS = ClusterFacts(
    consumers={"a": ("billing", "audit")},
    deletion_enabled=False,
    topics_create_themselves=True,
    sizes={tp("a-0"): 10},
)
QUIET = ClusterFacts()
WAIVERS: dict[str, dict[str, Any]] = {
    codes.INTERNAL_TOPIC: {"allow_internal": True},
    codes.PROTECTED_TOPIC: {"allow_protected": True},
    codes.ACTIVE_CONSUMERS: {"allow_active_consumers": True},
    codes.OFFLINE_REPLICAS: {"allow_offline_replicas": True},
    codes.DELETION_DISABLED: {"allow_deletion_disabled": True},
    codes.TOO_MANY_TOPICS: {"allow_more_than": 5},
}


def plan(*topics: str, **waivers: Any) -> DeletionPlan:  # noqa: ANN401 - fields of a DeletionPlan
    return DeletionPlan(PlanHeader(), topics, **waivers)


def found(of: DeletionPlan, facts: ClusterFacts = FACTS, policy: Policy | None = None) -> set[str]:
    return {
        violation.code for violation in check(of, ClusterView(STATE, facts), policy or Policy())
    }


def test_the_record_of_kadmin_itself_is_never_deleted() -> None:
    every_waiver = {name: value for waiver in WAIVERS.values() for name, value in waiver.items()}
    assert codes.RECORD_TOPIC_DELETED in found(plan("a", RECORD_TOPIC, **every_waiver))
    assert codes.RECORD_TOPIC_DELETED not in found(plan("a", **every_waiver))


EVERYTHING = plan("a", "b", "_c", "__consumer_offsets", "nothing", allow_more_than=2)


def test_every_guard_speaks() -> None:
    assert found(EVERYTHING) == {*WAIVERS, codes.UNKNOWN_TOPIC, codes.COMES_BACK}


@pytest.mark.parametrize("code", WAIVERS)
def test_each_waiver_silences_its_own_guard_and_no_other(code: str) -> None:
    assert found(replace(EVERYTHING, **WAIVERS[code])) == found(EVERYTHING) - {code}


def test_a_quiet_topic_may_be_deleted() -> None:
    assert found(plan("a"), QUIET) == set()


@pytest.mark.parametrize(
    "state", [with_node(STATE, {"a-1": (3, 2)}), moving(STATE, "a-0", adding=(3,))]
)
def test_a_topic_in_mid_move_is_refused_whatever_is_waived(state: Any) -> None:  # noqa: ANN401 - a ClusterState
    waived: dict[str, Any] = {}
    for each in WAIVERS.values():
        waived |= each
    everything = check(plan("a", **waived), ClusterView(state, QUIET), Policy())
    assert [violation.code for violation in everything] == [codes.BEING_REASSIGNED]
    assert "cannot be waived" in str(everything[0].next_step)


@pytest.mark.parametrize(
    ("deny", "allow", "topic", "guarded"),
    [
        (("_*",), ("*",), "_c", True),
        (("_*",), ("*",), "a", False),
        (("pay-*",), ("*",), "_c", False),
        (("pay-*",), ("*",), "pay-1", True),
        (("pay-*",), ("pay-1",), "pay-1", True),
        ((), ("tmp-*",), "tmp-1", False),
        ((), ("tmp-*",), "a", True),
        ((), (), "a", True),
        (("?",), ("*",), "a", True),
        (("?",), ("*",), "aa", False),
        (("A",), ("*",), "a", False),
        (("_*",), ("*",), "__consumer_offsets", False),
        (("_*", "__*"), ("*",), "__consumer_offsets", True),
        (("_*",), ("tmp-*",), "__consumer_offsets", True),
    ],
)
def test_deny_wins_over_allow(
    deny: tuple[str, ...], allow: tuple[str, ...], topic: str, guarded: object
) -> None:
    codes_found = [
        each.code
        for each in check(plan(topic, allow_internal=True), policy=Policy(deny=deny, allow=allow))
    ]
    assert codes_found == ([codes.PROTECTED_TOPIC] if guarded else [])
    assert (
        check(
            plan(topic, allow_internal=True, allow_protected=True),
            policy=Policy(deny=deny, allow=allow),
        )
        == ()
    )


@given(
    st.lists(st.sampled_from(["a*", "*", "b", "?", "[ab]"])),
    st.lists(st.sampled_from(["a*", "*", "ab"])),
)
def test_denying_more_never_frees_a_topic(deny: list[str], allow: list[str]) -> None:
    """Deny wins: a further pattern there only ever guards more."""

    def guarded(*patterns: str) -> set[str | None]:
        policy = Policy(deny=patterns, allow=tuple(allow))
        return {each.topic for each in check(plan("a", "b", "ab"), policy=policy)}

    assert guarded(*deny[:-1]) <= guarded(*deny)


def test_a_topic_that_is_guarded_is_told_why() -> None:
    policy = Policy(deny=("pay-*",), allow=("tmp-*", "pay-*"))
    assert [each.message for each in check(plan("pay-in", "orders", "tmp-1"), policy=policy)] == [
        "pay-in is protected: it matches the pattern pay-*",
        "orders is protected: it matches no pattern that may be deleted",
    ]


def test_a_policy_bounds_what_a_plan_allows_itself() -> None:
    many = plan("a", "b", allow_more_than=100)
    assert check(many, policy=Policy(max_topics=1)) == (
        Diagnostic(
            codes.TOO_MANY_TOPICS,
            "2 topics are to be deleted, more than the policy's max_topics 1",
            "divide it into several plans",
            field=("spec", "topics"),
        ),
    )
    assert check(many, policy=Policy(max_topics=2)) == ()
    (none,) = check(plan("a"), policy=Policy(max_topics=0))
    assert none.message == "1 topic is to be deleted, more than the policy's max_topics 0"


def test_bytes_to_be_lost_count_every_copy() -> None:
    sizes = {tp("a-0"): 10, tp("a-1"): 5}
    assert bytes_lost(["a"], STATE, ClusterFacts(sizes=sizes)) == 30
    assert bytes_lost(["a", "b"], STATE, ClusterFacts(sizes=sizes)) is None
    assert bytes_lost(["nothing"], STATE, ClusterFacts()) == 0


def test_a_topic_that_is_used_comes_back_where_brokers_create_topics() -> None:
    used = plan("a", allow_active_consumers=True, allow_deletion_disabled=True)
    assert found(used) == {codes.COMES_BACK}
    assert found(used, replace(FACTS, topics_create_themselves=None)) == set()
    assert found(plan("b", allow_offline_replicas=True, allow_deletion_disabled=True)) == set()


def test_refusals_are_errors_of_their_exit_codes_in_the_order_to_be_heard() -> None:
    found_in_order = check(EVERYTHING, ClusterView(STATE, FACTS), Policy())
    refusals = refusals_of(found_in_order)
    kinds = [
        StalePlanError,
        InvalidInputError,
        InvalidInputError,
        InvalidInputError,
        BusyError,
        StalePlanError,
    ]
    assert [type(each) for each in refusals] == [*kinds, NotCompletedError]
    assert "billing, audit" in refusals[4].message
    assert "spec.allow.active_consumers: true" in refusals[4].message
    assert len([each for each in found_in_order if each.severity == "warning"]) == 1


def test_a_refusal_names_a_few_of_many() -> None:
    many = plan(*(f"gone-{number}" for number in range(8)))
    (refusal,) = refusals_of(check(many, ClusterView(STATE, QUIET), Policy()))
    assert "the cluster has no topic gone-4" in refusal.message
    assert refusal.message.endswith("; and 3 more.")


def test_the_hint_of_a_refusal_is_in_its_message_and_a_command_is_what_to_type_next() -> None:
    (advised,) = refusals_of(check(plan("aa", "bb", allow_more_than=1)))
    assert (
        advised.message
        == "2 topics are to be deleted, more than 1 (set spec.allow.more_than: 2 if this is meant)."
    )
    assert advised.next_command is None
    (shared,) = refusals_of([Diagnostic(codes.UNKNOWN_TOPIC, name, "look") for name in "ab"])
    assert shared.message == "a; b (look)."
    (apart,) = refusals_of([Diagnostic(codes.UNKNOWN_TOPIC, name, f"{name}?") for name in "ab"])
    assert apart.message == "a (a?); b (b?)."
    (typed,) = refusals_of(
        [Diagnostic(codes.NO_ROOM, "no room", command("inspect brokers") + ", to choose")]
    )
    assert (typed.message, typed.next_command) == ("no room.", "kadmin inspect brokers, to choose")


@pytest.mark.parametrize(
    "topic", ["__consumer_offsets", "__transaction_state", "__share_group_state"]
)
def test_internal_topics_are_known_by_name_where_no_broker_can_be_asked(topic: str) -> None:
    assert [each.code for each in check(plan(topic), policy=Policy())] == [codes.INTERNAL_TOPIC]
    assert check(plan(topic, allow_internal=True), policy=Policy()) == ()


def test_the_index_of_tiered_storage_is_internal_though_brokers_do_not_flag_it() -> None:
    """Without it no broker finds what it has in the remote tier."""
    state = cluster({"__remote_log_metadata-0": (1,)})
    found = check(plan("__remote_log_metadata"), ClusterView(state, QUIET), Policy())
    assert [each.code for each in found] == [codes.INTERNAL_TOPIC]


def test_a_deletion_warns_of_the_records_in_remote_storage() -> None:
    state = replace(STATE, topic_configs={"b": {"remote.storage.enable": "true"}, "a": {}})
    (warning,) = check(
        plan("a", "b", allow_offline_replicas=True, allow_more_than=2), ClusterView(state), Policy()
    )
    assert (warning.code, warning.severity) == (codes.DELETES_REMOTE, "warning")
    assert warning.message == "b has remote storage: its records there are deleted as well"


def test_what_brokers_flag_as_internal_is_guarded_as_such_whatever_its_name() -> None:
    flagged = replace(QUIET, internal_topics=frozenset({"_c"}))
    assert found(plan("_c"), flagged) == {codes.INTERNAL_TOPIC}
    assert found(plan("_c", allow_internal=True), flagged) == set(), (
        "the standard deny list guards it no second time"
    )
    assert found(plan("_c"), QUIET) == {codes.PROTECTED_TOPIC}


def test_the_record_of_kadmin_is_refused_once() -> None:
    assert [each.code for each in check(plan(RECORD_TOPIC), policy=Policy())] == [
        codes.RECORD_TOPIC_DELETED
    ]


UNSEEN = replace(QUIET, unavailable=("groups were not seen: \x1b[31m",), from_brokers=True)


def test_a_guard_that_live_brokers_leave_unknown_is_refused_until_waived_by_its_own_name() -> None:
    """Whoever waives what a guard finds has not waived that it found nothing out."""
    others: dict[str, Any] = {}
    for each in WAIVERS.values():
        others |= each
    (refused,) = check(plan("a", **others), ClusterView(STATE, UNSEEN), Policy())
    assert (refused.code, refused.severity) == (codes.GUARD_UNKNOWN, "error")
    assert refused.message.isprintable()
    (error,) = refusals_of([refused])
    assert (type(error), error.exit_code) == (UnreachableError, 6)
    assert "set spec.allow.unchecked_guards: true if this is meant" in error.message
    (waived,) = check(plan("a", allow_unchecked_guards=True), ClusterView(STATE, UNSEEN), Policy())
    assert (waived.code, waived.severity, waived.message) == (
        codes.GUARD_UNCHECKED,
        "warning",
        refused.message,
    )


def test_the_waiver_of_unknown_guards_waives_nothing_that_is_known() -> None:
    known = replace(FACTS, unavailable=UNSEEN.unavailable, from_brokers=True)
    assert found(plan("a", allow_unchecked_guards=True), known) >= {
        codes.ACTIVE_CONSUMERS,
        codes.DELETION_DISABLED,
    }


def test_what_an_inventory_lacks_is_a_warning_on_one_line() -> None:
    """Names of groups and what brokers answer are anybody's text: no line of theirs may look like
    one of ours.
    """
    facts = ClusterFacts(
        consumers={"a": ("x\n::error::y",)}, unavailable=("groups were not seen: \x1b[31m",)
    )
    found = check(plan("a"), ClusterView(STATE, facts), Policy())
    assert [(each.code, each.severity) for each in found] == [
        (codes.ACTIVE_CONSUMERS, "error"),
        (codes.GUARD_UNCHECKED, "warning"),
    ]
    assert all(each.message.isprintable() for each in found)
