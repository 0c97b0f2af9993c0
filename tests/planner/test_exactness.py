"""The planner against an exact solver: as even, and as few moves, on small clusters made to be hard."""

from __future__ import annotations

import pytest
from exact_cases import exact_case, judge


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_no_plan_is_more_even_or_moves_less(first: int) -> None:
    """Rule: counts as even as any, then as few moves as any; the bound is one; "proved" is said only of the best."""
    verdicts = {seed: judge(*exact_case(seed)) for seed in range(first, first + 40)}
    assert {seed: verdict for seed, verdict in verdicts.items() if verdict not in ("optimal", "infeasible")} == {}
    assert list(verdicts.values()).count("optimal") > 20, "most cases have an answer"
