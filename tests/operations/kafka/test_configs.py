"""Which edits bring a config value to what is wanted, through an API without compare-and-set."""

from __future__ import annotations

import pytest

from kadmin.plan.throttle import LEADER_RATE, LEADER_REPLICAS
from kadmin.worlds.kafka.configs import edits_towards
from kadmin.worlds.kafka.wire.configs import ConfigEdit, ConfigOperation

DELETE = ConfigEdit(ConfigOperation.DELETE)


def subtract(entries: str) -> ConfigEdit:
    return ConfigEdit(ConfigOperation.SUBTRACT, entries)


def append(entries: str) -> ConfigEdit:
    return ConfigEdit(ConfigOperation.APPEND, entries)


def put(value: str) -> ConfigEdit:
    return ConfigEdit(ConfigOperation.SET, value)


@pytest.mark.parametrize(
    ("key", "wanted", "found", "edits"),
    [
        (LEADER_RATE, "5", None, (put("5"),)),
        (LEADER_RATE, None, "5", (DELETE,)),
        (LEADER_REPLICAS, "0:1,0:2", None, (append("0:1,0:2"),)),
        (LEADER_REPLICAS, "7:7", "7:7,0:1", (subtract("0:1"),)),
        (LEADER_REPLICAS, "0:1,9:9", "0:1,7:7", (subtract("7:7"), append("9:9"))),
        (LEADER_REPLICAS, None, "0:1", (subtract("0:1"), DELETE)),
        (LEADER_REPLICAS, None, "", (DELETE,)),
        (LEADER_REPLICAS, "", None, (put(""),)),
        (LEADER_REPLICAS, "", "0:1", (subtract("0:1"),)),
        (LEADER_REPLICAS, "*", "0:1", (put("*"),)),
        (LEADER_REPLICAS, None, "*", (DELETE,)),
    ],
)
def test_a_list_changes_by_its_entries_and_its_key_goes_last(
    key: str, wanted: str | None, found: str | None, edits: tuple[ConfigEdit, ...]
) -> None:
    assert edits_towards(key, wanted, found) == edits
