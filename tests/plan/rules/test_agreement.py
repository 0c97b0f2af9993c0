"""`validate --inventory` reports exactly what `diff`, `apply` and `propose` refuse; the large run is a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.plan.agreement import expected_codes, judge
from support.plan.random_cases import random_case

from kadmin.plan import codes

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random


@settings(
    max_examples=300, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(random=st.randoms(use_true_random=True))
def test_validate_on_a_snapshot_and_the_commands_that_act_refuse_the_same(random: Random, tmp_path: Path) -> None:
    """Rule: whatever a command refuses by a rule, `validate` reports with the same code, and the other way round."""
    case = random_case(random)
    assert judge(case, tmp_path).disagreement == "", case


def test_every_code_of_one_document_is_expected_of_the_large_run() -> None:
    assert expected_codes()[0] == codes.DUPLICATE_PARTITION
    assert expected_codes()[-1] == codes.INFEASIBLE
