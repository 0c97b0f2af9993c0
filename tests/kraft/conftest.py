from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.eras.claims import KRAFT_CLAIMS, claim
from support.kafka.broker_proxy import BrokerProxy
from support.kafka.ground import Ground
from support.kafka.processes import LEASE_S, KadminProcess
from support.live.kraft import KraftCluster
from support.stores import in_topic

from kadmin.cluster.servers import Servers
from kadmin.operations.context import Clock
from kadmin.operations.decide import settling
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author
from kadmin.worlds.kafka.cluster import kafka_context
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kadmin.operations.context import Context
    from kadmin.operations.events import Event
    from kadmin.operations.store import OperationStore
    from kadmin.sandbox import Sandbox


@pytest.fixture
def cluster(kraft: Sandbox, connection: KafkaConnection, record: None) -> KraftCluster:
    """The cluster in KRaft mode, with kadmin's record in its topic: other tests' operations are
    there, and finished.
    """
    del record
    return KraftCluster(kraft, connection)


@pytest.fixture
def cluster_and_folder(kraft: Sandbox, connection: KafkaConnection, tmp_path: Path) -> KraftCluster:
    """The cluster in KRaft mode, with kadmin's record in a folder of the test's own:
    `--records`.
    """
    return KraftCluster(kraft, connection, tmp_path / "records")


@pytest.fixture
def short_settling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs in this process watch requests that got no answer for two seconds, and not for a minute
    and a half.
    """
    monkeypatch.setattr(settling, "SETTLE_S", 2.0)


@pytest.fixture
def record(connection: KafkaConnection) -> Iterator[None]:
    """The topics of kadmin's record and of transactions are there; no operation is left
    unfinished.
    """

    def operations() -> OperationStore:
        return in_topic(connection, lease_s=LEASE_S)

    first = operations()
    first.lock.release(
        first.lock.take(Holder(Author("ann", "host-a", 7), "op", "now", LEASE_S), 10 * LEASE_S)
    )
    yield
    if operations().unfinished():
        KadminProcess(connection.servers.addresses, "cancel", "--now", "--yes").answer()


@pytest.fixture
def ground(kraft: Sandbox, connection: KafkaConnection, tmp_path: Path) -> Callable[[], Ground]:
    """Makes topics on which runners are killed, stopped and taken over."""
    return lambda: Ground(kraft, connection, tmp_path)


@pytest.fixture
def paced_ground(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path
) -> Callable[[], Ground]:
    """The same with a range of rates, and hours that begin and end in each run."""
    return lambda: Ground(kraft, connection, tmp_path, paced=True)


@pytest.fixture
def seen(kraft: Sandbox) -> Callable[[str], str]:
    """What the table of claims says for the version under test."""
    return lambda name: claim(name, KRAFT_CLAIMS).seen[kraft.spec.version]


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def proxy(kraft: Sandbox) -> Iterator[BrokerProxy]:
    with BrokerProxy(kraft) as found:
        yield found


@pytest.fixture
def context(proxy: BrokerProxy, tmp_path: Path, events: list[Event]) -> Iterator[Context]:
    """kadmin's way to the brokers leads through the proxy; that of `connection` does not."""
    with KafkaConnection(Servers(proxy.bootstrap)) as through:
        yield kafka_context(through, tmp_path, Clock(), events.append)
