"""`consumers` on a real ZooKeeper: recorded groups of old consumers, whose owners are what the
preview begins with.
"""

from __future__ import annotations

import csv
import io
import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command
from support.documents.plans import document, reassignment
from support.zookeeper.recorded_znodes import OLD_CONSUMERS, load, recorded, write

from kadmin.schema import validate_value
from kadmin.worlds.kafka.wire import connection
from kadmin.worlds.zookeeper.model import Create, Delete
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.zookeeper

GROUP = "grp.one"
PARTITIONS = 5


@pytest.fixture(params=OLD_CONSUMERS)
def readers(request: pytest.FixtureRequest, chroot: str) -> Iterator[tuple[Store, dict[int, str]]]:
    """A recorded cluster with a recorded group, and who owns which partition of its topic t5 by
    ZooKeeper.
    """
    with Store.connect(chroot) as store:
        load(store, "2.8.2")
        nodes = recorded(request.param)
        known = recorded("2.8.2")
        write(
            store,
            *(
                Create(path, nodes[path].data)
                for path in sorted(nodes)
                if path != "/" and path not in known
            ),
        )
        lists = {str(number): [1] for number in range(PARTITIONS)}
        write(
            store,
            Create("/brokers/topics/t5", json.dumps({"version": 1, "partitions": lists}).encode()),
        )
        owned = f"/consumers/{GROUP}/owners/t5"
        yield store, {n: (nodes[f"{owned}/{n}"].data or b"").decode() for n in range(PARTITIONS)}


def asked(store: Store, *arguments: str) -> list[dict[str, Any]]:
    """Ask for JSON, and hold it against its schema."""
    answer = command("consumers", *arguments, "-z", store.connect_string, "-o", "json")
    assert answer.status == 0, answer.err
    value: dict[str, Any] = json.loads(answer.out)
    assert validate_value(value, f"answers/consumers-{arguments[0]}") == [], answer.out
    rows: list[dict[str, Any]] = value[
        "assignments" if arguments[0] == "preview" else "coordinators"
    ]
    return rows


def owners(rows: list[dict[str, Any]], when: str) -> dict[int, str]:
    return {row["partition"]: row[when] for row in rows if row["topic"] == "t5"}


def test_a_preview_begins_with_what_the_consumers_themselves_agreed_on(
    readers: tuple[Store, dict[int, str]],
) -> None:
    store, owned = readers
    rows = asked(store, "preview", "--group", GROUP, "--add-partitions", "1")
    assert owners(rows, "before") == {**owned, PARTITIONS: None}
    after = owners(rows, "after")
    assert sorted(after) == [0, 1, 2, 3, 4, 5]
    assert sum(row["changes_hands"] for row in rows if row["topic"] == "t5") == 1, "the new one"


def test_a_member_that_goes_leaves_all_to_the_others(readers: tuple[Store, dict[int, str]]) -> None:
    store, owned = readers
    gone, left = (thread.removesuffix("-0") for thread in sorted(set(owned.values()), reverse=True))
    rows = asked(store, "preview", "--group", GROUP, "--lose", gone)
    assert set(owners(rows, "after").values()) == {f"{left}-0"}
    table = command(
        "consumers",
        "preview",
        "--group",
        GROUP,
        "--lose",
        gone,
        "-z",
        store.connect_string,
        "-o",
        "csv",
    )
    changing = [
        row for row in csv.DictReader(io.StringIO(table.out)) if row["changes_hands"] == "true"
    ]
    assert {int(row["partition"]) for row in changing} == {
        n for n, thread in owned.items() if thread == f"{gone}-0"
    }
    assert f"partitions that change hands: {len(changing)} of {PARTITIONS}" in table.err


def test_more_members_than_partitions_stand_idle(readers: tuple[Store, dict[int, str]]) -> None:
    store, _ = readers
    wide = ["preview", "--group", GROUP, "--members", "7", "--strategy", "round-robin"]
    assert len(set(owners(asked(store, *wide), "after").values())) == PARTITIONS
    value = json.loads(command("consumers", *wide, "-z", store.connect_string, "-o", "json").out)
    assert len(value["idle"]) == 7 - PARTITIONS
    assert value["changed"] == sum(row["changes_hands"] for row in value["assignments"])
    told = command("consumers", *wide, "-z", store.connect_string)
    assert "idle then: " in told.err
    assert told.err.split("idle then: ")[1].count(",") + 1 == 7 - PARTITIONS


def test_a_group_whose_topics_are_gone_cannot_be_previewed(
    readers: tuple[Store, dict[int, str]],
) -> None:
    store, _ = readers
    write(store, Delete("/brokers/topics/t5", -1))
    answer = command(
        "consumers", "preview", "--group", GROUP, "--members", "3", "-z", store.connect_string
    )
    assert (answer.status, answer.out) == (4, "")
    assert "its members subscribe to" in answer.err


def test_the_coordinator_leads_the_partition_of_the_groups_name(
    readers: tuple[Store, dict[int, str]],
) -> None:
    store, _ = readers
    number = len(store.children("/brokers/topics/__consumer_offsets/partitions") or ())
    (row,) = asked(store, "coordinator", "a")
    assert row["partition"] == 97 % number, "Java's hash of a is 97"
    state = store.get(f"/brokers/topics/__consumer_offsets/partitions/{97 % number}/state")
    assert state is not None
    assert row["broker"] == json.loads(state.data or b"")["leader"]


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the recorded brokers, which nobody runs."""
    monkeypatch.setattr(connection, "BOOTSTRAP_S", 0.3)


@pytest.mark.usefixtures("silent")
def test_who_reads_what_a_plan_moves_is_disturbed(
    readers: tuple[Store, dict[int, str]], tmp_path: Path
) -> None:
    store, _ = readers
    state = json.dumps(
        {"controller_epoch": 1, "leader": 1, "version": 1, "leader_epoch": 0, "isr": [1]}
    ).encode()
    folders = [
        "/brokers/topics/t5/partitions",
        *(f"/brokers/topics/t5/partitions/{number}" for number in (0, 1)),
    ]
    write(
        store,
        *(Create(path) for path in folders),
        *(Create(f"{path}/state", state) for path in folders[1:]),
    )
    plan = document(tmp_path / "plan.json", reassignment("t5", {0: [2], 1: [1]}))
    answer = command("consumers", "disturbed", plan, "-z", store.connect_string, "-o", "json")
    assert answer.status == 0, answer.err
    value = json.loads(answer.out)
    assert validate_value(value, "answers/consumers-disturbed") == [], answer.out
    assert value["unavailable"][0].startswith(
        "groups that keep their offsets in Kafka were not seen"
    ), "nobody runs them"
    assert value["unavailable"][0] in answer.err
    seen = itemgetter(
        "group", "offsets_in", "role", "topic", "partition", "moves", "leader", "new_leader"
    )
    assert [seen(row) for row in value["disturbances"]] == [
        (GROUP, "zookeeper", "reads", "t5", 0, True, 1, 2)
    ]
    assert "1 group disrupted by this plan" in answer.err


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["preview", "--group", "nobody", "--members", "2"], 4, "no live member"),
        (["preview", "--group", GROUP, "--lose", "who"], 4, "alive are"),
        (["preview", "--group", GROUP], 64, "No change is named"),
        (["preview", "--group", "a/b", "--members", "2"], 3, "a/b"),
    ],
)
def test_what_cannot_be_previewed_is_told(
    readers: tuple[Store, dict[int, str]], arguments: list[str], status: int, said: str
) -> None:
    answer = command("consumers", *arguments, "-z", readers[0].connect_string)
    assert (answer.status, said in answer.err) == (status, True), answer.err
