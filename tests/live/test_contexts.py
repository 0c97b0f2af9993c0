"""Contexts of real clusters: one in ZooKeeper mode and one in KRaft mode side by side, and a third
that is broken.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command
from support.documents.plans import contexts

from kadmin.inventory import read_inventory
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.on("2.8.2")]

NOBODY = "127.0.0.1:1"


def clusters(value: dict[str, Any]) -> dict[str, dict[str, Any]]:
    assert validate_value(value, "answers/clusters") == []
    return {each["cluster"]: each for each in value["clusters"]}


@pytest.mark.matrix
def test_two_clusters_answer_and_a_broken_third_is_named(
    live: Sandbox, kraft: Sandbox, tmp_path: Path
) -> None:
    entries = {
        "prod-zk": {
            "zookeeper": {"connect": live.connect_string},
            "kafka": {"bootstrap_servers": ",".join(live.bootstrap)},
        },
        "prod-kraft": {"kafka": {"bootstrap_servers": ",".join(kraft.bootstrap)}},
        "prod-broken": {"kafka": {"bootstrap_servers": NOBODY}},
        "test": {"zookeeper": {"connect": NOBODY}},
    }
    environment = contexts(tmp_path / "contexts.json", entries)

    def answered(*arguments: str) -> dict[str, dict[str, Any]]:
        answer = command(*arguments, "--context", "prod-*", "-o", "json", environment=environment)
        found = clusters(json.loads(answer.out))
        assert sorted(found) == ["prod-broken", "prod-kraft", "prod-zk"]
        assert answer.status == max(each["exit_code"] for each in found.values())
        assert NOBODY in found["prod-broken"]["error"]["message"]
        assert found["prod-zk"]["error"] is found["prod-kraft"]["error"] is None
        return found

    for name in ("doctor", "status"):
        found = answered(name)
        assert [
            validate_value(found[each]["answer"], f"answers/{name}")
            for each in ("prod-zk", "prod-kraft")
        ] == [[], []]
    brokers = answered("inspect", "brokers")
    assert [len(brokers[each]["answer"]["brokers"]) for each in ("prod-zk", "prod-kraft")] == [4, 4]
    answered("snapshot", "--out", str(tmp_path / "fleet"))
    inventory = read_inventory(tmp_path / "fleet")
    ids = {name: each.cluster_id for name, each in inventory.clusters.items()}
    assert sorted(ids) == ["prod-kraft", "prod-zk"]
    assert ids["prod-kraft"] != ids["prod-zk"]
    for name, cluster_id in ids.items():
        checked = command("context", "check", name, "-o", "json", environment=environment)
        value = json.loads(checked.out)
        assert validate_value(value, "answers/context-check") == []
        assert (checked.status, value["cluster_id"], value["missing"]) == (0, cluster_id, [])
