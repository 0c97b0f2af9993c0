from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.executor.runs import Site

from kadmin.cluster.zookeeper.model import Create
from kadmin.cluster.zookeeper.store import Store
from kadmin.sandbox import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator


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
