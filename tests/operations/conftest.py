from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.controller.eras import ERAS
from support.executor.kill_points import Ground
from support.executor.runs import Site, apply

from kadmin.operations.record.steps import waves_of
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.zookeeper.model import Create
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.executor.runs import Practice


@pytest.fixture
def store(chroot: str) -> Iterator[Store]:
    """A session on a chroot that has an /admin, as every Kafka cluster has."""
    with Store.connect(chroot) as opened:
        opened.multi([Create("/admin", b"")])
        yield opened


@pytest.fixture(scope="module")
def site(zookeeper: Sandbox) -> Iterator[Site]:
    """Where models of the controller work."""
    with Site.on(zookeeper) as opened:
        yield opened


@pytest.fixture(scope="module")
def quiet_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The same, of a server that answers no four-letter words."""
    folder = tmp_path_factory.mktemp("quiet") / "sandbox"
    sandbox = Sandbox.up(SandboxSpec(folder, brokers=0, four_letter_words=False))
    try:
        with Site.on(sandbox) as opened:
            yield opened
    finally:
        sandbox.down()


@pytest.fixture
def killed(site: Site) -> Practice:
    """A cluster with an operation whose runner was killed in its second wave."""
    ground = Ground(site, ERAS["2.8.2"], throttle_rate=1_000_000)
    practice = ground.practice()

    def work() -> float:
        (listing,) = practice.journal.listings()
        if 1 in waves_of(practice.journal.steps(listing.operation_id)):
            process.die()
        return practice.work()

    process = practice.process(apply(ground.plan()), work)
    assert process.run().killed
    practice.bury()
    return practice
