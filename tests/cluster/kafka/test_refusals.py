from __future__ import annotations

import pytest

from kadmin.errors import UnknownOutcomeError
from kadmin.worlds.kafka.wire.refusals import require_confirmed


@pytest.mark.parametrize(
    ("code", "name"),
    [(-1, "UNKNOWN_SERVER_ERROR"), (7, "REQUEST_TIMED_OUT"), (41, "NOT_CONTROLLER")],
)
def test_an_answer_that_does_not_say_what_was_done_is_no_refusal(code: int, name: str) -> None:
    with pytest.raises(UnknownOutcomeError, match="may still be applied") as unknown:
        require_confirmed([0, 36, code], "creations")
    assert name in (unknown.value.cause or "")


def test_an_answer_with_codes_that_say_it_is_one() -> None:
    require_confirmed([0, 36, 85], "creations")
