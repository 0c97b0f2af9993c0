"""Brokers that `broker check --stop` calls safe are stopped while records flow, and no write is
refused; where it forbids a stop, exactly the partitions that it names suffer.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import kafka
import pytest
from kafka.errors import KafkaError, NotEnoughReplicasError
from support.live.errands import STOPPED
from support.live.kraft import set_configs
from support.live.records import RecordsFlowing
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.plan.cordon import CORDON

if TYPE_CHECKING:
    from collections.abc import Mapping

    from support.live.errands import Brokers


pytestmark = [pytest.mark.live, pytest.mark.eras]


def obstacles(answer: Mapping[str, Any]) -> dict[TopicPartition | None, str]:
    return {
        None if each["topic"] is None else TopicPartition(each["topic"], each["partition"]): each[
            "reason"
        ]
        for each in answer["obstacles"]
    }


def test_a_stop_that_is_safe_refuses_no_write_and_loses_no_record(brokers: Brokers) -> None:
    written = [
        *brokers.topic({0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)}, min_isr=2),
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


@pytest.mark.matrix
def test_a_stop_that_is_forbidden_hurts_exactly_the_partitions_that_are_named(
    brokers: Brokers,
) -> None:
    alone = brokers.topic({0: (STOPPED,), 1: (1,)})
    short = brokers.topic({0: (STOPPED, 1), 1: (1, 2)}, min_isr=2)
    whole = brokers.topic({0: (1, 2, 3)}, min_isr=2)
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
        4: True,
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


def test_cordoned_log_directories_are_listed_where_brokers_have_them(brokers: Brokers) -> None:
    def cordoned() -> list[list[str] | None]:
        rows = brokers.asked("broker", "list")[1]["brokers"]
        return [row["cordoned"] for row in rows]

    spec = brokers.sandbox.spec
    if not spec.kraft or spec.version < "4.3":
        assert cordoned() == [None] * 4
        return
    assert cordoned() == [[], [], [], []]
    entity = ConfigEntity.of_broker(STOPPED)
    set_configs(brokers.connection, entity, [CORDON], "*", STOPPED)
    try:
        wait_until(lambda: cordoned() == [[], [], ["*"], []])
    finally:
        set_configs(brokers.connection, entity, [CORDON], None, STOPPED)
    wait_until(lambda: cordoned() == [[], [], [], []])


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
