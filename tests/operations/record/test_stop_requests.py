from __future__ import annotations

from dataclasses import replace

import pytest

from kadmin.operations.record.stop_request import Stop, StopRequest

NOW = StopRequest(Stop.CANCEL_NOW, "ann@host-a", "2026-01-02T00:00:00Z")


def test_a_request_covers_what_asks_for_no_more() -> None:
    pause, cancel = (replace(NOW, stop=stop) for stop in (Stop.PAUSE, Stop.CANCEL))
    assert NOW.covers(NOW)
    assert NOW.covers(cancel)
    assert cancel.covers(pause)
    assert not pause.covers(cancel)


@pytest.mark.parametrize("stop", Stop)
def test_a_request_is_read_from_its_text(stop: Stop) -> None:
    """A runner of an older version confirms a request by this text."""
    asked = replace(NOW, stop=stop)
    assert StopRequest.parse(str(asked)) == asked
    assert StopRequest.parse(f"{asked}; and more") is None
    assert StopRequest.parse("copying") is None


def test_a_request_that_may_start_entries_of_others_replaces_one_that_may_not() -> None:
    allowed = replace(NOW, allow_foreign=True)
    assert not NOW.covers(allowed)
    assert allowed.covers(NOW)
