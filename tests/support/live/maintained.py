"""A maintenance of one broker on a live cluster, which a test takes from one stage to the next."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import kafka
from kazoo.client import KazooClient
from support.live.kraft import active_controller
from support.live.waiting import wait_until

from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli.in_process import Answer
    from support.kafka.processes import KadminProcess
    from support.live.errands import Brokers, Proxy

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.plan.throttle import ConfigValues

MAINTAINED, OTHER = 4, 1
"""Both are in rack r1: a partition with three replicas in racks of their own is on one of them."""
STAGES = ("stop", "start", "catch-up")
"""What a maintenance waits for."""
STOP, STOPPED = f"stop broker {MAINTAINED} now", f"broker {MAINTAINED} stopped: start it"
SOON = f"start broker {MAINTAINED} as soon as possible"


class LiveMaintenance:
    """A maintenance whose catch-up is held back until it is freed, unless it has another rate."""

    def __init__(self, brokers: Brokers, folder: Path, rate: str = "1B/s") -> None:
        self.brokers = brokers
        self._folder = folder
        self._rate = rate
        self.partitions = brokers.topic(
            {0: (4, 2, 3), 1: (2, 4, 3), 2: (4, 3, 2), 3: (2, 1, 3), 4: (4, 2, 1)}, min_isr=2
        )
        wait_until(lambda: brokers.may_be_stopped(MAINTAINED))
        self.plan = self.propose("plan.yaml")
        self.before = self.seen()

    def propose(self, name: str, broker: int = MAINTAINED) -> Path:
        """Write a plan for a broker."""
        plan = self._folder / name
        line = ("propose", "maintenance", "--broker", str(broker), "--throttle", self._rate)
        found = self.brokers.kadmin(*line, "--out", str(plan))
        assert found.status == 0, found.err
        return plan

    def elsewhere(self, *arguments: str) -> KadminProcess:
        """Begin a command on another machine, without records, and let it take the lock."""
        found = self.brokers.run(*arguments, state=self._folder / "elsewhere")
        words = f"(pid {found.pid})"
        wait_until(lambda: words in self.brokers.kadmin("lock", "show").out or found.ended)
        return found

    def begin(self, through: Proxy | None = None) -> KadminProcess:
        """Apply the plan."""
        state, line = self._folder / "machine", ("apply", str(self.plan), "--yes")
        return self.brokers.run(*line, state=state, through=through)

    def reach(self, stage: str, runner: KadminProcess) -> None:
        """Do what a person does until the maintenance waits in a stage."""
        self.wait_for(STOP, runner)
        if stage == "stop":
            return
        self.stop(runner)
        if stage == "start":
            return
        self.start()
        self.wait_for("waits for copies", runner)

    def stop(self, runner: KadminProcess) -> None:
        """Stop the broker, which misses more than its throttle lets through."""
        self.brokers.sandbox.stop_broker(MAINTAINED)
        self.wait_for(STOPPED, runner)
        servers, missed = Servers(self.brokers.sandbox.bootstrap), [b"x" * 900_000] * 10
        produce(servers, dict.fromkeys(self.partitions[:3], missed))

    def start(self) -> None:
        self.brokers.sandbox.start_broker(MAINTAINED)

    def free(self) -> None:
        """Let the replicas catch up."""
        freed = self.brokers.kadmin(
            "throttle", "set", "--rate", "200MB/s", "--yes", "--lock-timeout", "60"
        )
        assert freed.status == 0, freed.err

    def finish(self, stage: str, runner: KadminProcess) -> Answer:
        """Do what is left to do from a stage on, and return how the run ended."""
        if stage == "stop":
            self.wait_for(STOP, runner)
            self.stop(runner)
        if stage in {"stop", "start"}:
            self.start()
        self.free()
        return runner.answer()

    def wait_for(self, words: str, runner: KadminProcess) -> None:
        """Wait until the status says it, while the runner is at work."""
        said: list[str] = []

        def found() -> bool:
            said[:] = [self.status()]
            return words in said[0] or runner.ended

        try:
            wait_until(found)
        except AssertionError:
            raise AssertionError(f"not {words}: {said[0]} {runner.told}") from None
        assert not runner.ended, runner.told

    def status(self) -> str:
        return self.brokers.kadmin("status").out

    def seen(
        self,
    ) -> tuple[dict[TopicPartition, Replicas], dict[TopicPartition, int], ConfigValues]:
        """Return lists, leaders and throttles; every broker is alive."""
        state = self.brokers.state()
        return (
            {each: state.assignment[each] for each in self.partitions},
            {each: state.states[each].leader for each in self.partitions},
            self.brokers.throttles(),
        )

    def reassign(self, partition: TopicPartition, replicas: Replicas | None) -> None:
        """Reassign a partition as another tool does, or end its reassignment."""
        asked = {kafka.TopicPartition(*_pair(partition)): None if replicas is None else [*replicas]}
        with closing(kafka.KafkaAdminClient(bootstrap_servers=self._bootstrap)) as admin:
            admin.alter_partition_reassignments(asked)

    def fail_over(self) -> None:
        """Let another controller take over."""
        sandbox = self.brokers.sandbox
        if not sandbox.spec.kraft:
            _move_controller(sandbox.connect_string)
            return
        before = active_controller(self.brokers.connection)
        assert before is not None
        sandbox.stop_controller(before, kill=True)
        try:
            wait_until(lambda: active_controller(self.brokers.connection) not in {None, before})
        finally:
            sandbox.start_controller(before)

    @property
    def _bootstrap(self) -> list[str]:
        return list(self.brokers.sandbox.bootstrap)


def _pair(partition: TopicPartition) -> tuple[str, int]:
    return partition.topic, partition.partition


def _move_controller(connect_string: str) -> None:
    client = KazooClient(connect_string)
    client.start()
    try:
        epoch = client.get("/controller_epoch")[0]
        client.delete("/controller")
        wait_until(lambda: client.get("/controller_epoch")[0] != epoch)
    finally:
        client.stop()
        client.close()
