from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadmin.cluster.model import TopicPartition
from kadmin.errors import InvalidInputError
from kadmin.inventory.log_dirs_file import parse_log_dirs_json


def replica(partition: str, size: object, *, future: bool = False) -> dict[str, Any]:
    return {"partition": partition, "size": size, "offsetLag": 0, "isFuture": future}


def brokers(*listed: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "version": 1,
        "brokers": [
            {
                "broker": number,
                "logDirs": [{"logDir": f"/d{number}", "error": None, "partitions": replicas}],
            }
            for number, replicas in enumerate(listed)
        ],
    }


REPLICAS = (
    [replica("foo-0", 10), replica("a-b.c_d-12", 5)],
    [replica("foo-0", 12), replica("foo-0", 99, future=True)],
)
SIZES = {TopicPartition("foo", 0): 12, TopicPartition("a-b.c_d", 12): 5}
TOOL = (
    "Querying brokers for log directories information\nReceived log directory information from "
    "brokers 0,1\n"
)


@pytest.mark.parametrize(
    "text", [json.dumps(brokers(*REPLICAS)), TOOL + json.dumps(brokers(*REPLICAS)) + "\n"]
)
def test_a_partition_is_as_large_as_its_largest_replica(text: str) -> None:
    """Copies that still move between directories do not count; the last dash parts topic and
    number.
    """
    assert parse_log_dirs_json(text) == SIZES


def test_a_directory_that_failed_counts_for_nothing() -> None:
    value = brokers(REPLICAS[0])
    value["brokers"][0]["logDirs"].append(
        {"logDir": "/x", "error": "KAFKA_STORAGE_ERROR", "partitions": []}
    )
    assert parse_log_dirs_json(json.dumps(value)) == {**SIZES, TopicPartition("foo", 0): 10}


@pytest.mark.parametrize(
    "text",
    [
        "",
        TOOL,
        "[]",
        "7",
        "{}",
        '{"brokers":7}',
        '{"brokers":[{}]}',
        json.dumps(brokers([replica("foo", 1)])),
        json.dumps(brokers([replica("-0", 1)])),
        json.dumps(brokers([replica("foo-x", 1)])),
        json.dumps(brokers([replica("a/b-0", 1)])),
        json.dumps(brokers([replica("foo-0", -1)])),
        json.dumps(brokers([replica("foo-0", 1.5)])),
        json.dumps(brokers([replica("foo-0", size=True)])),
        json.dumps(brokers([replica("foo-0", "1")])),
        json.dumps(brokers([replica("foo-0", 1)]))[:-1],
        json.dumps(brokers([{"partition": 7, "size": 1, "isFuture": False}])),
        "{" * 100_000,
    ],
    ids=lambda text: text[:40],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="kafka-log-dirs") as caught:
        parse_log_dirs_json(text)
    assert "--describe" in (caught.value.next_command or "")
    assert caught.value.cause


@given(st.text(max_size=100))
def test_any_text_parses_or_is_refused(text: str) -> None:
    """Bad input is an InvalidInputError, never another exception."""
    with suppress(InvalidInputError):
        parse_log_dirs_json(text)
