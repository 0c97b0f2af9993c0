from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.cluster import Cluster
from support.live.errands import MODES, connected

from kadmin.sandbox import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.live.errands import Brokers


@pytest.fixture(scope="session")
def cluster(live: Sandbox) -> Iterator[Cluster]:
    found = Cluster(live.connect_string, live.bootstrap, live.spec.version, live)
    yield found
    found.close()


@pytest.fixture(scope="session", params=MODES)
def errand_sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """A cluster whose brokers are stopped and started, of each version and mode."""
    version, mode = request.param
    folder = tmp_path_factory.mktemp("errands") / "sandbox"
    found = Sandbox.up(SandboxSpec(folder, version=version, mode=mode, brokers=4))
    yield found
    found.down()


@pytest.fixture
def brokers(errand_sandbox: Sandbox) -> Iterator[Brokers]:
    """Its brokers; all run at the end, and the topics of the test are gone."""
    with connected(errand_sandbox) as found:
        yield found
