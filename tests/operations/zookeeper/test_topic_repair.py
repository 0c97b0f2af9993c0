"""Broken topic znodes as live brokers left them, and what mends them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kadmin.worlds.zookeeper.heal.topic_repair import repair_topic
from kadmin.worlds.zookeeper.model import Znode

if TYPE_CHECKING:
    from collections.abc import Mapping


def repaired(value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    data = repair_topic(Znode("/brokers/topics/a", json.dumps(value).encode(), 3))
    return None if data is None else json.loads(data)


def test_strings_up_to_2_3_leave_the_ids_that_were_there() -> None:
    assert repaired({"version": 1, "partitions": {"0": ["1", "2", 0, 1]}}) == {
        "version": 1,
        "partitions": {"0": [0, 1]},
    }


def test_strings_from_2_4_are_taken_out_of_what_is_added_too_and_the_rest_stays_as_it_is() -> None:
    broken = {
        "removing_replicas": {"0": [0, 1], "1": [3]},
        "partitions": {"1": [2, 3], "0": ["1", "2", 0, 1]},
        "topic_id": "abc",
        "adding_replicas": {"0": ["1", "2"], "1": [2]},
        "version": 3,
    }
    mended = repaired(broken)
    assert list(mended) == list(broken), "keys and their order"
    assert mended == {
        **broken,
        "removing_replicas": {"1": [3]},
        "adding_replicas": {"1": [2]},
        "partitions": {"1": [2, 3], "0": [0, 1]},
    }


def test_nothing_but_strings_become_ids() -> None:
    assert repaired({"version": 1, "partitions": {"0": ["2", "1", "2"]}})["partitions"] == {
        "0": [2, 1]
    }


def test_all_to_be_removed_from_2_7_keeps_its_list() -> None:
    mended = repaired(
        {"version": 3, "partitions": {"0": [1, 0]}, "removing_replicas": {"0": [1, 0]}}
    )
    assert mended["partitions"] == {"0": [1, 0]}
    assert mended["removing_replicas"] == {}


def test_an_empty_list_is_filled_from_what_is_removed() -> None:
    mended = repaired({"version": 3, "partitions": {"0": []}, "removing_replicas": {"0": [1, 0]}})
    assert mended["partitions"] == {"0": [1, 0]}


@pytest.mark.parametrize(
    "healthy_or_lost",
    [
        {"version": 1, "partitions": {"0": [1, 2]}},
        {"version": 1, "partitions": {"0": []}},
        {
            "version": 3,
            "partitions": {"0": [1, 2, 3]},
            "removing_replicas": {"0": [3]},
            "adding_replicas": {"0": [1]},
        },
        {"version": 1, "partitions": {"0": "1,2"}},
        {"version": 1, "partitions": [1]},
        {"version": 1},
        [],
    ],
)
def test_what_is_healthy_or_lost_for_good_is_left_alone(healthy_or_lost: Any) -> None:  # noqa: ANN401 - JSON
    """An empty list with nothing removed is the trace of data that is gone (up to 2.6)."""
    assert repaired(healthy_or_lost) is None


def test_one_lost_partition_does_not_keep_another_from_being_mended() -> None:
    mended = repaired({"version": 1, "partitions": {"0": [], "1": ["4", 5]}})
    assert mended["partitions"] == {"0": [], "1": [5]}
