from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kadmin.cluster.kafka.connection import KafkaConnection
from kadmin.sandbox import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of the cluster in KRaft mode in one worker: a second worker would start a second cluster."""
    for item in items:
        if "kraft" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("kraft"))


@pytest.fixture(scope="session")
def kraft(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A running cluster of Kafka 4.4.0 in KRaft mode: brokers 1 to 4 on racks r1, r2, r3, r1."""
    folder = tmp_path_factory.mktemp("kraft") / "sandbox"
    sandbox = Sandbox.up(SandboxSpec(folder, version="4.4.0", brokers=4, mode="kraft"))
    processes = [*sandbox.brokers.values(), *sandbox.controllers.values()]
    yield sandbox
    sandbox.down()
    assert not any(process.alive for process in processes)
    assert not folder.exists()


@pytest.fixture
def connection(kraft: Sandbox) -> Iterator[KafkaConnection]:
    with KafkaConnection(kraft.bootstrap) as found:
        yield found
