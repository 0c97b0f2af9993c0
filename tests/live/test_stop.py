"""Brokers that `broker check --stop` calls safe are stopped while records flow, and no write is
refused; where it forbids a stop, exactly the partitions that it names suffer.
"""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import kafka
import pytest
from kafka.errors import KafkaError, NotEnoughReplicasError
from support.cli.in_process import command
from support.live.kraft import make_topic
from support.live.records import RecordsFlowing
from support.live.waiting import wait_until
from support.suites.versions import KRAFT_VERSIONS, VERSIONS

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.schema import validate_value
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from support.cli.in_process import Answer

    from kadmin.cluster.model import ClusterState, Replicas

pytestmark = pytest.mark.live

MODES = [*((each, "zookeeper") for each in VERSIONS), *((each, "kraft") for each in KRAFT_VERSIONS)]
STOPPED = 3
MIN_ISR_2 = {"min.insync.replicas": "2"}


class Brokers:
    """Brokers 1 to 3 on racks of their own, with the topics of these tests alone."""

    def __init__(self, sandbox: Sandbox, connection: KafkaConnection) -> None:
        self.sandbox = sandbox
        self.connection = connection
        self.topics: list[str] = []

    def topic(
        self, replicas: Mapping[int, Replicas], configs: Mapping[str, str] | None = None
    ) -> tuple[TopicPartition, ...]:
        name = make_topic(self.connection, replicas, configs)
        self.topics.append(name)
        return tuple(TopicPartition(name, number) for number in replicas)

    def state(self) -> ClusterState:
        return read_cluster(self.connection)

    def kadmin(self, *arguments: str) -> Answer:
        where = (
            {"KADMIN_BOOTSTRAP_SERVER": ",".join(self.sandbox.bootstrap)}
            if self.sandbox.spec.kraft
            else {"KADMIN_ZOOKEEPER": self.sandbox.connect_string}
        )
        return command(*arguments, environment=where)

    def asked(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Return exit code and answer of a command that ends with 0 or 8."""
        found = self.kadmin(*arguments, "-o", "json")
        assert found.status in {0, 8}, found.err
        value: dict[str, Any] = json.loads(found.out)
        assert validate_value(value, f"answers/{'-'.join(arguments[:2])}") == [], found.out
        return found.status, value

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Run while a broker is stopped by SIGTERM."""
        self.sandbox.stop_broker(STOPPED)
        try:
            wait_until(lambda: STOPPED not in self.state().brokers)
            yield
        finally:
            self.sandbox.start_broker(STOPPED)
            wait_until(self._in_sync)

    def _in_sync(self) -> bool:
        state = self.state()
        return STOPPED in state.brokers and all(
            set(found.isr) == set(state.replicas(partition) or ())
            for partition, found in state.states.items()
        )


@pytest.fixture(scope="module", params=MODES, ids=lambda mode: f"{mode[1]}-{mode[0]}")
def sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    version, mode = request.param
    folder = tmp_path_factory.mktemp("stop") / "sandbox"
    found = Sandbox.up(SandboxSpec(folder, version=version, mode=mode))
    yield found
    found.down()


@pytest.fixture
def brokers(sandbox: Sandbox) -> Iterator[Brokers]:
    with KafkaConnection(Servers(sandbox.bootstrap)) as connection:
        found = Brokers(sandbox, connection)
        yield found
    with closing(kafka.KafkaAdminClient(bootstrap_servers=sandbox.bootstrap)) as admin:
        admin.delete_topics(found.topics)


def obstacles(answer: Mapping[str, Any]) -> dict[TopicPartition | None, str]:
    return {
        None if each["topic"] is None else TopicPartition(each["topic"], each["partition"]): each[
            "reason"
        ]
        for each in answer["obstacles"]
    }


def test_a_stop_that_is_safe_refuses_no_write_and_loses_no_record(brokers: Brokers) -> None:
    written = [
        *brokers.topic({0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)}, MIN_ISR_2),
        *brokers.topic({0: (3, 1), 1: (2, 3), 2: (1, 2)}),
        *brokers.topic({0: (1,)}),
    ]
    assert brokers.asked("broker", "check", str(STOPPED), "--stop")[0] == 0
    found = brokers.kadmin("broker", "check", "--rack", "r3", "--stop")
    assert (found.status, found.out) == (0, f"broker {STOPPED} may be stopped\n")
    with RecordsFlowing(brokers.sandbox.bootstrap, written) as flow:
        with brokers.stopped():
            flow.wait_for_more()
        flow.wait_for_more()
    assert flow.lost() == []
    refused = {NotEnoughReplicasError.errno, kafka.errors.NotEnoughReplicasAfterAppendError.errno}
    assert not any(refused & errors.keys() for errors in flow.refused.values()), flow.refused


def test_a_stop_that_is_forbidden_hurts_exactly_the_partitions_that_are_named(
    brokers: Brokers,
) -> None:
    alone = brokers.topic({0: (STOPPED,), 1: (1,)})
    short = brokers.topic({0: (STOPPED, 1), 1: (1, 2)}, MIN_ISR_2)
    whole = brokers.topic({0: (1, 2, 3)}, MIN_ISR_2)
    pair = brokers.topic({0: (2, STOPPED)})
    status, answer = brokers.asked("broker", "check", str(STOPPED), "--stop")
    named = obstacles(answer)
    assert (status, answer["safe"]) == (8, False)
    assert named == {alone[0]: "offline", short[0]: "under-min-isr"}
    margin = brokers.asked("broker", "check", str(STOPPED), "--stop", "--margin", "1")[1]
    assert {whole[0], pair[0]} <= obstacles(margin).keys()
    both = brokers.asked("broker", "check", f"2,{STOPPED}", "--stop")[1]
    assert obstacles(both)[pair[0]] == "offline"
    fatal = ("--fail-on", "offline,under-min-isr,unclean")
    status, predicted = brokers.asked("whatif", "lose", "--broker", str(STOPPED), *fatal)
    assert (status, obstacles(predicted)) == (8, named)
    rows = {row["broker_id"]: row for row in brokers.asked("broker", "list")[1]["brokers"]}
    assert {each: row["safe_to_stop"] for each, row in rows.items()} == {
        1: False,
        2: False,
        STOPPED: False,
    }
    assert rows[STOPPED]["why_not"] == "1 offline, 1 under-min-isr"

    partitions = [*alone, *short, *whole, *pair]
    with brokers.stopped():
        wait_until(lambda: acks_all(brokers, partitions) == refusals(named, partitions))
        state = brokers.state()
        offline = {each for each in partitions if state.states[each].leader == NO_LEADER}
        assert offline == {alone[0]}
        listed = brokers.asked("broker", "list", "--filter", "alive=no")[1]["brokers"]
        assert [(row["broker_id"], row["safe_to_stop"]) for row in listed] == [(STOPPED, None)]
        # The others carry everything now.
        last = obstacles(brokers.asked("broker", "check", "1", "--stop")[1])
        assert last[whole[0]] == "under-min-isr"
        assert brokers.kadmin("broker", "check", str(STOPPED), "--stop").status == 4


def refusals(
    named: Mapping[TopicPartition | None, str], partitions: list[TopicPartition]
) -> dict[TopicPartition, str]:
    words = {"offline": "fails", "under-min-isr": "refused"}
    return {each: words[named[each]] if each in named else "taken" for each in partitions}


def acks_all(brokers: Brokers, partitions: list[TopicPartition]) -> dict[TopicPartition, str]:
    """Try one write with acks=all to each partition."""
    found = {}
    with closing(
        kafka.KafkaProducer(
            bootstrap_servers=brokers.sandbox.bootstrap,
            acks="all",
            retries=0,
            enable_idempotence=False,
            request_timeout_ms=4_000,
            delivery_timeout_ms=5_000,
            max_block_ms=5_000,
        )
    ) as producer:
        sent = {
            each: producer.send(each.topic, value=b"x", partition=each.partition)
            for each in partitions
        }
        for each, future in sent.items():
            try:
                future.get(20)
            except NotEnoughReplicasError:
                found[each] = "refused"
            except KafkaError:
                found[each] = "fails"
            else:
                found[each] = "taken"
    return found
