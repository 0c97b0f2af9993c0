"""Anything at any time: random plans, faults and commands against the model, with what must always
hold.

A run lives in a thread that moves only while the test lets it: its loop stops at every wait until a
`tick`. So what happens between two looks of kadmin is exactly what the rules did.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from support.controller.eras import ERAS
from support.controller.znodes import ELECTION, REASSIGN, reassignment_payload
from support.executor.runs import Practice, apply, clear_throttles, resume, rollback, stop
from support.network.frame_proxy import Action, Fault, reply_of
from support.zookeeper.fault_proxy import MULTI

from kadmin.cluster.model import TopicPartition
from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import waves_of
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.operations.throttles.by_hand import Scope
from kadmin.plan.model import (
    Elect,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    ThrottleBy,
    ThrottleSpec,
    WaveLimits,
)
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from support.controller.eras import Era
    from support.controller.znodes import Assigned
    from support.executor.runs import Command, Process, Run, Site

    from kadmin.cluster.model import Replicas

pytestmark = pytest.mark.zookeeper

TOPIC = "orders"
FOREIGN = TopicPartition("foreign", 0)
PARTITIONS = tuple(TopicPartition(TOPIC, number) for number in range(3))
BROKERS = (1, 2, 3, 4)
FEWEST_BROKERS = 2
OLD_CONFIG = b'{"version":1,"config":{"follower.replication.throttled.rate":"7"}}'
THROTTLES = (None, ThrottleSpec(ThrottleBy.RATE, 10_000_000))
PATIENCE_S = 30.0
MOST_TICKS = 60
running = precondition(lambda self: self.walk is not None)
idle = precondition(lambda self: self.walk is None)


class Walk:
    """A run that goes on only when told to."""

    def __init__(self, practice: Practice, command: Command) -> None:
        self.process = practice.process(command, self._pause)
        self.ended: Run | None = None
        self._broke: BaseException | None = None
        self._skip_s = 0.0
        self._paused, self._go = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._await()

    def tick(self, skip_s: float = 0.0) -> None:
        """Let it go on to its next wait or its end; `skip_s` is how long this wait takes for it."""
        self._skip_s = skip_s
        self._paused.clear()
        self._go.set()
        self._await()

    def _await(self) -> None:
        assert self._paused.wait(PATIENCE_S), "a run hangs"
        if self._broke is not None:
            raise self._broke

    def _pause(self) -> float:
        self._go.clear()
        self._paused.set()
        self._go.wait()
        return self._skip_s

    def _run(self) -> None:
        try:
            self.ended = self.process.run()
        except BaseException as broken:  # noqa: BLE001 - whatever it is, the test's own thread raises it
            self._broke = broken
        finally:
            self._paused.set()


class ExecutorStates(RuleBasedStateMachine):
    """One topic of three partitions, a foreign one, four brokers, and one kadmin at a time."""

    site: Site

    def __init__(self) -> None:
        super().__init__()
        self.walk: Walk | None = None
        self.origins: dict[str, dict[TopicPartition, Replicas]] = {}
        self.finished: dict[str, tuple[OperationState, int]] = {}

    @initialize(version=st.sampled_from(list(ERAS)))
    def begin(self, version: str) -> None:
        self.era: Era = ERAS[version]
        self.practice = Practice(self.site, self.era, BROKERS)
        self.model = self.practice.model
        self.model.create_topic(TOPIC, {0: (1, 2), 1: (2, 3), 2: (3, 1)})
        self.model.create_topic(FOREIGN.topic, {0: (1, 2)})
        self.model.znodes.create("/config/brokers/1", OLD_CONFIG)
        self.model.run()
        self.configs = self.practice.configs()

    @idle
    @rule(
        data=st.data(),
        elect=st.sampled_from(Elect),
        size=st.integers(1, 2),
        throttle=st.sampled_from(THROTTLES),
    )
    def apply(
        self, data: st.DataObject, elect: Elect, size: int, throttle: ThrottleSpec | None
    ) -> None:
        chosen = data.draw(st.lists(st.sampled_from(PARTITIONS), min_size=1, unique=True))
        target = st.permutations(BROKERS).flatmap(
            lambda ids: st.integers(1, 3).map(lambda count: tuple(ids[:count]))
        )
        targets = tuple(PartitionTarget(partition, data.draw(target)) for partition in chosen)
        limits = WaveLimits(max_partitions=size)
        plan = ReassignmentPlan(
            PlanHeader(),
            targets,
            throttle,
            limits,
            elect,
            allow_replication_factor_change=True,
            allow_fewer_racks=True,
        )
        self._start(apply(plan))

    @idle
    @rule()
    def resume(self) -> None:
        self._start(resume(PATIENCE_S))

    @idle
    @rule(kind=st.sampled_from(Stop), allow_foreign=st.booleans())
    def stop(self, kind: Stop, allow_foreign: bool) -> None:  # noqa: FBT001 - hypothesis draws it
        self._start(stop(kind, allow_foreign=allow_foreign, lock_timeout_s=PATIENCE_S))

    @idle
    @rule()
    def roll_back(self) -> None:
        self._start(rollback())

    @running
    @rule(kind=st.sampled_from(Stop), allow_foreign=st.booleans())
    def ask_the_runner(self, kind: Stop, allow_foreign: bool) -> None:  # noqa: FBT001 - hypothesis draws it
        """What pause and cancel write, from elsewhere, where a runner is at work."""
        self.practice.ask(StopRequest(kind, "somebody", "now", allow_foreign))

    @running
    @rule(ticks=st.integers(1, 4), skip_s=st.sampled_from([0.0, 0.0, 0.0, 11.0, 31.0]))
    def tick(self, ticks: int, skip_s: float) -> None:
        for _ in range(ticks):
            if self.walk is not None:
                self.walk.tick(skip_s)
                self._look()

    @rule(steps=st.integers(1, 12))
    def controller_works(self, steps: int) -> None:
        self.model.run(steps)

    @rule(held=st.booleans())
    def hold_copies(self, held: bool) -> None:  # noqa: FBT001 - hypothesis draws it
        self.model.copies_held = held

    @running
    @rule()
    def cut_the_connection(self) -> None:
        self.process.proxy.cut()

    @running
    @rule()
    def lose_a_reply(self) -> None:
        self.process.proxy.faults.append(Fault(Action.CUT_BEFORE, reply_of(MULTI)))

    @running
    @rule()
    def expire_the_session(self) -> None:
        self.process.expire()

    @running
    @rule()
    def kill(self) -> None:
        self.process.die()
        self.process.proxy.cut()
        self._to_the_end()

    @rule()
    def fail_over(self) -> None:
        self.model.fail_over()

    @rule(data=st.data())
    def kill_a_broker(self, data: st.DataObject) -> None:
        live = self.model.live_brokers()
        if len(live) > FEWEST_BROKERS:
            self.model.kill_broker(data.draw(st.sampled_from(live)))

    @rule(data=st.data())
    def start_a_broker(self, data: st.DataObject) -> None:
        dead = sorted(set(BROKERS) - set(self.model.live_brokers()))
        if dead:
            self.model.start_broker(data.draw(st.sampled_from(dead)))

    @rule(path=st.sampled_from([REASSIGN, ELECTION]))
    def somebody_creates_a_node(self, path: str) -> None:
        if not self.model.znodes.exists(path):
            self.model.znodes.create(path, reassignment_payload({FOREIGN: (2, 1)}))

    @rule(path=st.sampled_from([REASSIGN, ELECTION]))
    def somebody_deletes_a_node(self, path: str) -> None:
        self.model.znodes.delete(path)

    @invariant()
    def nothing_is_published_twice_or_without_its_step(self) -> None:
        if not hasattr(self, "practice"):
            return
        model = self.model.znodes.client.client_id[0]
        writes = [write for write in self.practice.writes() if write.session_id != model]
        admin = [
            write
            for write in writes
            if write.path in {self.practice.chroot + p for p in (REASSIGN, ELECTION)}
        ]
        steps = [write.zxid for write in writes if "/steps/" in write.path and write.data]
        assert all(write.data is not None for write in admin), "kadmin deleted an admin node"
        assert [write.zxid for write in admin] == steps, (
            f"admin node and step are one write: {writes}"
        )

    @invariant()
    def every_record_is_whole_and_every_wave_went_out_once(self) -> None:
        if not hasattr(self, "practice"):
            return
        journal = self.practice.journal
        for listing in journal.listings():
            if listing.status.state in {OperationState.PREPARING, OperationState.DISCARDED}:
                continue
            origin = journal.record(listing.operation_id).origin
            assert self.origins.setdefault(listing.operation_id, dict(origin)) == dict(origin)
            waves = waves_of(journal.steps(listing.operation_id))
            assert waves == sorted(waves), "waves in order"
            # Up to 2.3 a union that was left behind is repaired by publishing the same wave again.
            assert not self.era.marks_moves or len(waves) == len(set(waves)), "each wave once"

    @invariant()
    def what_is_finished_stays_so(self) -> None:
        if not hasattr(self, "practice"):
            return
        journal = self.practice.journal
        for listing in journal.listings():
            if listing.status.state.finished:
                now = (listing.status.state, len(journal.steps(listing.operation_id)))
                assert self.finished.setdefault(listing.operation_id, now) == now

    def teardown(self) -> None:
        """When everybody is well again, whatever was begun comes to an end, the lock is free, and
        no throttle stays.
        """
        if not hasattr(self, "practice"):
            return
        if self.walk is not None:
            self.process.die()
            self.process.proxy.cut()
            self._to_the_end()
        for broker in set(BROKERS) - set(self.model.live_brokers()):
            self.model.start_broker(broker)
        self.model.copies_held = False
        self.model.fail_over()
        self.model.run()
        for path in (REASSIGN, ELECTION):
            self.model.znodes.delete(path)
        self.model.fail_over()
        self.model.run()
        last = self.practice.run(resume(PATIENCE_S))
        self._judge(last)
        assert not self.practice.journal.unfinished(), last
        self._clear_throttles()
        self.practice.bury()
        assert not self.model.znodes.exists(Paths().lock)
        assert all(
            each.replicas for partition in PARTITIONS for each in [self._assigned(partition)]
        )

    def _clear_throttles(self) -> None:
        """What an operation ended without taking off is known to be its own, and goes back to what
        was there.
        """
        left = {
            path
            for path, config in self.practice.configs().items()
            if config != self.configs.get(path)
        }
        if left:
            names = {
                kind: [path.rsplit("/")[-1] for path in left if f"/{kind}/" in path]
                for kind in ("brokers", "topics")
            }
            scope = Scope(tuple(map(int, names["brokers"])), tuple(names["topics"]))
            cleared = self.practice.run(clear_throttles(scope, PATIENCE_S))
            assert cleared.error is None, cleared
        assert self.practice.configs() == self.configs

    @property
    def process(self) -> Process:
        assert self.walk is not None
        return self.walk.process

    def _start(self, command: Command) -> None:
        self.walk = Walk(self.practice, command)
        self._look()

    def _look(self) -> None:
        self.practice.bury()
        if self.walk is not None and self.walk.ended is not None:
            ended, self.walk = self.walk.ended, None
            self._judge(ended)

    def _to_the_end(self) -> None:
        for _ in range(MOST_TICKS):
            self._look()
            if self.walk is None:
                return
            self.walk.tick()
        pytest.fail("a run does not end")

    def _judge(self, run: Run) -> None:
        """A success is what the cluster shows in this moment."""
        if run.outcome is not None and "are back at their original replicas" in run.outcome.message:
            assert run.outcome.operation_id is not None
            origin = self.practice.journal.record(run.outcome.operation_id).origin
            assert any(
                self._assigned(partition).replicas == replicas
                for partition, replicas in origin.items()
            )
        if (
            run.outcome is None
            or "at the target" not in run.outcome.message
            or "already" in run.outcome.message
        ):
            return
        assert run.outcome.operation_id is not None
        record = self.practice.journal.record(run.outcome.operation_id)
        work = spec_of(record)
        assert isinstance(work, ReassignmentWork)
        for target in work.targets:
            assigned, state = self._assigned(target.partition), self.model.state(target.partition)
            assert assigned.replicas == target.replicas
            assert not assigned.moving
            assert set(target.replicas) <= set(state.isr)
            assert state.leader in target.replicas

    def _assigned(self, partition: TopicPartition) -> Assigned:
        return self.model.assigned(partition.topic)[partition]


def explore(site: Site, *, examples: int, steps: int) -> None:
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    machine: type[ExecutorStates] = type("ExecutorStates", (ExecutorStates,), {"site": site})
    run_state_machine_as_test(machine, settings=chosen)


def test_whatever_happens_nothing_is_lost_doubled_or_claimed(site: Site) -> None:
    explore(site, examples=12, steps=30)


@pytest.mark.executor
def test_whatever_happens_for_longer(site: Site) -> None:
    explore(site, examples=80, steps=50)
