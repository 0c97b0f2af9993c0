"""The proxy of brokers, against the brokers of a live cluster in KRaft mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.kafka.broker_proxy import ALTER_REASSIGNMENTS, BrokerProxy
from support.live.kraft import make_topic, wait_assigned
from support.network.frame_proxy import Action, Fault, Side, reply_of, request_of

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import UnknownOutcomeError
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments
from kadmin.worlds.kafka.wire.transactions import TransactionalProducer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.network.frame_proxy import Frame

    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.eras


@pytest.fixture
def proxy(kraft: Sandbox) -> Iterator[BrokerProxy]:
    with BrokerProxy(kraft) as listening:
        yield listening


def test_a_client_never_leaves_the_proxy(kraft: Sandbox, proxy: BrokerProxy) -> None:
    ports = {int(address.rpartition(":")[2]) for address in proxy.bootstrap}
    assert ports.isdisjoint(kraft.broker_ports.values())
    with KafkaConnection(Servers(proxy.bootstrap)) as through:
        assert {each.port for each in read_metadata(through).brokers.values()} == ports
        for broker_id in kraft.broker_ports:
            assert read_metadata(through, (), broker_id=broker_id).cluster_id
        topic = make_topic(through, {0: (1, 2)})
        producer = TransactionalProducer(through, topic, topic)
        producer.add(0, [("key", b"value")])
        producer.commit()
    sent = proxy.requests()
    assert [each.number for each in sent] == list(range(1, len(sent) + 1))
    replies = {each.number: each.op for each in proxy.frames if each.side is Side.REPLY}
    assert replies.items() <= {(each.number, each.op) for each in sent}


@pytest.mark.parametrize(
    ("action", "matches", "applied"),
    [
        (Action.CUT_BEFORE, request_of(ALTER_REASSIGNMENTS), False),
        (Action.CUT_HALF, request_of(ALTER_REASSIGNMENTS), False),
        (Action.CUT_AFTER, request_of(ALTER_REASSIGNMENTS), True),
        (Action.CUT_BEFORE, reply_of(ALTER_REASSIGNMENTS), True),
    ],
    ids=["request cut", "request halved", "cut behind the request", "answer cut"],
)
def test_a_request_is_lost_or_its_answer_is(
    proxy: BrokerProxy,
    connection: KafkaConnection,
    action: Action,
    matches: Callable[[Frame], bool],
    *,
    applied: bool,
) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    proxy.faults.append(Fault(action, matches))
    partition = TopicPartition(topic, 0)
    with KafkaConnection(Servers(proxy.bootstrap)) as through, pytest.raises(UnknownOutcomeError):
        alter_reassignments(through, {partition: (3, 4)})
    wait_assigned(connection, {partition: (3, 4) if applied else (1, 2)})
