"""How values are cut into batches that brokers take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kadmin.worlds.kafka.values.topic_settings import BATCH_BYTES
from kadmin.worlds.kafka.values.topic_writer import batches

sizes = st.one_of(st.none(), st.integers(0, 400), st.integers(0, BATCH_BYTES + 1))


@given(st.lists(sizes, min_size=1, max_size=40))
def test_no_batch_is_too_large_unless_a_value_is(sizes: list[int | None]) -> None:
    """All records are there in their order, and no batch is empty."""
    records = [
        (f"é{number}", None if size is None else bytes(size)) for number, size in enumerate(sizes)
    ]
    found = list(batches(records))
    assert [record for batch in found for record in batch] == records
    for batch in found:
        assert batch
        assert (
            len(batch) == 1
            or sum(len(key.encode()) + len(value or b"") for key, value in batch) <= BATCH_BYTES
        )


def test_small_records_are_one_batch() -> None:
    """A transaction of the usual kind is one request."""
    assert (
        len(
            list(
                batches(
                    [(f"operations/op/steps/{number:06d}", b"x" * 1_000) for number in range(500)]
                )
            )
        )
        == 1
    )
