"""Compares the planner with an exact solver on small hard clusters: evenness and moves."""

from __future__ import annotations

import pytest
from support.planner.exact_cases import FAMILIES, HARD, exact_case, judge

OPTIMAL, FINE = "optimal", ("optimal", "infeasible")


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in HARD])
def test_no_plan_is_more_even_or_moves_less(family: str) -> None:
    """Rule: the most even counts, then the fewest moves; the bound is valid; only optimal plans are
    proved.
    """
    verdicts = {seed: judge(*exact_case(seed, family)) for seed in range(_CASES)}
    assert {seed: verdict for seed, verdict in verdicts.items() if verdict not in FINE} == {}
    assert list(verdicts.values()).count(OPTIMAL) > _CASES / 2, "most cases have an answer"


@pytest.mark.parametrize("family", HARD)
def test_what_is_not_the_best_is_not_called_so(family: str) -> None:
    """Rule: on the hardest families the rules hold, evenness does not get worse, and no proof is
    wrong.
    """
    verdicts = {seed: judge(*exact_case(seed, family)) for seed in range(_CASES)}
    missed = ("more moves", "less even", "no plan found")
    assert {
        seed: verdict
        for seed, verdict in verdicts.items()
        if not verdict.startswith((*FINE, *missed))
    } == {}
    assert list(verdicts.values()).count(OPTIMAL) > _CASES / 3


_CASES = 30
