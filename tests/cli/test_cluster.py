"""How a command learns which cluster it is for."""

from __future__ import annotations

import pytest
from support.cli.in_process import command

from kadmin.contexts.address import ClusterAddress
from kadmin.next_step import command as command_to_type


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (
            ["-z", "zk:1", "-b", "kafka:1"],
            {},
            "A cluster is reached through ZooKeeper or through its brokers, not both.",
        ),
        ([], {"KADMIN_ZOOKEEPER": "zk:1", "KADMIN_BOOTSTRAP_SERVER": "kafka:1"}, "not both"),
        (["-z", "zk:1", "--records", "folder"], {}, "--records goes with -b."),
        ([], {}, "No cluster is named."),
        (["-b", "127.0.0.1:1"], {"KADMIN_ZOOKEEPER": "zk:1"}, "Nothing listens at 127.0.0.1:1."),
        (["-z", "127.0.0.1:1"], {"KADMIN_BOOTSTRAP_SERVER": "kafka:1"}, "127.0.0.1:1"),
    ],
)
def test_one_address_is_taken_and_what_was_typed_outweighs_the_environment(
    arguments: list[str], environment: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KADMIN_ZOOKEEPER", "KADMIN_BOOTSTRAP_SERVER"):
        monkeypatch.delenv(name, raising=False)
    answer = command("status", "--timeout", "8", *arguments, environment=environment)
    assert answer.status in {6, 64}
    assert message in answer.err


@pytest.mark.parametrize("line", ["resume", "rollback"])
def test_brokers_cannot_be_left_out_where_they_are_the_way_to_the_cluster(line: str) -> None:
    answer = command(line, "-b", "127.0.0.1:1", "--without-brokers")
    assert answer.status == 64
    assert "--without-brokers goes with -z" in answer.err


def test_the_commands_of_a_next_step_get_the_address_that_was_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KADMIN_BOOTSTRAP_SERVER", raising=False)
    brokers = ClusterAddress(bootstrap="kafka:1")
    named = brokers.named(command_to_type("resume", "op-1") + ", or " + command_to_type("status"))
    assert str(named) == "kadmin resume op-1 -b kafka:1, or kadmin status -b kafka:1"
    assert brokers.named(named) == named
    assert str(brokers.named(command_to_type("validate", "PLAN"))) == "kadmin validate PLAN"
    assert brokers.named("run kadmin twice") == "run kadmin twice"
    monkeypatch.setenv("KADMIN_BOOTSTRAP_SERVER", "kafka:1")
    assert str(brokers.named(command_to_type("status"))) == "kadmin status"


@pytest.mark.parametrize(
    "line", ["heal", "inspect tree /", "consumers preview --group g --members 2"]
)
def test_what_is_zookeeper_s_alone_names_what_serves_through_brokers(line: str) -> None:
    answer = command(*line.split(), "-b", "kafka:1")
    assert answer.status == 64
    assert "This command reads or repairs znodes" in answer.err
    assert "-b kafka:1" in answer.err


@pytest.mark.parametrize("lease", ["4", "601", "20 s", "-5", ""])
def test_a_lease_that_a_request_could_outlast_is_refused(lease: str) -> None:
    answer = command("status", "-b", "127.0.0.1:1", environment={"KADMIN_LEASE": lease})
    assert answer.status == 64
    assert f"KADMIN_LEASE is {lease!r}." in answer.err
    assert "from 5 to 600" in answer.err
