"""Patterns of policies and requests that guard or choose nothing, since no name could match
them.
"""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadmin.documents.check import examine
from kadmin.plan import codes
from kadmin.plan.model import PlanHeader, Policy, RebalanceRequest
from kadmin.plan.rules import check

pieces = st.sampled_from(
    ["a", "Z", "9", ".", "_", "-", "*", "?", "[ab]", "[!a]", "[a-c]", "[]", "[", "]", "!", "[z-a]"]
)


@pytest.mark.parametrize(
    "pattern", ["pay[", "[]", "[!]", "pay]", "[z-a]", "!a", "a[9-0]b", "[", "x[ab"]
)
def test_a_pattern_that_matches_no_name_is_refused(pattern: str) -> None:
    (found,) = check(Policy(deny=("a", pattern)))
    assert (found.code, found.field) == (codes.MALFORMED, ("spec", "deletion", "deny", 1))
    assert found.message.startswith(f"{pattern} matches no topic")
    assert found.next_step == "close the bracket, with characters in it: [ab], [0-9], [!x]"
    assert [each.field for each in check(Policy(allow=(pattern,)))] == [
        ("spec", "deletion", "allow", 0)
    ]


@given(st.lists(pieces, min_size=1, max_size=4).map("".join), st.text("aZ9._-b", max_size=4))
def test_no_pattern_is_refused_that_matches_a_name(pattern: str, name: str) -> None:
    if check(Policy(deny=(pattern,))):
        assert not fnmatch.fnmatchcase(name, pattern)


def test_every_pattern_of_a_request_is_looked_at() -> None:
    request = RebalanceRequest(
        PlanHeader(),
        include_topics=("*", "a["),
        exclude_topics=("b[",),
        replication_factor={"c[": 3, "c": 2},
        broker_sets={"d[": (1, 2)},
    )
    assert [each.field for each in check(request)] == [
        ("spec", "topics", "include", 1),
        ("spec", "topics", "exclude", 0),
        ("spec", "replication_factor", "c["),
        ("spec", "broker_sets", "d["),
    ]


def test_it_is_told_on_the_line_of_the_pattern() -> None:
    for text in (
        "kind: Policy\nspec:\n  deletion: {deny: [a, '[']}\n",
        "kind: RebalanceRequest\nspec:\n  topics: {include: ['[']}\n",
    ):
        (problem,) = examine(text.encode(), "plan.yaml").problems
        assert (problem.code, problem.location.line) == ("KA014", 3)
