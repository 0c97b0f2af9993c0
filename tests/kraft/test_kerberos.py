"""A cluster whose clients prove themselves by Kerberos: what works, what is renewed, and what is
refused how.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.documents.plans import document, reassignment
from support.kafka.kerberized import BOTH, LISTENER, kerberized, with_key, with_ticket
from support.kafka.kerberos import realm
from support.kafka.kerberos_refusals import KERBEROS_REFUSED
from support.kafka.whole_way import Client, go_the_whole_way
from support.live.kraft import make_topic
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.kafka.kerberized import Kerberized
    from support.kafka.kerberos_refusals import RefusedByKerberos

pytestmark = pytest.mark.kerberos


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberized]:
    folder = tmp_path_factory.mktemp("kerberized")
    with realm(folder / "realm") as users:
        found = kerberized(folder, "4.4.0", users)
        yield found
        found.sandbox.down()


@pytest.fixture(autouse=True)
def _environment(cluster: Kerberized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KRB5_CONFIG", str(cluster.realm.config))
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path / 'tickets'}")


def slow_plan(cluster: Kerberized, folder: Path, megabytes: int, rate: str) -> Path:
    """A reassignment of one partition."""
    with KafkaConnection(Servers(cluster.sandbox.bootstrap)) as connection:
        topic = make_topic(connection, {0: (1, 2)})
    produce(
        Servers(cluster.sandbox.bootstrap), {TopicPartition(topic, 0): [b"x" * 900_000] * megabytes}
    )
    return document(folder / "slow.yaml", reassignment(topic, {0: [1, 3]}, throttle={"rate": rate}))


def written(cluster: Kerberized) -> list[str]:
    """The topics, and the operations on record."""
    plain = ["-b", ",".join(cluster.sandbox.bootstrap)]
    answers = [
        command(*asked, *plain)
        for asked in (["inspect", "topics", "-o", "csv"], ["history", "-o", "json"])
    ]
    assert [each.status for each in answers] == [0, 0]
    return [each.out for each in answers]


def test_the_whole_way_with_a_key_table(cluster: Kerberized, tmp_path: Path) -> None:
    run = Client(cluster, LISTENER, with_key(of=BOTH)(cluster.realm), tmp_path)
    go_the_whole_way(cluster, run)


def test_contexts_that_are_read_side_by_side_have_their_own_tickets(
    cluster: Kerberized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts = {
        user: {
            "kafka": {
                "bootstrap_servers": cluster.bootstrap(LISTENER),
                "command_config": str(cluster.properties(user, **with_key(user)(cluster.realm))),
            }
        }
        for user in ("guest", "kadmin")
    }
    monkeypatch.setenv("KADMIN_CONFIG", str(tmp_path / "contexts.json"))
    (tmp_path / "contexts.json").write_text(
        json.dumps({"kind": "Contexts", "contexts": contexts}), encoding="utf-8"
    )
    answer = command("inspect", "brokers", "--context", "*", "-o", "json")
    errors = {each["cluster"]: each["error"] for each in json.loads(answer.out)["clusters"]}
    assert errors["kadmin"] is None
    assert "User:guest" in errors["guest"]["next_command"]
    assert answer.status == 6


def test_tickets_are_renewed_from_the_key_table_while_an_operation_runs(
    cluster: Kerberized, tmp_path: Path
) -> None:
    run = Client(cluster, LISTENER, with_key()(cluster.realm), tmp_path)
    plan = slow_plan(cluster, tmp_path, 10, "1MB/s")
    before = cluster.realm.asked_for("kadmin")
    run("apply", plan, "--yes")
    assert cluster.realm.asked_for("kadmin") - before >= 2


def test_a_renewal_that_is_refused_ends_the_run_and_loses_nothing(
    cluster: Kerberized, tmp_path: Path
) -> None:
    run = Client(cluster, LISTENER, with_key()(cluster.realm), tmp_path)
    plan = slow_plan(cluster, tmp_path, 20, "200kB/s")

    def lock_out() -> None:
        published = "kadmin/*/operations/*/steps/*"
        wait_until(lambda: any((tmp_path / "state").glob(published)), 60)
        cluster.realm.administer("modprinc -allow_tix kadmin")

    locking = threading.Thread(target=lock_out)
    locking.start()
    try:
        ended = run("apply", plan, "--yes", status=6)
    finally:
        locking.join()
        cluster.realm.administer("modprinc +allow_tix kadmin")
    assert "credentials have been revoked" in ended.err
    assert "kadmin resume" in ended.err
    plain = ["-b", ",".join(cluster.sandbox.bootstrap)]
    # Refused where all is copied by now.
    command("throttle", "set", "--rate", "50MB/s", "--yes", *plain)
    run("resume", "--yes")
    run("verify", plan)


def test_a_ticket_of_the_cache_serves_too(
    cluster: Kerberized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{cluster.realm.tickets('kadmin', 3600)}")
    run = Client(cluster, LISTENER, with_ticket(cluster.realm), tmp_path)
    assert "unfinished" in run("status").out


@pytest.mark.parametrize("refused", KERBEROS_REFUSED, ids=lambda each: each.fault)
def test_what_kerberos_refuses_says_why_and_what_to_do(
    cluster: Kerberized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: RefusedByKerberos
) -> None:
    before = written(cluster)
    for name, value in refused.prepare(cluster.realm).items():
        monkeypatch.setenv(name, value)
    file = cluster.properties("refused", **refused.write(cluster.realm))
    plan = document(tmp_path / "plan.yaml", reassignment("any", {0: [1, 2]}))
    answer = command(
        "apply", plan, "--yes", "-b", cluster.bootstrap(LISTENER), "--command-config", file
    )
    assert answer.status == 6, answer.err
    _, cause, remedy = answer.err.strip().splitlines()[-3:]
    assert refused.cause in cause
    assert refused.remedy in remedy
    assert written(cluster) == before
