"""The claim of KRAFT_CLAIMS on a broker that starts from its own snapshot, on brokers of every
version under test.

Broker 4 is restarted with settings under which it writes a snapshot of the metadata with every
change, and without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from support.eras.claims import KRAFT_CLAIMS, KRAFT_VERSIONS
from support.eras.kraft import DELETE, SET, change_config
from support.live.kraft import THROTTLED_RATES
from support.live.waiting import PATIENCE_S, stays, wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.worlds.kafka.wire.configs import ConfigEdit, read_own_configs
from kadmin.worlds.kafka.wire.quorum import describe_quorum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

BROKER_4 = ConfigEntity.of_broker(4)
pytestmark = [
    pytest.mark.live,
    pytest.mark.matrix,
    pytest.mark.claims(KRAFT_CLAIMS),
    pytest.mark.on(*KRAFT_VERSIONS),
]

RATE = THROTTLED_RATES[0]
OTHER = "log.cleaner.threads"
EVERY_CHANGE = {"metadata.log.max.record.bytes.between.snapshots": "1"}


@dataclass(frozen=True, slots=True)
class Broker4:
    """Broker 4, its own configs and its snapshots."""

    sandbox: Sandbox
    connection: KafkaConnection

    def restart(self, *, with_snapshots: bool = False) -> None:
        self.sandbox.stop_broker(4)
        self.start(with_snapshots=with_snapshots)

    def start(self, *, with_snapshots: bool = False) -> None:
        spec = self.sandbox.spec
        config = {**spec.broker_config, **(EVERY_CHANGE if with_snapshots else {})}
        replace(self.sandbox, spec=replace(spec, broker_config=config)).start_broker(4)

    def write_snapshot(self) -> None:
        """Wait for one of now or later: what is being written at the first look may be older."""
        for _ in range(2):
            before = self._newest_snapshot()
            wait_until(lambda before=before: self._newest_snapshot() > before, PATIENCE_S)  # type: ignore[misc]

    def _newest_snapshot(self) -> str:
        log = self.sandbox.server("broker", 4).data / "__cluster_metadata-0"
        return max((each.name for each in log.glob("*.checkpoint")), default="")

    def own(self) -> dict[str, str]:
        return dict(read_own_configs(self.connection, [BROKER_4], broker_id=4)[BROKER_4])

    def change(self, key: str, edit: ConfigEdit, server_id: int = 4) -> None:
        assert change_config(self.connection, BROKER_4, key, edit, server_id) is None

    def clear(self, key: str = RATE) -> None:
        self.change(key, ConfigEdit(DELETE))
        wait_until(lambda: key not in self.own())

    def shows(self, expected: dict[str, str]) -> bool:
        """Whether it shows these configs once it has started, and goes on to."""
        return stays(lambda: self.own() == expected)


@pytest.fixture
def broker_4(kraft: Sandbox, connection: KafkaConnection) -> Iterator[Broker4]:
    """It writes snapshots as soon as anything changes; afterwards it is as it was."""
    broker = Broker4(kraft, connection)
    assert broker.own() == {}
    broker.restart(with_snapshots=True)
    yield broker
    broker.start()


def test_removed_after_a_snapshot(broker_4: Broker4, seen: Callable[[str], str]) -> None:
    """The removal reaches the controllers while broker 4 is away; one that it applied itself is
    forgotten alike.
    """
    set_ = {RATE: "1000"}
    broker_4.change(RATE, ConfigEdit(SET, "1000"))
    wait_until(lambda: broker_4.own() == set_)
    broker_4.write_snapshot()
    broker_4.sandbox.stop_broker(4)
    active = describe_quorum(broker_4.connection).leader_id
    broker_4.connection.add_node(active, "127.0.0.1", broker_4.sandbox.controller_ports[active])
    broker_4.change(RATE, ConfigEdit(DELETE), active)
    broker_4.start()
    if seen("removed_after_a_snapshot") == "stays removed":
        assert broker_4.shows({})
        return
    assert broker_4.shows(set_)
    broker_4.clear()
    broker_4.change(OTHER, ConfigEdit(SET, "1"))
    broker_4.restart()
    assert broker_4.shows({OTHER: "1"})
    broker_4.clear(OTHER)
    broker_4.restart(with_snapshots=True)
    assert broker_4.shows(set_)
    broker_4.write_snapshot()
    assert broker_4.own() == set_
    broker_4.restart()
    assert broker_4.shows({})
    assert seen("removed_after_a_snapshot") == (
        "back at each restart until the broker has a newer snapshot, unless it has another config "
        "of its own"
    )
