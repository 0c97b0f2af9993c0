"""Several contexts are read side by side: one answer, in which a broken cluster hides no other."""

from __future__ import annotations

import csv
import io
import json
import re
import socket
import time
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command
from support.documents.plans import contexts
from support.zookeeper.znode_cluster import seed

from kadmin.inventory import read_inventory
from kadmin.schema import validate_value
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.zookeeper

MANY = 37
TIMEOUT_S = 120


@pytest.fixture
def cluster(chroot: str) -> str:
    """A cluster of znodes whose brokers do not run."""
    with Store.connect(chroot) as store:
        seed(store, {"orders": {0: [1, 2]}})
    return chroot


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def fleet(tmp_path: Path, connect: str, silent: str, many: int) -> dict[str, str]:
    """As many contexts of a live cluster, and three broken ones: silent, refusing, without its
    secret.
    """
    password = {"env": "KADMIN_TEST_NO_SUCH_SECRET"}
    entries: dict[str, dict[str, Any]] = {
        f"prod-{number:02}": {"zookeeper": {"connect": connect}} for number in range(many)
    }
    entries |= {
        "broken-kafka": {"kafka": {"bootstrap_servers": silent}},
        "broken-secret": {
            "zookeeper": {"connect": connect, "digest": {"username": "u", "password": password}}
        },
        "broken-zookeeper": {"zookeeper": {"connect": f"{silent}/kafka"}},
    }
    return contexts(tmp_path / "contexts.json", entries)


@pytest.mark.matrix
def test_forty_contexts_of_which_three_are_broken(
    tmp_path: Path, cluster: str, silent: str
) -> None:
    environment = fleet(tmp_path, cluster, silent, MANY)
    started = time.monotonic()
    answer = command(
        "doctor",
        "--context",
        "*",
        "--timeout",
        str(TIMEOUT_S),
        "-o",
        "json",
        environment=environment,
    )
    assert time.monotonic() - started < TIMEOUT_S + 20
    value = json.loads(answer.out)
    assert validate_value(value, "answers/clusters") == []
    found = {each["cluster"]: each for each in value["clusters"]}
    answered = {name for name, each in found.items() if each["error"] is None}
    assert answered == {f"prod-{number:02}" for number in range(MANY)}
    assert all(validate_value(found[name]["answer"], "answers/doctor") == [] for name in answered)
    failed = {
        name: each["error"]["message"] for name, each in found.items() if name not in answered
    }
    assert sorted(failed) == ["broken-kafka", "broken-secret", "broken-zookeeper"]
    assert silent in failed["broken-kafka"]
    assert "KADMIN_TEST_NO_SUCH_SECRET" in failed["broken-secret"]
    assert silent in failed["broken-zookeeper"]
    assert answer.status == max(each["exit_code"] for each in found.values())


def test_a_cluster_without_an_answer_by_the_deadline_is_named(
    tmp_path: Path, cluster: str, silent: str
) -> None:
    entries = {
        "a": {"zookeeper": {"connect": cluster}},
        "b": {"zookeeper": {"connect": f"{silent}/kafka"}},
    }
    environment = contexts(tmp_path / "contexts.json", entries)
    answer = command("status", "--context", "*", "--timeout", "6", environment=environment)
    assert answer.status == 6
    table, _, failed = answer.out.partition("\n\n")
    assert [line.split()[0] for line in table.splitlines()] == ["cluster", "a"]
    assert failed.startswith("1 cluster did not answer:\n  b: ZooKeeper at")
    assert "  next:  " in failed


def test_a_snapshot_of_several_is_the_inventory_of_a_fleet(tmp_path: Path, cluster: str) -> None:
    user = {"username": "u", "password": {"env": "KADMIN_TEST_NO_SUCH_SECRET"}}
    entries: dict[str, dict[str, Any]] = {
        "broken": {"zookeeper": {"connect": cluster, "digest": user}},
        "prod-00": {"zookeeper": {"connect": cluster}},
        "prod-01": {"zookeeper": {"connect": cluster}},
    }
    environment = contexts(tmp_path / "contexts.json", entries)
    arguments = ["snapshot", "--context", "*", "--out", str(tmp_path / "fleet"), "--table", "csv"]
    answer = command(*arguments, "-o", "json", environment=environment)
    assert answer.status == 6
    assert validate_value(json.loads(answer.out), "answers/clusters") == []
    inventory = read_inventory(tmp_path / "fleet")
    assert sorted(inventory.clusters) == ["prod-00", "prod-01"]
    assert [row.topic for row in inventory.clusters["prod-01"].partitions] == ["orders"]


def test_tables_of_several_have_a_column_for_the_cluster(tmp_path: Path, cluster: str) -> None:
    entries = {name: {"zookeeper": {"connect": cluster}} for name in ("east", "west")}
    environment = contexts(tmp_path / "contexts.json", entries)
    given = ["inspect", "topics", "--context", "*", "--filter", "cluster=w*"]
    shown = command(*given, "-o", "csv", environment=environment)
    rows = list(csv.DictReader(io.StringIO(shown.out)))
    assert (shown.status, [(row["cluster"], row["topic"]) for row in rows]) == (
        0,
        [("west", "orders")],
    )
    value = json.loads(
        command("inspect", "topics", "--context", "*", "-o", "json", environment=environment).out
    )
    assert validate_value(value, "answers/clusters") == []
    assert [
        validate_value(each["answer"], "answers/inspect-topics") for each in value["clusters"]
    ] == [[], []]


@pytest.mark.parametrize(
    "line",
    ["inspect topics --watch", "history", "apply plan.yaml", "diff p.yaml"],
)
def test_what_is_of_one_cluster_takes_no_pattern(tmp_path: Path, line: str) -> None:
    environment = contexts(
        tmp_path / "contexts.json", {"a": {"zookeeper": {"connect": "127.0.0.1:1"}}}
    )
    answer = command(*line.split(), "--context", "a*", environment=environment)
    assert answer.status == 64
    assert "--context NAME" in answer.err


def test_a_pattern_that_matches_nothing_names_the_contexts(tmp_path: Path) -> None:
    environment = contexts(
        tmp_path / "contexts.json", {"a": {"zookeeper": {"connect": "127.0.0.1:1"}}}
    )
    answer = command("doctor", "--context", "x*", environment=environment)
    assert answer.status == 64
    assert "there are a" in answer.err


def test_a_cluster_that_does_not_answer_keeps_no_other_line_back(
    tmp_path: Path, cluster: str, silent: str
) -> None:
    """The reading of a cluster ends once nothing is unfinished there; the silent one goes on."""
    entries = {
        "a": {"zookeeper": {"connect": f"{silent}/kafka"}},
        "b": {"zookeeper": {"connect": cluster}},
    }
    environment = contexts(tmp_path / "contexts.json", entries)
    watch = ["status", "--watch", "--context", "*", "--timeout", "6"]
    answer = command(*watch, environment=environment)
    assert answer.status in {6, 8}, "no answer by the deadline of the command, or of a call"
    lines = answer.out.splitlines()
    assert re.fullmatch(r"b: \S+Z no operation is unfinished", lines[0]), answer.out
    told = command(*watch, "-o", "json", environment=environment)
    values = [json.loads(line) for line in told.out.splitlines()]
    assert [validate_value(each, "answers/status-watch") for each in values] == [[]] * len(values)
    assert (values[0]["context"], values[0]["operations"]) == ("b", [])
