"""Addresses where no cluster lives, and ACLs that forbid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kazoo.security import ACL, Id, make_acl, make_digest_acl
from support.cli.in_process import command
from support.controller.simple_controller import IDENTITY
from support.documents.plans import document, reassignment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.controller.simple_controller import SimpleController

pytestmark = pytest.mark.zookeeper

BROKERS = make_digest_acl(*IDENTITY.split(":"), all=True)
READERS = ACL(1, Id("world", "anyone"))
BY_OTHERS = [make_acl("ip", "10.9.8.7", all=True), READERS]


@pytest.fixture
def plan(cluster: SimpleController, tmp_path: Path) -> Path:
    cluster.create_topic("orders", {0: [1, 2]})
    return document(tmp_path / "plan.yaml", reassignment("orders", {0: [2, 3]}))


def lock_forbidden(cluster: SimpleController) -> None:
    cluster.client.create("/kadmin", acl=BY_OTHERS)


FORBIDDEN: dict[str, Callable[[SimpleController], object]] = {
    "F20-admin-cannot-be-written": lambda cluster: cluster.client.set_acls("/admin", BY_OTHERS),
    "F20-admin-digest-is-masked": lambda cluster: cluster.client.set_acls(
        "/admin", [BROKERS, READERS]
    ),
    "F20-admin-cannot-be-read": lambda cluster: cluster.client.set_acls("/admin", [BROKERS]),
    "F20-lock-cannot-be-written": lock_forbidden,
    "F20-topic-cannot-be-read": lambda cluster: cluster.client.set_acls(
        "/brokers/topics/orders", [BROKERS]
    ),
}


@pytest.mark.parametrize("case", FORBIDDEN)
def test_what_an_acl_forbids_is_told_and_nothing_runs_half(
    cluster: SimpleController, plan: Path, case: str
) -> None:
    FORBIDDEN[case](cluster)
    before = cluster.fingerprint()
    refused = command("apply", plan, "--yes", "-z", cluster.connect, "--timeout", "30")
    assert refused.status == 6, refused.err
    assert "ACL" in refused.err
    assert "brokers' principal" in refused.err
    assert IDENTITY not in refused.err
    changed = {path for path, seen in cluster.fingerprint().items() if before.get(path) != seen}
    assert changed == set()


def become_kraft(cluster: SimpleController) -> None:
    cluster.client.set(
        "/controller", b'{"version":2,"brokerid":3000,"timestamp":"0","kraftControllerEpoch":7}'
    )


def begin_migration(cluster: SimpleController) -> None:
    """Leave the cluster as it is while one KRaft controller follows another."""
    cluster.client.create(
        "/migration", b'{"version":0,"kraft_controller_id":3000,"kraft_controller_epoch":5}'
    )
    cluster.client.delete("/controller")


ELSEWHERE: dict[str, Callable[[SimpleController], object]] = {
    "F19-kraft": become_kraft,
    "F19-migrating": begin_migration,
    "F19-empty": lambda cluster: cluster.client.delete("/brokers", recursive=True),
}


@pytest.mark.parametrize("case", ELSEWHERE)
def test_an_address_without_a_zookeeper_mode_cluster_is_refused(
    cluster: SimpleController, plan: Path, case: str
) -> None:
    ELSEWHERE[case](cluster)
    before = cluster.fingerprint()
    refused = command("apply", plan, "--yes", "-z", cluster.connect, "--timeout", "30")
    assert refused.status == 6, refused.err
    assert cluster.fingerprint() == before


def test_f19_a_mistyped_chroot_is_refused_and_not_created(
    cluster: SimpleController, plan: Path
) -> None:
    refused = command("apply", plan, "--yes", "-z", f"{cluster.connect}x", "--timeout", "30")
    assert refused.status == 6, refused.err
    assert "does not exist" in refused.err
    assert cluster.client.exists("/") is not None
