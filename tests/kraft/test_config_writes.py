"""Config writes of a throttle through brokers: very many, and some whose answers never come."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from support.kafka.broker_proxy import ALTER_CONFIGS
from support.live.kraft import make_topic, servers_frozen, wait_assigned
from support.live.waiting import wait_until
from support.network.frame_proxy import Action, Fault, reply_of, request_of, request_with

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.errors import BusyError
from kadmin.operations.decide import settling
from kadmin.operations.events import Note
from kadmin.operations.execute.apply import apply
from kadmin.operations.port import ConfigsOutcome
from kadmin.operations.record.steps import Sending, StepKind
from kadmin.operations.record.throttle_steps import writes_unanswered
from kadmin.operations.session import held
from kadmin.operations.throttles.audit import Origin, audit
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import (
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    ThrottleBy,
    ThrottleSpec,
)
from kadmin.plan.throttle import FOLLOWER_REPLICAS, LEADER_REPLICAS, RATES, THROTTLE_KEYS
from kadmin.worlds.kafka import configs, sending
from kadmin.worlds.kafka.wire import configs as requests
from kadmin.worlds.kafka.wire import connection as connections
from kadmin.worlds.kafka.wire.configs import (
    ConfigEdit,
    ConfigOperation,
    alter_configs,
    read_own_configs,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.kafka.broker_proxy import BrokerProxy
    from support.network.frame_proxy import Frame

    from kadmin.operations.context import Context
    from kadmin.operations.events import Event
    from kadmin.operations.port import EditConfigs
    from kadmin.operations.record.steps import Step
    from kadmin.plan.throttle import ConfigEdits, ConfigValues
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

BROKER_4 = ConfigEntity.of_broker(4)
pytestmark = [pytest.mark.live, pytest.mark.usefixtures("short_settling", "record")]

RATE = 50_000_000
LISTS = {LEADER_REPLICAS: "0:1", FOLLOWER_REPLICAS: "0:2"}
MANY = 8


def throttled_topics(connection: KafkaConnection) -> list[ConfigEntity]:
    entities = [ConfigEntity.of_topic(make_topic(connection, {0: (1, 2)})) for _ in range(MANY)]
    edits = {key: ConfigEdit(ConfigOperation.APPEND, value) for key, value in LISTS.items()}
    alter_configs(connection, dict.fromkeys(entities, edits))
    wait_until(
        lambda: (
            read_own_configs(connection, entities, keys=THROTTLE_KEYS)
            == dict.fromkeys(entities, LISTS)
        ),
        30,
    )
    return entities


def without_lists(found: ConfigValues) -> ConfigEdits:
    return {entity: dict.fromkeys(values) for entity, values in found.items() if values}


def change(context: Context, entities: list[ConfigEntity], edit: EditConfigs) -> ConfigsOutcome:
    with held(context, context.new_holder("throttle"), 60) as session:
        return context.backend.change_configs(entities, edit, session.lease)


def test_a_change_goes_on_while_it_makes_progress_however_long_it_takes(
    connection: KafkaConnection,
    context: Context,
    proxy: BrokerProxy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each request takes two of the seconds for which the lock is proved; only a round without
    progress counts.
    """
    entities, passed_s, uptime_s = throttled_topics(connection), [0.0], connections.uptime_s

    def pass_time() -> None:
        passed_s[0] += sending.SEND_BY_S - 1

    for module in (sending, connections):
        monkeypatch.setattr(module, "uptime_s", lambda: uptime_s() + passed_s[0])
    monkeypatch.setattr(configs, "BATCH", 1)
    proxy.faults.append(Fault(Action.CALL, request_of(ALTER_CONFIGS), times=1_000, then=pass_time))
    assert change(context, entities, without_lists) is ConfigsOutcome.WRITTEN
    assert read_own_configs(connection, entities, keys=THROTTLE_KEYS) == {
        entity: {} for entity in entities
    }
    assert len(proxy.requests(ALTER_CONFIGS)) == 2 * MANY, "entries go first, then the keys"


def test_a_change_that_brings_nothing_nearer_ends(
    connection: KafkaConnection, context: Context
) -> None:
    entity = ConfigEntity.of_topic(make_topic(connection, {0: (1, 2)}))

    def more(found: ConfigValues) -> ConfigEdits:
        entries = found[entity].get(LEADER_REPLICAS, "7:7")
        return {entity: {LEADER_REPLICAS: f"{entries},7:{len(entries)}"}}

    with pytest.raises(BusyError, match=f"The configs of {entity} keep changing"):
        change(context, [entity], more)


def test_what_the_last_request_wrote_is_looked_at_also_after_a_signal(
    connection: KafkaConnection, context: Context, proxy: BrokerProxy
) -> None:
    entities = throttled_topics(connection)
    alter_configs(
        connection,
        {each: {key: ConfigEdit(ConfigOperation.SET, "") for key in LISTS} for each in entities},
    )
    wait_until(
        lambda: (
            not any(
                read_own_configs(connection, entities)[each][LEADER_REPLICAS] for each in entities
            )
        ),
        30,
    )

    def interrupt() -> None:
        context.clock.stop_signal = 15

    proxy.faults.append(Fault(Action.CALL, request_of(ALTER_CONFIGS), then=interrupt))
    assert change(context, entities, without_lists) is ConfigsOutcome.WRITTEN


def plan(topic: str, target: tuple[int, ...], current: tuple[int, ...]) -> ReassignmentPlan:
    targets = (PartitionTarget(TopicPartition(topic, 0), target, current),)
    return ReassignmentPlan(PlanHeader(), targets, throttle=ThrottleSpec(ThrottleBy.RATE, RATE))


def config_steps(context: Context) -> list[Step]:
    steps = context.operations.steps(context.operations.listings()[-1].operation_id)
    return [step for step in steps if step.kind is StepKind.THROTTLE]


def notes(events: list[Event]) -> str:
    return "\n".join(event.text for event in events if isinstance(event, Note))


@pytest.mark.parametrize("lost", [True, False])
def test_a_config_write_without_an_answer_is_on_record_and_its_operation_ends_late(
    connection: KafkaConnection,
    context: Context,
    proxy: BrokerProxy,
    events: list[Event],
    *,
    lost: bool,
) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    if lost:
        proxy.faults.append(Fault(Action.CUT_BEFORE, reply_of(ALTER_CONFIGS)))
    apply(context, plan(topic, (1, 3), (1, 2)), ClusterFacts(), 0)
    fate = [step.sending for step in config_steps(context)]
    assert fate == [Sending.UNANSWERED if lost else Sending.ANSWERED, Sending.ANSWERED], (
        "set, and removed"
    )
    assert ("settling" in notes(events)) is lost
    assert read_own_configs(connection, [ConfigEntity.of_topic(topic)], keys=THROTTLE_KEYS) == {
        ConfigEntity.of_topic(topic): {}
    }


@pytest.mark.matrix
@pytest.mark.on("4.4.0")
@pytest.mark.parametrize("late", [False, True], ids=["while it settles", "after its end"])
def test_the_rate_that_a_frozen_broker_sets_late_is_removed_or_found(
    kraft: Sandbox,
    connection: KafkaConnection,
    context: Context,
    proxy: BrokerProxy,
    events: list[Event],
    monkeypatch: pytest.MonkeyPatch,
    *,
    late: bool,
) -> None:
    """Broker 4 freezes with the request for its own rate, the operation goes on without it, and the
    broker thaws.
    """
    topic = make_topic(connection, {0: (1, 2, 4)})
    frozen = ExitStack()
    monkeypatch.setattr(requests, "CHANGE_S", 3.0)
    monkeypatch.setattr(settling, "SETTLE_S", 2.0 if late else 20.0)

    def freeze() -> None:
        frozen.enter_context(servers_frozen(kraft, [4]))

    proxy.faults.append(Fault(Action.CALL, rates_of(kraft, 4), then=freeze))
    with frozen:
        runner = threading.Thread(
            target=apply,
            args=(context, plan(topic, (1, 2, 3), (1, 2, 4)), ClusterFacts(), 0),
            daemon=True,
        )
        runner.start()
        wait_until(lambda: "settling" in notes(events), 90)
        if late:
            runner.join(60)
    runner.join(120)
    wait_assigned(connection, {TopicPartition(topic, 0): (1, 2, 3)})
    assert writes_unanswered(config_steps(context))
    if late:
        try:
            # Until the broker is unfenced, its throttle is not known.
            wait_until(lambda: origins(context, BROKER_4) == {Origin.LEFT_OVER}, 60)
        finally:
            alter_configs(
                connection,
                {BROKER_4: {key: ConfigEdit(ConfigOperation.DELETE) for key in RATES}},
                broker_id=4,
            )
    else:
        assert "applied late on 1 broker" in notes(events)
    wait_until(lambda: own_rates(connection) == {}, 60)


def rates_of(kraft: Sandbox, broker_id: int) -> Callable[[Frame], bool]:
    """Match requests to change a broker's rates; those for lists of replicas go to any broker."""
    changes_rates = request_with(ALTER_CONFIGS, RATES[0].encode())
    return lambda frame: changes_rates(frame) and frame.port == kraft.broker_ports[broker_id]


def origins(context: Context, entity: ConfigEntity) -> set[Origin]:
    return {each.origin for each in audit(context) if each.entity == entity}


def own_rates(connection: KafkaConnection) -> dict[str, str]:
    return read_own_configs(connection, [BROKER_4], keys=RATES, broker_id=4)[BROKER_4]
