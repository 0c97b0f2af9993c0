"""`validate --inventory` reports exactly what `diff`, `apply` and `propose` refuse; the large run
is a script.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.plan.agreement import expected_codes, judge
from support.plan.random_cases import random_case

from kadmin.inventory import validation
from kadmin.plan import codes
from kadmin.plan.rules import check

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.diagnostics import Diagnostic
    from kadmin.plan.model import Document, Policy
    from kadmin.plan.rules import ClusterView


@settings(
    max_examples=3 * settings().max_examples,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(random=st.randoms(use_true_random=True))
def test_validate_on_a_snapshot_and_the_commands_that_act_refuse_the_same(
    random: Random, tmp_path: Path
) -> None:
    """Rule: whatever a command refuses by a rule, `validate` reports with the same code, and the
    other way round.
    """
    case = random_case(random)
    assert judge(case, tmp_path).disagreement == "", case


def test_every_code_of_one_document_is_expected_of_the_large_run() -> None:
    assert expected_codes()[0] == codes.DUPLICATE_PARTITION
    assert expected_codes()[-1] == list(codes.TABLE)[-1]


@pytest.mark.parametrize("code", [codes.STALE_CURRENT, codes.TOPIC_EXISTS, codes.UNKNOWN_BROKER])
def test_a_rule_that_only_one_side_has_is_noticed(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(
        document: Document, world: ClusterView | None, policy: Policy
    ) -> tuple[Diagnostic, ...]:
        return tuple(each for each in check(document, world, policy) if each.code != code)

    monkeypatch.setattr(validation, "check", without)
    random = Random(2)  # noqa: S311 - the same cases every time
    found = [judge(random_case(random), tmp_path).disagreement for _ in range(100)]
    assert {each for each in found if each} == {
        f"refused, and not reported by validate: ['{code}']"
    }
