"""Lock, fence and record in a topic of the cluster, on a live cluster in KRaft mode."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from support.cluster.states import tp
from support.live.kraft import KraftCluster, make_topic, wait_assigned
from support.live.waiting import freeze, thaw, wait_until
from support.stores import ignore, in_topic

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.documents import dump_json
from kadmin.errors import (
    BusyError,
    InvalidInputError,
    KadminError,
    NotCompletedError,
    UnreachableError,
)
from kadmin.operations.context import Clock
from kadmin.operations.decide.kinds import kind_of, record_of
from kadmin.operations.execute.apply import prepare
from kadmin.operations.record.codec import encode_record, encode_status
from kadmin.operations.record.holder import Holder, LostLockError
from kadmin.operations.record.record import (
    KEPT_OPERATIONS,
    Author,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
    StoredOperation,
)
from kadmin.operations.record.step_codec import encode_step
from kadmin.operations.record.steps import ElectionStep, WaveStep
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.operations.record.throttle_request import ThrottleRequest
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan
from kadmin.worlds.kafka.cluster import kafka_context
from kadmin.worlds.kafka.values import topic_reader
from kadmin.worlds.kafka.values.folder import FolderValues
from kadmin.worlds.kafka.values.topic import TopicValues
from kadmin.worlds.kafka.values.topic_log import encode_lock
from kadmin.worlds.kafka.wire.configs import (
    ConfigEdit,
    ConfigOperation,
    alter_configs,
    read_own_configs,
)
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.partition_log import Fetched, fetch_committed
from kadmin.worlds.kafka.wire.transactions import (
    FencedError,
    TransactionalProducer,
    append_record,
    producer_id_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kadmin.operations.context import Context
    from kadmin.operations.events import Event
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.store import OperationStore
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.metadata import TopicMetadata
    from kadmin.worlds.kafka.wire.model import Quorum


LEASE_S = 2.0
WAIT_S = 60
OP_1, OP_2, OP_9 = (f"20260101T000000Z-00000{number}" for number in (1, 2, 9))
ANN = Holder(Author("ann", "host-a", 7), OP_1, "now", LEASE_S)
BEN = Holder(Author("ben", "host-b", 8), OP_2, "now", LEASE_S)
STEP = WaveStep(1, "now", 0)
_topics = itertools.count()


@pytest.fixture
def topic() -> str:
    return f"__kadmin-{next(_topics)}"


@pytest.fixture
def told() -> list[Event]:
    return []


@pytest.fixture
def store(
    connection: KafkaConnection, topic: str, told: list[Event]
) -> Callable[[], OperationStore]:
    """Makes stores on one topic: each is another process."""
    return lambda: in_topic(connection, told.append, LEASE_S, topic)


def values(operations: OperationStore) -> TopicValues:
    assert isinstance(operations.lock, TopicValues)
    return operations.lock


def stop_renewing(operations: OperationStore) -> None:
    """Let the lease run out, as of a process that is stopped."""
    writer = values(operations)._writer
    assert writer is not None
    writer._closed.set()


def beside(topic: OperationStore, folder: Path, clock: Clock | None = None) -> FolderValues:
    return FolderValues(folder, clock or Clock(), values(topic), ignore)


def recorded(operation_id: str, plan: str = "{}") -> OperationRecord:
    origin = {tp("a-0"): (1, 2)}
    return OperationRecord(
        operation_id, OperationKind.ELECTION, plan, "sha256:0", "id", "now", ANN.author, origin
    )


@pytest.mark.live
def test_a_read_makes_no_topic_and_a_take_does(
    store: Callable[[], OperationStore], connection: KafkaConnection, topic: str, told: list[Event]
) -> None:
    operations = store()
    assert operations.lock.holder() is None
    assert operations.listings() == ()
    with pytest.raises(InvalidInputError, match=f"no operation {OP_9}"):
        operations.status(OP_9)
    assert topic not in read_metadata(connection).topics
    operations.lock.release(operations.lock.take(ANN, 0))
    found = read_metadata(connection).topics[topic].partitions
    assert [len(each.replicas) for each in found.values()] == [3, 3]
    (note,) = told
    assert f"topic {topic} with replication factor 3 was created" in str(note)


@pytest.mark.live
def test_the_lock_is_held_once_and_given_back(store: Callable[[], OperationStore]) -> None:
    first, second = store(), store()
    lease = first.lock.take(ANN, 0)
    assert second.lock.holder() == first.lock.holder() == ANN
    with pytest.raises(BusyError, match="ann@host-a"):
        second.lock.take(BEN, 0)
    first.lock.release(lease)
    assert second.lock.holder() is None
    again = second.lock.take(BEN, 0)
    assert again.token > lease.token
    with pytest.raises(LostLockError):
        first.write_step(STEP, lease)
    second.lock.release(again)


@pytest.mark.matrix
@pytest.mark.live
def test_a_holder_renews_its_lease_and_a_dead_one_loses_it(
    store: Callable[[], OperationStore],
) -> None:
    first, second = store(), store()
    lease = first.lock.take(ANN, 0)
    with pytest.raises(BusyError):
        second.lock.take(BEN, 3 * LEASE_S)
    first.create(recorded(OP_1), lease, "now")
    stop_renewing(first)
    taken = second.lock.take(BEN, 10 * LEASE_S)
    with pytest.raises(LostLockError, match=rf"ben@.* took over, for operation {OP_2}"):
        first.write_step(STEP, lease)
    with pytest.raises(LostLockError, match=r"ben@.* took over"):
        first.lock.retake(lease, ANN)
    second.write_step(STEP, taken)
    assert second.steps(OP_1) == ()
    assert second.steps(OP_2) == (STEP,)
    first.lock.release(lease)
    assert second.lock.holder() == BEN, "a lock that is no longer ours is left alone"
    second.lock.release(taken)


@pytest.mark.live
def test_a_folder_waits_for_a_whole_lease_before_a_holder_counts_as_dead(
    store: Callable[[], OperationStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By this machine's clock, which goes ahead, every renewal is old."""
    runner = store()
    lease = runner.lock.take(ANN, 0)
    monkeypatch.setattr("kadmin.worlds.kafka.values.topic.time.time", lambda: 2**33)
    with pytest.raises(BusyError, match="in use") as held:
        beside(store(), tmp_path).take(BEN, 0)
    assert held.value.cause == f"{ANN} holds the lock there"
    hurried = Clock()
    hurried.until = hurried.now()
    with pytest.raises(BusyError, match="in use"):
        beside(store(), tmp_path, hurried).take(BEN, 0)
    stop_renewing(runner)
    folder = beside(store(), tmp_path)
    folder.release(folder.take(BEN, 0))
    with suppress(LostLockError):
        runner.lock.release(lease)


@pytest.mark.parametrize(
    "times",
    [pytest.param(1, marks=pytest.mark.live), pytest.param(100, marks=pytest.mark.executor)],
)
def test_k09_of_two_takers_in_the_same_instant_one_gets_the_lock(
    connection: KafkaConnection, topic: str, times: int
) -> None:
    """Their leases outlast a renewal that is late on a busy machine."""
    for _ in range(times):
        race(lambda: in_topic(connection, lease_s=WAIT_S, name=topic))


def race(store: Callable[[], OperationStore]) -> None:
    """Let two take a free lock at once; require that one of them holds it, and can write."""
    stores = {holder: store() for holder in (ANN, BEN)}
    stores[ANN].lock.release(stores[ANN].lock.take(ANN, 0))
    ready = threading.Barrier(2)

    def take(holder: Holder) -> Lease | None:
        ready.wait(WAIT_S)
        try:
            return stores[holder].lock.take(holder, 0)
        except BusyError:
            return None

    with ThreadPoolExecutor() as threads:
        leases = dict(zip(stores, threads.map(take, stores), strict=True))
    ((winner, lease),) = [(holder, lease) for holder, lease in leases.items() if lease is not None]
    assert store().lock.holder() == replace(winner, session_timeout_s=WAIT_S)
    stores[winner].write_step(STEP, lease)
    stores[winner].lock.release(lease)


@pytest.mark.eras
def test_a_commit_that_meets_a_fence_is_carried_out_or_fenced(
    kraft: Sandbox, connection: KafkaConnection
) -> None:
    """About one in a hundred meets it inside the coordinator, which answers UNKNOWN_SERVER_ERROR at
    first.
    """
    topic = make_topic(connection, {0: (1, 2, 3)})
    with KafkaConnection(Servers(kraft.bootstrap)) as elsewhere, ThreadPoolExecutor() as threads:
        for _ in range(200):
            producer = TransactionalProducer(connection, topic, topic)
            producer.add(0, [("key", b"value")])
            fence = threads.submit(TransactionalProducer, elsewhere, topic, topic)
            with suppress(FencedError):
                producer.commit()
            assert fence.result(WAIT_S).identity.epoch > producer.identity.epoch


@pytest.mark.live
def test_a_lock_that_was_released_by_hand_writes_no_more(
    store: Callable[[], OperationStore],
) -> None:
    operations, elsewhere = store(), store()
    lease = operations.lock.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    with pytest.raises(BusyError, match=f"{OP_1}, not {OP_9}"):
        elsewhere.lock.release_by_hand(OP_9)
    assert elsewhere.lock.release_by_hand(OP_1) == ANN
    with pytest.raises(LostLockError):
        operations.write_step(STEP, lease)
    assert elsewhere.steps(OP_1) == ()
    operations.lock.release(lease)
    with pytest.raises(InvalidInputError, match="The lock is free"):
        elsewhere.lock.release_by_hand(OP_1)


@pytest.mark.live
def test_k09_a_holder_that_was_fenced_by_one_that_stood_back_goes_on(
    store: Callable[[], OperationStore], connection: KafkaConnection, topic: str
) -> None:
    operations = store()
    lease = operations.lock.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    TransactionalProducer(connection, topic, topic)
    operations.write_step(STEP, lease)
    assert store().steps(OP_1) == (STEP,)
    operations.lock.release(lease)


@pytest.mark.live
def test_k11_only_the_holder_writes_and_everybody_asks(
    store: Callable[[], OperationStore], connection: KafkaConnection, topic: str, told: list[Event]
) -> None:
    operations = store()
    lease = operations.lock.take(ANN, 0)
    operations.create(recorded(OP_1, json.dumps({"filling": "x" * 2_000_000})), lease, "now")
    status = operations.status(OP_1)
    control, operation = TopicPartition(topic, 0), f"operations/{OP_1}"
    append_record(connection, control, f"{operation}/status", b"{}")
    append_record(connection, control, "lock", b"{}")
    for foreign in (
        f"{operation}/../../../../../evil/request",
        f"{operation}/steps/throttle",
        f"{operation}/steps/request",
    ):
        append_record(connection, control, foreign, b"garbage")
    stranger = TransactionalProducer(connection, f"{topic}-stranger", topic)
    stranger.add(0, [(f"{operation}/status", b"{}")])
    stranger.commit()
    elsewhere = store()
    assert elsewhere.status(OP_1) == status
    assert elsewhere.lock.holder() == ANN
    assert elsewhere.steps(OP_1) == ()
    assert sum("does not come from the holder" in str(event) for event in told) == 3
    assert sum("which is none of kadmin's" in str(event) for event in told) == 3
    pause, cancel = (StopRequest(stop, "ben", "now") for stop in (Stop.PAUSE, Stop.CANCEL))
    assert elsewhere.ask(OP_1, cancel) == cancel
    assert elsewhere.ask(OP_1, pause) == cancel, "a weaker request does not replace a stronger one"
    rate = ThrottleRequest(5000, "ben", "now")
    elsewhere.ask_throttle(OP_1, rate)
    assert operations.request(OP_1) == cancel
    assert operations.throttle_request(OP_1) == rate
    resumed = OperationStatus(OperationState.RUNNING, "later", by="ben@h2")
    operations.reopen(OP_1, resumed, lease)
    assert elsewhere.request(OP_1) is None
    assert elsewhere.record(OP_1) == recorded(OP_1, json.dumps({"filling": "x" * 2_000_000}))
    operations.set_status(OP_1, OperationStatus(OperationState.FAILED, "later", "why"), lease)
    with pytest.raises(KadminError, match="is failed and cannot become running"):
        operations.set_status(OP_1, resumed, lease)
    operations.lock.release(lease)


@pytest.mark.on("4.4.0")
@pytest.mark.live
def test_a_holder_whose_reader_keeps_a_deposed_leader_sees_what_was_asked(
    store: Callable[[], OperationStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deposed leader is modelled: it answers without an error what it knew, until the reader
    asks who leads.
    """
    operations, looks = store(), list[object]()
    lease = operations.lock.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    operations.status(OP_1)
    known, look = values(operations)._reader._next, values(operations)._reader._look

    def counted() -> TopicMetadata | None:
        looks.append(None)
        return look()

    def deposed(*arguments: Any, **options: Any) -> Fetched:  # noqa: ANN401 - as fetch_committed
        found = fetch_committed(*arguments, **options)
        if looks:
            return found
        entries = tuple(each for each in found.entries if each.offset < known)
        return Fetched(entries, min(found.next_offset, known), known, known)

    cancel = StopRequest(Stop.CANCEL, "ben", "now")
    store().ask(OP_1, cancel)
    monkeypatch.setattr(values(operations)._reader, "_look", counted)
    monkeypatch.setattr(topic_reader, "fetch_committed", deposed)
    assert operations.request(OP_1) is None
    operations.confirm(lease)  # as each renewal of the lease
    assert operations.request(OP_1) == cancel
    monkeypatch.setattr(topic_reader, "PATIENCE_S", 0.1)
    values(operations)._reader.reach(2**40)
    with pytest.raises(UnreachableError, match="before what this process wrote"):
        operations.request(OP_1)
    operations.lock.release(lease)


@pytest.mark.live
def test_a_reader_names_the_epoch_of_the_leader_and_asks_again_where_it_is_another(
    store: Callable[[], OperationStore],
) -> None:
    operations = store()
    operations.lock.release(operations.lock.take(ANN, 0))
    led = values(operations)._reader._leaders[0]
    values(operations)._reader._leaders[0] = replace(led, leader_epoch=led.leader_epoch + 7)
    assert operations.lock.holder() is None
    assert values(operations)._reader._leaders[0].leader_epoch == led.leader_epoch


@pytest.mark.live
def test_no_operation_is_on_record_only_as_a_broker_sees_it_that_has_caught_up(
    store: Callable[[], OperationStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a controller to compare with, a topic that a broker does not know may be there."""

    def silent(_: KafkaConnection) -> Quorum | None:
        raise UnreachableError("no controller answers")

    monkeypatch.setattr(topic_reader, "read_quorum", silent)
    with pytest.raises(UnreachableError, match="no controller answers"):
        store().unfinished()
    monkeypatch.undo()
    first = store()
    first.lock.release(first.lock.take(ANN, 0))
    monkeypatch.setattr(topic_reader, "read_quorum", silent)
    assert store().unfinished() == (), "a topic that is there is read without one"


@pytest.mark.live
def test_a_claim_by_another_transactional_id_ends_no_holder(
    store: Callable[[], OperationStore], connection: KafkaConnection, topic: str, told: list[Event]
) -> None:
    """For the holder, for a reader and for a taker; what it writes after its claim counts for none
    of them.
    """
    operations, reader = store(), store()
    lease = operations.lock.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    assert reader.lock.holder() == ANN
    stranger = TransactionalProducer(connection, f"{topic}-stranger", topic)
    stranger.add(
        0, [("claim", b"{}"), ("lock", encode_lock(None, 0)), (f"operations/{OP_1}/status", None)]
    )
    stranger.commit()
    operations.write_step(STEP, lease)
    for each in (operations, reader, store()):
        assert each.lock.holder() == ANN
        assert each.steps(OP_1) == (STEP,)
        assert each.status(OP_1).state is OperationState.RUNNING
    assert not any("steps" in str(event) for event in told)
    operations.lock.release(lease)
    taker = store()
    assert taker.lock.holder() is None
    taker.lock.release(taker.lock.take(BEN, 0))
    assert producer_id_of(connection, topic) not in {None, stranger.identity.producer_id}
    assert producer_id_of(connection, f"{topic}-nobody") is None


@pytest.mark.live
def test_only_the_last_finished_operations_are_kept(store: Callable[[], OperationStore]) -> None:
    operations = store()
    lease = operations.lock.take(ANN, 0)
    for number in range(2):
        operations.create(recorded(f"20260101T000000Z-{number:06d}"), lease, "now")
        operations.write_step(STEP, lease)
        operations.set_status(
            f"20260101T000000Z-{number:06d}",
            OperationStatus(OperationState.COMPLETED, "now"),
            lease,
        )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("kadmin.operations.record.record.KEPT_OPERATIONS", 1)
        operations.prune(lease)
    assert KEPT_OPERATIONS > 1
    assert [each.operation_id for each in store().listings()] == [OP_1]
    operations.lock.release(lease)


@pytest.mark.matrix
@pytest.mark.on("4.4.0")
def test_k12_a_reader_waits_for_a_transaction_until_the_coordinator_aborts_it(
    store: Callable[[], OperationStore],
    kraft: Sandbox,
    connection: KafkaConnection,
    topic: str,
    told: list[Event],
) -> None:
    """transaction.timeout.ms is 10 s, and the coordinator looks every 10 s; a taker does not
    wait.
    """
    operations = store()
    lease = operations.lock.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    operations.lock.release(lease)
    with KafkaConnection(Servers(kraft.bootstrap)) as dying:
        TransactionalProducer(dying, topic, topic).add(
            0, [(f"operations/{OP_1}/status", b"never committed")]
        )
    told.clear()
    assert store().status(OP_1).state is OperationState.RUNNING
    assert told == [], "the reader waited until nothing was hidden"
    dead = TransactionalProducer(connection, topic, topic)
    dead.add(0, [(f"operations/{OP_1}/status", b"never committed")])
    taken = operations.lock.take(BEN, 0)
    with pytest.raises(FencedError):
        dead.commit()
    operations.lock.release(taken)


@pytest.mark.matrix
@pytest.mark.on("4.4.0")
def test_k10_below_min_isr_nothing_is_written_and_reading_goes_on(
    store: Callable[[], OperationStore], kraft: Sandbox, topic: str, connection: KafkaConnection
) -> None:
    operations = store()
    lease = operations.lock.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    replicas = read_metadata(connection).topics[topic].partitions[0].replicas
    for broker in replicas[1:]:
        kraft.stop_broker(broker)
    try:
        with pytest.raises(UnreachableError, match="did not") as refused:
            operations.write_step(STEP, lease)
        assert "in-sync replicas" in str(refused.value.cause)
        assert store().status(OP_1).state is OperationState.RUNNING
    finally:
        for broker in replicas[1:]:
            kraft.start_broker(broker)
    operations.write_step(STEP, lease)
    assert store().steps(OP_1) == (STEP,)
    operations.lock.release(lease)


@pytest.mark.live
def test_an_operation_is_adopted_whose_steps_are_larger_than_a_batch(
    store: Callable[[], OperationStore],
) -> None:
    """As of an election of 30,000 partitions and more, which `history import` brings."""
    operations = store()
    lease = operations.lock.take(ANN, 0)
    elected = [
        tuple(tp(f"{'payments' * 4}-{number}-{each}") for each in range(500))
        for number in range(70)
    ]
    steps = tuple(ElectionStep(at + 1, "now", each) for at, each in enumerate(elected))
    encoded = {f"{step.number:06d}": encode_step(step) for step in steps}
    assert sum(map(len, encoded.values())) > 1_048_588
    status = encode_status(OperationStatus(OperationState.COMPLETED, "now"), recorded(OP_1))
    operations.adopt(
        StoredOperation(OP_1, status, encode_record(recorded(OP_1)), encoded, None), lease
    )
    operations.lock.release(lease)
    assert store().steps(OP_1) == steps
    assert store().status(OP_1).state is OperationState.COMPLETED


@pytest.mark.live
def test_a_topic_that_would_lose_records_is_read_and_refused_with_the_command_that_mends_all_of_it(
    store: Callable[[], OperationStore], connection: KafkaConnection, topic: str
) -> None:
    operations = store()
    lease = operations.lock.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    operations.lock.release(lease)
    entity = ConfigEntity.of_topic(topic)
    wrong = (
        ("cleanup.policy", "delete", "compact"),
        ("min.insync.replicas", "4", "2"),
        ("unclean.leader.election.enable", "true", "false"),
        ("max.message.bytes", "500000", "1048588"),
    )
    for key, bad, _ in wrong:
        _set(connection, entity, key, bad)
    for write in (store().lock.to_create, lambda: store().lock.take(ANN, 0)):
        with pytest.raises(NotCompletedError) as refused:
            write()
        said = (
            "its cleanup.policy is delete; its min.insync.replicas is 4, above the replication "
            "factor; it allows"
        )
        assert said in refused.value.message
        settings = ",".join(f"{key}={mended}" for key, _, mended in wrong)
        assert str(refused.value.next_command).endswith(
            f"--entity-name {topic} --add-config {settings}"
        )
    assert [each.operation_id for each in store().listings()] == [OP_1], (
        "history reads all the same"
    )
    for key, _, mended in wrong:
        _set(connection, entity, key, mended)
    operations = store()
    operations.lock.release(operations.lock.take(ANN, 0))


def _set(connection: KafkaConnection, entity: ConfigEntity, key: str, value: str) -> None:
    alter_configs(connection, {entity: {key: ConfigEdit(ConfigOperation.SET, value)}})
    brokers = read_metadata(connection, ()).brokers
    wait_until(
        lambda: all(
            read_own_configs(connection, [entity], broker_id=each)[entity].get(key) == value
            for each in brokers
        ),
        WAIT_S,
    )


HOLDER = """
import sys
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.cluster.servers import Servers
from kadmin.errors import KadminError
from kadmin.operations.context import Clock
from kadmin.operations.store import OperationStore
from kadmin.worlds.kafka.values.topic import TopicValues
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author
from kadmin.operations.record.steps import WaveStep

with KafkaConnection(Servers(sys.argv[1].split(","))) as connection:
    values = TopicValues(connection, Clock(), lambda _: None, float(sys.argv[3]), sys.argv[2])
    operations = OperationStore(values, lambda _: None)
    author = Author("ann", "host-a", 7)
    holder = Holder(author, "20260101T000000Z-000001", "now", values.session_timeout_s)
    lease = values.take(holder, 0)
    print("taken", flush=True)
    for line in sys.stdin:
        try:
            operations.write_step(WaveStep(int(line), "now", 0), lease)
            print("written", flush=True)
        except KadminError as error:
            print(type(error).__name__, flush=True)
"""


@pytest.mark.live
def test_k07_a_holder_that_was_stopped_past_its_lease_writes_no_more(
    store: Callable[[], OperationStore], kraft: Sandbox, topic: str
) -> None:
    """SIGSTOP, take-over, SIGCONT: what the zombie writes is refused, and nothing of it is on
    record.
    """
    arguments = [sys.executable, "-c", HOLDER, ",".join(kraft.bootstrap), topic, str(LEASE_S)]
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def write(number: int) -> None:
            print(number, file=process.stdin, flush=True)

        try:
            assert process.stdout.readline() == "taken\n"
            write(1)
            assert process.stdout.readline() == "written\n"
            freeze(process.pid)
            write(2)
            successor = store()
            lease = successor.lock.take(replace(BEN, operation_id=OP_1), 10 * LEASE_S)
            successor.write_step(replace(STEP, number=3), lease)
            thaw(process.pid)
            assert process.stdout.readline() == "LostLockError\n"
            write(4)
            assert process.stdout.readline() == "LostLockError\n"
        finally:
            process.kill()
    assert [each.number for each in store().steps(OP_1)] == [1, 3]
    assert successor.lock.holder() == replace(BEN, operation_id=OP_1)
    successor.lock.release(lease)


@pytest.mark.live
def test_commands_work_through_the_topic(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path, told: list[Event]
) -> None:
    cluster = KraftCluster(kraft, connection)
    assert "free" in cluster.kadmin("lock", "show").out
    moved = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(moved, (3, 4), (1, 2)),))
    context = kafka_context(connection, None, Clock(), told.append, LEASE_S)
    lease, operation_id = start(context, plan)
    assert "ann@host-a" in cluster.kadmin("lock", "show").out
    assert "ann@host-a" in cluster.kadmin("status").out
    (tmp_path / "plan.json").write_text(dump_json(plan))
    assert cluster.kadmin("apply", tmp_path / "plan.json", "--yes").status == BusyError.exit_code
    assert cluster.kadmin("lock", "release", operation_id, "--yes").status == 0
    with pytest.raises(LostLockError):
        context.operations.write_step(STEP, lease)
    context.operations.lock.release(lease)
    resumed = cluster.kadmin("resume", operation_id, "--yes")
    assert resumed.status == 0, resumed.err
    wait_assigned(connection, {moved: (3, 4)})
    operations = json.loads(cluster.kadmin("history", "-o", "json").out)["operations"]
    assert {each["operation_id"]: each["state"] for each in operations}[operation_id] == "completed"
    assert "free" in cluster.kadmin("lock", "show").out


def start(context: Context, plan: ReassignmentPlan) -> tuple[Lease, str]:
    """Put an operation on record, as a runner does that is then busy elsewhere."""
    holder = replace(context.new_holder(), author=ANN.author)
    lease = context.operations.lock.take(holder, 0)
    examined = prepare(context, plan, ClusterFacts())
    assert examined.examination.work is not None
    record = record_of(kind_of(plan), plan, examined.examination.work, examined.state, holder)
    context.operations.create(record, lease, record.created_at)
    return lease, holder.operation_id
