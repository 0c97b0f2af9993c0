"""`doctor migration` and `history import` are given both sides, by options or by a context that has
both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command

from kadmin.contexts.address import ClusterAddress, MigratingCluster
from kadmin.next_step import command as command_to_type

if TYPE_CHECKING:
    from pathlib import Path

BOTH = ("-z", "127.0.0.1:1/kafka", "-b", "127.0.0.1:1")
CONTEXTS = """
apiVersion: kadmin/v1
kind: Contexts
contexts:
  both:
    zookeeper: {connect: "127.0.0.1:1/kafka"}
    kafka: {bootstrap_servers: "127.0.0.1:1"}
    protect: read-only
  one:
    zookeeper: {connect: "127.0.0.1:1/kafka"}
"""


@pytest.mark.parametrize("name", ["doctor migration", "history import"])
@pytest.mark.parametrize("given", [BOTH[:2], BOTH[2:], ()])
def test_both_sides_are_needed(name: str, given: tuple[str, ...]) -> None:
    refused = command(*name.split(), *given)
    assert refused.status == 64, refused.err
    assert "named by ZooKeeper and by its brokers" in refused.err
    assert "add -z CONNECT and -b BROKERS" in refused.err


def test_commands_of_a_next_step_get_the_options_of_the_sides_that_they_take() -> None:
    sides = MigratingCluster(ClusterAddress("zk:2181"), ClusterAddress(bootstrap="kafka:9092"))
    doctor, apply = command_to_type("doctor"), command_to_type("apply", "FILE", "-b", "BROKERS")
    named = sides.named(command_to_type("history import") + ", again; or: " + doctor, by_api=False)
    assert (
        str(named)
        == "kadmin history import -z zk:2181 -b kafka:9092, again; or: kadmin doctor -z zk:2181"
    )
    assert sides.named(apply, by_api=True) == apply
    assert str(sides.named(doctor, by_api=True)) == "kadmin doctor -b kafka:9092"


def test_a_context_has_both_sides_or_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "contexts.yaml"
    file.write_text(CONTEXTS, encoding="utf-8")
    named = {"KADMIN_CONFIG": str(file)}
    one = command("doctor", "migration", "--context", "one", environment=named)
    assert (one.status, "named by ZooKeeper and by its brokers" in one.err) == (64, True)
    both = command("doctor", "migration", "--context", "both", "--timeout", "3", environment=named)
    assert both.status == 6, both.err
    kept = command("history", "import", "--context", "both", environment=named)
    assert kept.status == 64, kept.err
    assert "read-only" in kept.err
