"""A controller that does not watch the admin node is told before the plan is written, four-letter
words or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, election, reassignment
from support.eras.claims import claim
from support.live.cluster import Cluster
from support.live.controllers import REASSIGN

from kadmin.sandbox import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.live, pytest.mark.eras]


@pytest.fixture(scope="module")
def quiet(live: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of the same version whose ZooKeeper answers no four-letter words."""
    folder = tmp_path_factory.mktemp("quiet") / "sandbox"
    spec = SandboxSpec(
        folder, live.spec.version, brokers=3, chroot="/kafka", four_letter_words=False
    )
    sandbox = Sandbox.up(spec)
    found = Cluster(sandbox.connect_string, sandbox.bootstrap, live.spec.version)
    yield found
    found.close()
    sandbox.down()


def never_deaf(cluster: Cluster, plan: Path) -> bool:
    """Before 1.1 controllers watch for good: a node deleted by hand changes nothing, and the plan
    runs.
    """
    if claim("node_deleted_by_hand").seen[cluster.version_text] == "not seen":
        return False
    cluster.controllers.create_and_delete_by_hand(0.5)
    assert cluster.kadmin("apply", plan, "--yes").status == 0
    return True


@pytest.mark.matrix
def test_a_deaf_controller_is_told_and_nothing_changed(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    if never_deaf(cluster, plan):
        return
    with cluster.controllers.deaf():
        before = cluster.fingerprint()
        refused = cluster.kadmin("apply", plan, "--yes")
        assert refused.status == 8, refused.err
        assert "does not watch" in refused.err
        assert "nothing was changed" in refused.err
        assert cluster.fingerprint() == before
    assert cluster.kadmin("apply", plan, "--yes").status == 0
    assert cluster.kadmin("verify", plan).status == 0


def test_without_four_letter_words_a_probe_is_answered(quiet: Cluster, tmp_path: Path) -> None:
    topic = quiet.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 1]}, elect="at_end"))
    dry = quiet.kadmin("apply", plan, "--dry-run")
    if quiet.store.four_letter_words("wchp") != {quiet.connect.split("/")[0]: None}:
        # The ZooKeeper that belongs to 0.10.2 (3.4.9) has no list of allowed words: they are always
        # open.
        assert quiet.version < (1, 0)
        assert "not checked" not in dry.out
        return
    assert "listening: not checked" in dry.out
    applied = quiet.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert "probing" in applied.err
    operation = quiet.history()[-1].operation_id
    assert [step.kind for step in quiet.steps(operation)] == ["probe", "wave", "probe", "election"]
    again = document(tmp_path / "election.yaml", election(topics=[topic]))
    assert quiet.kadmin("apply", again, "--yes").out.strip() == "nothing to do"


@pytest.mark.matrix
@pytest.mark.on("1.1.1", "2.8.2", "3.9.2")
def test_without_four_letter_words_a_deaf_controller_leaves_the_probe_and_resume_goes_on(
    quiet: Cluster, tmp_path: Path
) -> None:
    topic = quiet.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    if never_deaf(quiet, plan):
        return
    with quiet.controllers.deaf():
        before = quiet.fingerprint()
        refused = quiet.kadmin("apply", plan, "--yes")
        assert refused.status == 8, refused.err
        assert "only kadmin's own record and the probe" in refused.err
        assert b"!probe" in (quiet.get(REASSIGN) or b"")
        changed = {path for path, seen in quiet.fingerprint().items() if before.get(path) != seen}
        assert all(
            p.startswith(("/kafka/kadmin", f"/kafka{REASSIGN}")) or p in {"/kafka", "/kafka/admin"}
            for p in changed
        )
        assert quiet.kadmin("apply", plan, "--yes").status == 5, (
            "its own leftover probe is no reason to write again"
        )
    resumed = quiet.kadmin("resume", "--yes")
    assert resumed.status == 0, resumed.err
    assert quiet.kadmin("verify", plan).status == 0


@pytest.mark.on("1.1.1", "2.8.2")
@pytest.mark.executor
def test_without_four_letter_words_heal_waits_until_everything_stood_still(
    quiet: Cluster, tmp_path: Path
) -> None:
    """F35 and F40: the probe of the run that stopped is cleared by the next controller, a minute
    later.
    """
    topic = quiet.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    if never_deaf(quiet, plan):
        return
    quiet.controllers.deafen()
    assert quiet.kadmin("apply", plan, "--yes").status == 8
    probe = quiet.get(REASSIGN)
    hurried = quiet.kadmin("heal", "--yes", "--timeout", "20")
    assert hurried.status == 8, hurried.err
    assert "stay unchanged" in hurried.err
    assert quiet.get(REASSIGN) == probe
    healed = quiet.kadmin("heal", "--yes")
    assert healed.status == 0, healed.err
    assert quiet.get(REASSIGN) is None
    assert quiet.kadmin("resume", "--yes").status == 0
    assert quiet.kadmin("verify", plan).status == 0
