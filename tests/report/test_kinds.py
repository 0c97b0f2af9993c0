from __future__ import annotations

import pytest

from kadmin.operations.record.record import OperationKind
from kadmin.operations.record.steps import StepKind
from kadmin.report.kinds import KINDS, STEP_WORDS, words_of


def test_every_kind_of_operation_and_step_has_its_words() -> None:
    assert [words.kind for words in KINDS] == list(OperationKind)
    assert list(STEP_WORDS) == list(StepKind)


@pytest.mark.parametrize(("number", "shown"), [(1, "1 topic to delete"), (2, "2 topics to delete")])
def test_targets_are_counted(number: int, shown: str) -> None:
    assert words_of(OperationKind.DELETION).targets(number) == shown
