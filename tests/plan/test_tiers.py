"""Bytes of tiered topics: estimates by offsets, and what is unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.cluster.states import cluster, tp

from kadmin.plan.facts import ClusterFacts
from kadmin.plan.tiers import (
    REMOTE_STORAGE,
    TieredBytes,
    TierOffsets,
    estimated_sizes,
    tiered_bytes,
)

STATE = replace(
    cluster({"a-0": (1, 2), "a-1": (2, 3), "b-0": (1, 2)}),
    topic_configs={"a": {REMOTE_STORAGE: "true"}, "b": {REMOTE_STORAGE: "false"}},
)
EVERY = (tp("a-0"), tp("a-1"), tp("b-0"))


@pytest.mark.parametrize(
    ("offsets", "total"),
    [
        ((0, 4_500, 4_500, 5_000), 50_000_000),
        ((2_500, 4_500, 4_500, 5_000), 25_000_000),
        ((0, 0, 0, 5_000), 5_000_000),
        ((0, 0, 0, 0), 5_000_000),
        ((0, 5_000, 5_000, 5_000), None),
        ((0, 4_400, 4_500, 5_000), None),
    ],
    ids=[
        "most in the tier",
        "the first ones deleted",
        "all on disk",
        "empty",
        "none on disk",
        "fewer on disk than before",
    ],
)
def test_the_total_follows_from_the_records_on_disk(
    offsets: tuple[int, ...], total: int | None
) -> None:
    asked = TierOffsets(*({EVERY[0]: offset} for offset in offsets))
    found = estimated_sizes({EVERY[0]: 5_000_000, EVERY[1]: 1}, asked)
    assert found == ({} if total is None else {EVERY[0]: total})


@pytest.mark.parametrize(
    ("sizes", "tiered_sizes", "told"),
    [
        ((5, 6), (50, 60), "2 tiered partitions: 11 B local, about 110 B with remote storage"),
        ((5, 6), (50,), "2 tiered partitions: 11 B local, unknown with remote storage"),
        ((5,), (50, 60), "2 tiered partitions: unknown local, about 110 B with remote storage"),
    ],
)
def test_tiered_partitions_are_added_up_and_others_left_out(
    sizes: tuple[int, ...], tiered_sizes: tuple[int, ...], told: str
) -> None:
    facts = ClusterFacts(
        sizes={tp("b-0"): 7, **dict(zip(EVERY, sizes, strict=False))},
        tiered_sizes=dict(zip(EVERY, tiered_sizes, strict=False)),
    )
    found = tiered_bytes(EVERY, STATE, facts)
    assert isinstance(found, TieredBytes)
    assert str(found) == told


def test_without_a_tiered_partition_there_is_nothing_to_add_up() -> None:
    assert tiered_bytes(EVERY[2:], STATE, ClusterFacts()) is None
    assert tiered_bytes(EVERY, replace(STATE, topic_configs={}), ClusterFacts()) is None
