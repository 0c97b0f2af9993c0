"""Random losses of leaders on live brokers: the bounds that a recovery shows hold the true loss."""

from __future__ import annotations

import random
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import kafka
import pytest
from kafka.errors import KafkaTimeoutError
from support.live.errands import MODES, OLD_VERSIONS, OldBrokers, cluster_of, modes
from support.live.lost_leaders import ends, leaderless, propose, stop, waive
from support.live.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from support.live.errands import Brokers

    from kadmin.cluster.model import TopicPartition
    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.live

CASES, MOST = 10, 40
LOSSES = [
    *(pytest.param(seed, marks=pytest.mark.matrix) for seed in range(2)),
    *(pytest.param(seed, marks=pytest.mark.executor) for seed in range(2, 10)),
]
"""Seeds: each loss has CASES partitions, so all have a hundred."""


WITH_TRANSACTIONS = [each for each in OLD_VERSIONS if not each.startswith("0.")]


@pytest.fixture(
    scope="module",
    params=[*MODES, *modes(WITH_TRANSACTIONS, "zookeeper", pytest.mark.executor)],
)
def lone_sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    with cluster_of(request.param, tmp_path_factory) as found:
        yield found


@pytest.fixture
def brokers(lone_brokers: Brokers) -> Brokers:
    return lone_brokers


def write(brokers: Brokers, number: int, partition: TopicPartition, records: int) -> None:
    """Write as one kind of producer: plain, idempotent with keys, or of a transaction."""
    settings: dict[str, Any] = {"acks": "all"}
    transactional = number % 3 == 2
    if number % 3:
        settings["enable_idempotence"] = True
    if transactional:
        settings["transactional_id"] = str(partition)
    servers = list(brokers.sandbox.bootstrap)
    with closing(kafka.KafkaProducer(bootstrap_servers=servers, **settings)) as producer:
        if transactional:
            producer.init_transactions()
            producer.begin_transaction()
        sent = [
            producer.send(partition.topic, b"v", key=b"%d" % (each % 5), partition=0)
            for each in range(records)
        ]
        if transactional:
            producer.commit_transaction()
        for each in sent:
            each.get(timeout=30)


def commit(brokers: Brokers, partition: TopicPartition, offset: int) -> None:
    """Commit an offset as a consumer group of the partition's own, if it has a coordinator."""
    asked = kafka.TopicPartition(partition.topic, partition.partition)
    with closing(
        kafka.KafkaConsumer(
            bootstrap_servers=list(brokers.sandbox.bootstrap),
            group_id=f"group-{partition.topic}",
            enable_auto_commit=False,
        )
    ) as consumer:
        consumer.assign([asked])
        with suppress(KafkaTimeoutError):
            consumer.commit({asked: kafka.OffsetAndMetadata(offset, "", -1)}, timeout_ms=10_000)


@pytest.mark.parametrize("seed", LOSSES)
def test_the_bounds_hold_the_true_loss_and_the_least_is_lost(
    brokers: Brokers, tmp_path: Path, seed: int, record_property: Callable[[str, object], None]
) -> None:
    record_property("seed", seed)
    chance = random.Random(seed)  # noqa: S311 - a seed
    dying = chance.sample([1, 2, 3], 3)
    partitions = [made(brokers, chance, number, dying[-1]) for number in range(CASES)]
    sample = ("sample", "--once", "--out", str(tmp_path / "samples"))
    sampled_last = chance.random() < 0.5
    for broker in dying:
        for number, partition in enumerate(partitions):
            # Transactions need more brokers than the last phase has.
            kind = number if broker == dying[0] else 0
            write(brokers, kind, partition, chance.randint(1, MOST))
        if broker == dying[-1]:
            break
        stop(brokers, broker, partitions)
    truth = {each: ends(brokers, each)[dying[-1]] for each in partitions}
    for each in chance.sample(partitions, CASES // 2):
        commit(brokers, each, chance.randint(1, truth[each]))
    assert brokers.kadmin(*sample).status == 0
    if not sampled_last:
        for each in partitions:
            write(brokers, 0, each, chance.randint(1, MOST))
        truth = {each: ends(brokers, each)[dying[-1]] for each in partitions}
    stop(brokers, dying[-1], partitions, kill=True)
    for broker in dying[:-1]:
        brokers.sandbox.start_broker(broker)
    wait_until(lambda: leaderless(brokers) >= set(partitions))
    wait_until(lambda: brokers.state().brokers.keys() >= {*dying[:-1], 4})
    losses = judge(brokers, tmp_path, partitions, truth, bounded=sampled_last)
    record_property("losses", losses)


def made(brokers: Brokers, chance: random.Random, number: int, last: int) -> TopicPartition:
    """Make a topic of one partition on the broker that dies last and one or two others."""
    others = [each for each in (1, 2, 3) if each != last]
    replicas = [last, *chance.sample(others, chance.randint(1, 2))]
    chance.shuffle(replicas)
    (found,) = brokers.topic({0: tuple(replicas)})
    if number % 3 == 1:
        brokers.configure(found.topic, "cleanup.policy", "compact")
    return found


def judge(
    brokers: Brokers,
    folder: Path,
    partitions: Sequence[TopicPartition],
    truth: dict[TopicPartition, int],
    *,
    bounded: bool,
) -> list[tuple[int, int | None, int | None]]:
    """Recover, and return the true loss of each partition with its bounds: at least, at most."""
    losses = []
    plan = folder / "recovery.yaml"
    found = propose(brokers, plan, "--samples", str(folder / "samples"))
    rows = {each["topic"]: each for each in found["partitions"]}
    left = {each: ends(brokers, each) for each in partitions}
    waive(plan, "impatient", "internal")
    # The topic of transactions may be without a leader itself.
    records = ("--records", str(folder / "records")) if brokers.sandbox.spec.kraft else ()
    # Before 2.4 the operation is open until every replica is in sync.
    stays_open = isinstance(brokers, OldBrokers)
    leave = ("--leave",) if stays_open else ()
    applied = brokers.kadmin("apply", str(plan), "--yes", *records, *leave)
    assert applied.status == (8 if stays_open else 0), applied.err
    for each in partitions:
        row, best = rows[each.topic], max(left[each].values())
        told = {copy["broker_id"]: copy["end_offset"] for copy in row["copies"]}
        assert told == left[each]
        now = brokers.state().states[each].leader
        assert (now, left[each][now]) == (row["leader"], best)
        lost = truth[each] - best
        at_least, at_most = row["records_lost"], row["records_lost_at_most"]
        losses.append((lost, at_least, at_most))
        assert at_least is None or at_least <= lost
        if bounded:
            assert at_most is not None
            assert lost <= at_most
        assert ends(brokers, each)[now] == best
    if stays_open:
        brokers.start()
        done = brokers.kadmin("resume", "--yes")
        assert done.status == 0, done.err
        assert all(len(set(ends(brokers, each).values())) == 1 for each in partitions)
    return losses
