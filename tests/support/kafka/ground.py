"""A throttled reassignment of two waves in true processes, which are killed or stopped at any of
their writes.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from support.documents.plans import document, reassignment
from support.executor.throttling import rates_on_record
from support.kafka.broker_proxy import BrokerProxy
from support.kafka.processes import LEASE_S, KadminProcess
from support.kafka.writes import points_of, sent_off_record, targets_of
from support.live.kraft import make_topic, wait_assigned
from support.live.waiting import freeze, thaw, wait_until
from support.network.frame_proxy import Action
from support.stores import in_topic

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import Sending, intents, waves_of
from kadmin.plan.throttle import LEADER_RATE, THROTTLE_KEYS
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.connection import uptime_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from support.cli.in_process import Answer
    from support.kafka.writes import LastLook, WritePoint
    from support.network.frame_proxy import Frame

    from kadmin.cluster.model import Replicas
    from kadmin.operations.record.record import Listing, OperationRecord
    from kadmin.operations.record.steps import Step
    from kadmin.plan.throttle import ConfigValues
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

ORIGIN = (1, 2)
TARGET = (3, 1)
"""The old leader stays among the replicas: an election is needed."""
WAVES = 2
STOPPED_BY_S = 120
FASTER = 200
"""Ten minutes take three seconds."""
PACED = {
    "throttle": {"rate": {"min": "10MB/s", "max": "200MB/s"}, "pair": 2},
    "hours": {
        "within": [
            f"{hour:02}:{at}0-{hour:02}:{at + 1}0" for hour in range(24) for at in (0, 2, 4)
        ],
        "zone": "UTC",
    },
}


@dataclass(frozen=True, slots=True)
class Seen:
    """What a cluster shows of one topic: replicas, throttles, and all that is on record about its
    operations.
    """

    replicas: dict[TopicPartition, Replicas | None]
    throttles: ConfigValues
    record: list[tuple[Listing, OperationRecord, tuple[Step, ...]]]


@dataclass(frozen=True, slots=True)
class TakeOver:
    """What was wrong after a runner was taken over, and whether it was `stopped` at all before it
    ended.
    """

    wrong: list[str]
    stopped: bool


class Ground:
    """A topic of its own with its plan, and proxies that see every request of every run."""

    def __init__(
        self, sandbox: Sandbox, connection: KafkaConnection, folder: Path, *, paced: bool = False
    ) -> None:
        """`paced`: its rate is a range, and it has hours, which begin and end in each run."""
        self._sandbox = sandbox
        self._connection = connection
        self._frames: list[list[Frame]] = []
        self._topic = make_topic(connection, dict.fromkeys(range(WAVES), ORIGIN))
        self._before = self.seen()
        plan = reassignment(
            self._topic,
            dict.fromkeys(range(WAVES), TARGET),
            waves={"max_partitions": 1},
            elect="at_end",
            **(PACED if paced else {"throttle": {"rate": "10MB/s"}}),
        )
        self._faster = FASTER if paced else 1.0
        self._machines = (folder / f"{self._topic}-machine-{number}" for number in count())
        self._apply = ("apply", document(folder / f"{self._topic}.json", plan), "--yes")

    def points(self) -> list[WritePoint]:
        """Every write of an undisturbed apply, before and after it is forwarded."""
        clean = self._run(*self._apply)
        assert clean.status == 0, clean.err
        return points_of(self._frames[-1])

    def kill(self, *points: WritePoint) -> list[str]:
        """Kill an apply at the first point and each resume after it at the next, recover, and say
        what is wrong.
        """
        self._run(*self._apply, kill=points[0])
        found = list(self._off_record())
        for point in points[1:]:
            self._run("resume", "--yes", kill=point)
            found += self._off_record()
        found += [*self._recover(), *self._judge(OperationState.COMPLETED)]
        return [f"killed {', then '.join(map(str, points))}: {each}" for each in found]

    def take_over(self, point: WritePoint | LastLook, *successor: str) -> TakeOver:
        """Stop an apply at a point until another process has ended its operation, wake it, and say
        what is wrong.
        """
        with self._stopped(point) as (zombie, proxy):
            if zombie.ended:  # runs differ in confirmations, and this one had no such write
                ended = zombie.answer()
                wrong = (
                    [f"not stopped {point}: {ended.status}: {ended.err}"] if ended.status else []
                )
                return TakeOver(wrong, stopped=False)
            taken = self._run(*successor)
            before, sent = self.seen(), len(proxy.frames)
            thaw(zombie.pid)
            woken = zombie.answer()
        late = points_of(proxy.frames[sent:])
        found = [
            *([f"{successor}: {taken.err}"] if taken.status else ()),
            *(
                [f"the old runner ended with {woken.status}: {woken.err}"]
                if woken.status not in _OVER
                else ()
            ),
            *(f"the old runner sent {each}" for each in late if each.write.startswith(_REQUESTS)),
            *self._judge(
                OperationState.COMPLETED if successor[0] == "resume" else OperationState.CANCELLED
            ),
            *(
                [f"changed since the old runner woke: {before} {self.seen()}"]
                if self.seen() != before
                else ()
            ),
        ]
        return TakeOver([f"stopped {point}: {each}" for each in found], stopped=True)

    def suspend(self, point: LastLook, seconds: float) -> list[str]:
        """Stop an apply for a time, wake it, and return its writes from there on."""
        with self._stopped(point) as (sleeper, proxy):
            assert not sleeper.ended
            sent, until = len(proxy.frames), uptime_s() + seconds
            wait_until(lambda: uptime_s() > until, STOPPED_BY_S)
            thaw(sleeper.pid)
            woken = sleeper.answer()
        assert woken.status == 0, woken.err
        assert list(self._judge(OperationState.COMPLETED)) == []
        return [each.write for each in points_of(proxy.frames[sent:]) if not each.forwarded]

    @contextmanager
    def _stopped(self, point: WritePoint | LastLook) -> Iterator[tuple[KadminProcess, BrokerProxy]]:
        with BrokerProxy(self._sandbox) as proxy:
            process = KadminProcess(
                proxy.bootstrap, *self._apply, faster=self._faster, state=next(self._machines)
            )
            stopped = threading.Event()

            def stop() -> None:
                freeze(process.pid)
                stopped.set()

            proxy.faults.append(point.fault(Action.CALL, stop))
            try:
                wait_until(lambda: stopped.is_set() or process.ended, STOPPED_BY_S)
                yield process, proxy
            finally:
                process.end()
        self._frames.append(proxy.frames)

    def seen(self) -> Seen:
        """Read what counts."""
        connection, operations = self._connection, in_topic(self._connection)
        state = read_cluster(connection, [self._topic])
        throttles = read_own_configs(
            connection, [ConfigEntity.of_topic(self._topic)], keys=THROTTLE_KEYS
        )
        for broker_id in self._sandbox.broker_ports:
            own = read_own_configs(
                connection,
                [ConfigEntity.of_broker(broker_id)],
                keys=THROTTLE_KEYS,
                broker_id=broker_id,
            )
            throttles |= own
        all_of_them = [
            (each, operations.record(each.operation_id)) for each in operations.listings()
        ]
        return Seen(
            {each: state.replicas(each) for each in self._partitions},
            throttles,
            [
                (each, record, operations.steps(each.operation_id))
                for each, record in all_of_them
                if not set(self._partitions).isdisjoint(record.origin)
            ],
        )

    @property
    def _partitions(self) -> list[TopicPartition]:
        return [TopicPartition(self._topic, number) for number in range(WAVES)]

    def _run(self, *arguments: str | Path, kill: WritePoint | None = None) -> Answer:
        """Run a command on a machine of its own, that has no copy of any record."""
        with BrokerProxy(self._sandbox) as proxy:
            process = KadminProcess(
                proxy.bootstrap, *arguments, faster=self._faster, state=next(self._machines)
            )
            if kill is not None:
                proxy.faults.append(kill.fault(Action.CUT_BEFORE, process.kill))
            answer = process.answer()
        self._frames.append(proxy.frames)
        return answer

    def _off_record(self) -> Iterator[str]:
        """Say which rates brokers have, and no operation on record has."""
        seen = self.seen()
        recorded = [rates_on_record(record, steps) for _, record, steps in seen.record]
        rates = {keys[LEADER_RATE] for keys in seen.throttles.values() if LEADER_RATE in keys}
        if wrong := rates.difference(*recorded):
            yield f"rates that are not on record: {wrong}"

    def _recover(self) -> Iterator[str]:
        """Resume; where nothing had been recorded yet, apply again, as kadmin itself says."""
        resumed = self._run("resume", "--yes")
        if resumed.status:
            yield f"resume: {resumed.err}"
        if not self.seen().record:
            again = self._run(*self._apply, "--lock-timeout", str(10 * LEASE_S))
            if again.status:
                yield f"apply again: {again.err}"

    def _judge(self, expected: OperationState) -> Iterator[str]:
        seen, operations = self.seen(), in_topic(self._connection)
        steps = [step for _, _, steps in seen.record for step in steps]
        if expected is OperationState.COMPLETED:
            wait_assigned(self._connection, dict.fromkeys(self._partitions, TARGET))
            leaders = {
                each.leader
                for each in read_cluster(self._connection, [self._topic]).states.values()
            }
            if leaders != {TARGET[0]}:
                yield f"led by {leaders}"
        else:
            wait_assigned(self._connection, self._on_record(steps))
        if seen.throttles != self._before.throttles:
            yield f"throttles are not what they were: {seen.throttles}"
        # One that was killed holds it for its lease.
        wait_until(lambda: operations.lock.holder() is None, STOPPED_BY_S)
        if operations.unfinished():
            yield f"unfinished: {operations.unfinished()}"
        if [each.status.state for each, _, _ in seen.record] != [expected]:
            yield f"operations: {[str(each.status) for each, _, _ in seen.record]}"
        if any(
            record.origin != dict.fromkeys(self._partitions, ORIGIN) for _, record, _ in seen.record
        ):
            yield "the original assignment is lost"
        waves = waves_of(steps)
        if waves != sorted(waves) or (
            expected is OperationState.COMPLETED and set(waves) != set(range(WAVES))
        ):
            yield f"steps on record of waves {waves}"
        sent = [intent.targets for _, intent in intents(steps)]
        for frames in self._frames:
            yield from sent_off_record(frames, sent)

    def _on_record(self, steps: Iterable[Step]) -> dict[TopicPartition, Replicas]:
        """Return where the record leaves the partitions: at the last list that was asked for, and
        did leave.

        A request without an answer left where a proxy saw it. One to end a reassignment leaves the
        original list.
        """
        found: dict[TopicPartition, Replicas] = dict.fromkeys(self._partitions, ORIGIN)
        sent = [targets_of(frame) for frames in self._frames for frame in frames]
        for step, intent in intents(steps):
            if step.sending is Sending.ANSWERED or intent.targets in sent:
                found |= {each: replicas or ORIGIN for each, replicas in intent.targets.items()}
        return found


_OVER = {5, 6}
"""How a runner ends that woke after another one took over: 6 where the answer that it waited for
did not come."""
_REQUESTS = ("reassignments", "configs", "election")
