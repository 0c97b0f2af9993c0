"""A cluster whose ZooKeeper wants Kerberos, and whose znodes its brokers alone may write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kazoo.security import ACL, Id
from support.kafka.kerberized import named
from support.kafka.kerberos import realm
from support.zookeeper.kerberos_refusals import ZOOKEEPER_REFUSED, with_key, with_ticket
from support.zookeeper.refusals import RefusedClient
from support.zookeeper.secured import CHROOT, KERBEROS, OPERATOR, secured_zookeeper
from support.zookeeper.whole_way import Client, be_refused, go_the_whole_way

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.kafka.kerberos import Realm
    from support.kafka.kerberos_refusals import RefusedByKerberos
    from support.zookeeper.secured import SecuredZooKeeper

pytestmark = pytest.mark.kerberos

EVERYTHING = 31


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    with realm(tmp_path_factory.mktemp("realm") / "realm") as found:
        found.key("guest")
        yield found


@pytest.fixture(scope="module")
def cluster(users: Realm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredZooKeeper]:
    with secured_zookeeper(
        tmp_path_factory.mktemp("kerberized"), "3.9.2", KERBEROS, users
    ) as found:
        yield found


@pytest.fixture(autouse=True)
def _environment(users: Realm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5_CONFIG", str(users.config))
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path / 'tickets'}")


def test_the_whole_way_with_a_key_table_whose_tickets_are_renewed(
    cluster: SecuredZooKeeper, users: Realm, tmp_path: Path
) -> None:
    go_the_whole_way(cluster, tmp_path)
    assert users.asked_for(OPERATOR) >= 2


def test_a_ticket_of_the_cache_serves_too(
    cluster: SecuredZooKeeper, users: Realm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{users.tickets('guest', 3600)}")
    run = Client(tmp_path, {"connect": cluster.plain, "sasl": with_ticket("guest")(users)})
    checked = run("context", "check", status=6).out
    assert "as sasl:guest" in checked
    assert "sasl:guest:cdrwa" in checked


def test_of_a_name_that_is_not_shortened_only_the_servers_know_whose_it_is(
    cluster: SecuredZooKeeper, users: Realm, tmp_path: Path
) -> None:
    run = Client(tmp_path, {"connect": cluster.plain, "sasl": with_key(users, "guest", "guest")})
    unknown = "not checked: /admin: only the servers know whether its ACL grants wcd"
    assert unknown not in run("context", "check", status=6).out
    with cluster.client(is_super=True) as client:
        client.set_acls(
            f"{CHROOT}/admin", [*cluster.own_acl, ACL(EVERYTHING, Id("sasl", named("guest")))]
        )
        try:
            assert unknown in run("context", "check", status=6).out
        finally:
            client.set_acls(f"{CHROOT}/admin", cluster.own_acl)


@pytest.mark.parametrize("refused", ZOOKEEPER_REFUSED, ids=lambda each: each.fault)
def test_what_is_refused_says_why_and_what_to_do(
    cluster: SecuredZooKeeper,
    users: Realm,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: RefusedByKerberos,
) -> None:
    for name, value in refused.prepare(users).items():
        monkeypatch.setenv(name, value)
    sasl = refused.write(users)
    client = RefusedClient(
        refused.fault,
        KERBEROS,
        lambda at: {"connect": at.plain, "sasl": sasl},
        refused.cause,
        refused.remedy,
    )
    be_refused(cluster, tmp_path, client)
