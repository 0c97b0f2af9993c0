"""The catch-up of a broker that was away, against the model of the controller."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from support.answers import violations
from support.cli.in_process import command
from support.cluster.states import tp
from support.controller.eras import ERAS
from support.executor.runs import (
    KillPoint,
    Practice,
    apply,
    catch_up,
    change_throttle,
    clear_throttles,
    resume,
    stop,
)
from support.executor.throttling import LOCKED, PATHS, Told
from support.zookeeper.znode_cluster import config, configure, notified, reassigned, seed

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.operations.context import Clock
from kadmin.operations.decide.catch_up import CATCH_UP, catch_up_plan, catch_up_work, to_catch_up
from kadmin.operations.decide.kinds import record_of
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.stop_request import Stop
from kadmin.operations.record.throttle_steps import current_throttle
from kadmin.operations.throttles.by_hand import Scope
from kadmin.operations.throttles.changes import record_throttle
from kadmin.operations.throttles.late_brokers import LateBrokers
from kadmin.operations.throttles.operation import Throttling
from kadmin.plan.copying import Throttle
from kadmin.plan.model import (
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    ThrottleBy,
    ThrottleSpec,
)
from kadmin.plan.throttle import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
    throttled,
)
from kadmin.worlds.zookeeper.backend import ZooKeeperBackend
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.model import Create, SetData
from kadmin.worlds.zookeeper.values.lock import ZnodeLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from support.executor.runs import Command, Run, Site

    from kadmin.operations.record.record import Listing
    from kadmin.plan.throttle import ConfigValues
    from kadmin.worlds.zookeeper.wire.store import Store

pytestmark = pytest.mark.zookeeper

SLOW, FAST = 5_000, 80_000
BACK, ENDS = 10, 20
"""The wait of a run at which the broker is back, and the one at which its replicas catch up."""
BEFORE = {
    "/config/topics/a": {"retention.ms": "7", LEADER_REPLICAS: "7:7"},
    "/config/brokers/3": {FOLLOWER_RATE: "99", "log.cleaner.threads": "2"},
}


def rates(rate: int) -> dict[str, str]:
    return {LEADER_RATE: str(rate), FOLLOWER_RATE: str(rate)}


@dataclass
class Away:
    """Topics a and b; broker 3, which holds three of their replicas, is away.

    It is back at the wait BACK of the runs, and in sync after ENDS; `at` is called at waits.
    """

    site: Site
    at: dict[int, Callable[[], object]] = field(default_factory=dict)
    waits: int = 0

    def __post_init__(self) -> None:
        self.practice = Practice(self.site, ERAS["2.8.2"])
        self.practice.model.create_topic("a", {0: (1, 3), 1: (3, 2)})
        self.practice.model.create_topic("b", {0: (2, 1, 3), 1: (1, 2)})
        self.practice.model.run()
        for path, values in BEFORE.items():
            self.configure(path, values)
        self.practice.model.kill_broker(3)
        self.practice.model.run()
        self.practice.model.copies_held = True

    def configure(self, path: str, values: dict[str, str]) -> None:
        data = json.dumps({"version": 1, "config": values}).encode()
        if self.practice.model.znodes.exists(path):
            self.practice.model.znodes.put(path, data)
        else:
            self.practice.model.znodes.create_all([(path, data)])

    def run(self, command: Command | None = None, dies_at: int | None = None) -> Run:
        """Run a catch-up, or another command from where the last one ended."""

        def work() -> float:
            self.waits += 1
            self.at.get(self.waits, lambda: None)()
            if self.waits == BACK:
                self.practice.model.start_broker(3)
            self.practice.model.copies_held = self.waits < ENDS
            if self.waits == dies_at:
                process.die()
            return self.practice.work()

        process = self.practice.process(command or catch_up(3, SLOW), work)
        found = process.run()
        self.practice.bury()
        return found

    def configs(self) -> dict[str, dict[str, str]]:
        return self.practice.configs()

    @property
    def listing(self) -> Listing:
        return self.practice.journal.listings()[-1]

    def assert_undone(self, state: OperationState = OperationState.COMPLETED) -> None:
        assert self.configs() == BEFORE
        assert (self.listing.kind, self.listing.status.state) == (OperationKind.CATCH_UP, state)
        assert self.listing.status.throttle_removed


def test_the_throttle_is_set_before_the_broker_is_back_and_gone_when_it_is_in_sync(
    site: Site,
) -> None:
    away, seen = Away(site), dict[int, dict[str, dict[str, str]]]()

    def look() -> None:
        seen[away.waits] = away.configs()

    for wait in (BACK - 1, ENDS - 1):
        away.at[wait] = look
    ended = away.run()
    assert ended.exit_code == 0, ended.error
    assert ended.outcome is not None
    assert ended.outcome.message == "3 replicas of broker 3 in sync"
    throttled = {
        "/config/topics/a": {
            "retention.ms": "7",
            LEADER_REPLICAS: "7:7,0:1,1:2",
            FOLLOWER_REPLICAS: "0:3,1:3",
        },
        "/config/topics/b": {LEADER_REPLICAS: "0:2,0:1", FOLLOWER_REPLICAS: "0:3"},
        "/config/brokers/1": rates(SLOW),
        "/config/brokers/2": rates(SLOW),
        "/config/brokers/3": {**rates(SLOW), "log.cleaner.threads": "2"},
    }
    assert seen == {BACK - 1: throttled, ENDS - 1: throttled}
    away.assert_undone()
    assert "throttled at 5.00 kB/s on 3 brokers and 2 topics" in ended.told


def test_of_a_broker_that_is_back_only_replicas_out_of_sync_are_throttled(site: Site) -> None:
    away, seen = Away(site), list[dict[str, dict[str, str]]]()
    away.practice.model.start_broker(3)
    away.practice.model.copies_held = False
    while 3 not in away.practice.model.state(tp("a-0")).isr:
        away.practice.model.run(1)
    away.practice.model.copies_held = True
    away.waits = BACK
    away.at[ENDS - 1] = lambda: seen.append(away.configs())
    ended = away.run()
    assert ended.exit_code == 0, ended.error
    assert ended.outcome is not None
    assert ended.outcome.message == "2 replicas of broker 3 in sync"
    assert seen[0]["/config/topics/a"][FOLLOWER_REPLICAS] == "1:3"
    assert seen[0]["/config/topics/b"][FOLLOWER_REPLICAS] == "0:3"
    away.assert_undone()


def test_nothing_to_catch_up_writes_nothing(site: Site) -> None:
    away = Away(site)
    away.practice.model.start_broker(3)
    away.practice.model.copies_held = False
    away.practice.model.run()
    before = len(away.practice.writes())
    ended = away.practice.run(catch_up(3, SLOW))
    assert ended.exit_code == 0, ended.error
    assert ended.outcome is not None
    assert ended.outcome.operation_id is None
    assert ended.outcome.message == "nothing to catch up: every replica of broker 3 is in sync"
    assert len(away.practice.writes()) == before
    assert away.practice.run(catch_up(4, SLOW)).exit_code == 0, "it has no replica"
    unknown = away.practice.run(catch_up(9, SLOW))
    assert unknown.exit_code == 4
    assert "The cluster does not have broker 9" in str(unknown.error)


@pytest.mark.parametrize("dies_at", [2, BACK + 2, ENDS])
def test_a_run_that_was_killed_is_resumed(site: Site, dies_at: int) -> None:
    away = Away(site)
    assert away.run(dies_at=dies_at).killed
    assert away.configs() != BEFORE
    ended = away.run(resume())
    assert ended.exit_code == 0, ended.error
    away.assert_undone()


@pytest.mark.matrix
@pytest.mark.parametrize("forwarded", [False, True])
def test_killed_at_any_request_it_leaves_no_throttle_that_is_not_on_record(
    site: Site,
    forwarded: bool,  # noqa: FBT001 - a row
) -> None:
    away = Away(site)
    away.practice.model.start_broker(3)
    away.waits = ENDS
    requests = len(away.run().requests)
    for number in range(6 if forwarded else 1, requests, 10):
        away = Away(site)
        away.practice.model.start_broker(3)
        away.practice.model.copies_held = False
        killed = away.practice.run(catch_up(3, SLOW), KillPoint(number, forwarded))
        again = away.practice.run(resume(lock_timeout_s=60))
        assert again.exit_code in {0, 8}, (number, again.error)
        assert away.configs() == BEFORE, (number, killed)


def test_cancelled_the_throttle_is_gone_at_once_paused_it_remains(site: Site) -> None:
    away = Away(site)
    assert away.run(dies_at=BACK + 2).killed
    throttled = away.configs()
    paused = away.practice.run(stop(Stop.PAUSE))
    assert paused.exit_code == 0, paused.error
    assert away.configs() == throttled
    operation = away.listing.operation_id
    assert any(
        text.startswith("the throttle remains: a-0, a-1, b-0 not in sync")
        and text.endswith(f"kadmin resume {operation}")
        for text in paused.told
    ), paused.told
    cancelled = away.practice.run(stop(Stop.CANCEL))
    assert cancelled.exit_code == 0, cancelled.error
    away.assert_undone(OperationState.CANCELLED)
    assert "0 of 3 replicas of broker 3 in sync" in away.listing.status.message


def test_cancel_now_is_refused(site: Site) -> None:
    away = Away(site)
    assert away.run(dies_at=2).killed
    refused = away.practice.run(stop(Stop.CANCEL_NOW))
    assert "A running catch-up cannot be taken back" in str(refused.error)
    assert away.run(resume()).exit_code == 0
    away.assert_undone()


def test_another_rate_is_set_while_it_runs_and_clear_is_refused(site: Site) -> None:
    away, seen = Away(site), []
    assert away.run(dies_at=BACK + 2).killed
    busy = away.practice.run(clear_throttles(Scope()))
    assert busy.exit_code == 5
    assert "a-0" in str(busy.error)
    changed = away.practice.run(change_throttle(FAST))
    assert changed.exit_code == 0, changed.error
    assert {away.configs()[f"/config/brokers/{each}"][LEADER_RATE] for each in (1, 2, 3)} == {
        str(FAST)
    }
    away.at[ENDS - 1] = lambda: seen.append(away.configs()["/config/brokers/3"][FOLLOWER_RATE])
    ended = away.run(resume())
    assert ended.exit_code == 0, ended.error
    assert seen == [str(FAST)]
    away.assert_undone()
    throttle = current_throttle(
        away.practice.journal.record(away.listing.operation_id),
        away.practice.journal.steps(away.listing.operation_id),
    )
    assert throttle is not None
    assert throttle.rate == FAST


def test_a_value_that_somebody_changed_by_hand_is_kept(site: Site) -> None:
    away = Away(site)
    away.at[5] = lambda: away.configure("/config/brokers/1", {**rates(SLOW), LEADER_RATE: "777"})
    assert away.run(dies_at=BACK + 2).killed
    ended = away.run(resume())
    assert ended.exit_code == 0, ended.error
    assert away.configs() == {**BEFORE, "/config/brokers/1": {LEADER_RATE: "777"}}


def test_it_and_another_operation_wait_for_each_other(site: Site) -> None:
    away = Away(site)
    assert away.run(dies_at=2).killed
    target = PartitionTarget(tp("b-1"), (2, 4), (1, 2))
    plan = ReassignmentPlan(PlanHeader(), (target,))
    busy = away.practice.run(apply(plan))
    assert busy.exit_code == 5
    assert "(catch-up) is unfinished" in str(busy.error)
    assert away.practice.run(catch_up(3, FAST)).exit_code == 5
    assert away.run(resume()).exit_code == 0
    away.assert_undone()


def test_a_range_begins_with_its_lowest_rate(site: Site) -> None:
    away, seen = Away(site), []
    away.at[BACK + 1] = lambda: seen.append(away.configs()["/config/brokers/3"])
    ended = away.run(catch_up(3, SLOW, FAST))
    assert ended.exit_code == 0, ended.error
    assert seen == [{**rates(SLOW), "log.cleaner.threads": "2"}]
    away.assert_undone()


class Silent(ZooKeeperBackend):
    """A back-end that reads the configs of a broker from the broker alone."""

    silent = frozenset({ConfigEntity.of_broker(3)})

    def read_configs(self, entities: Iterable[ConfigEntity]) -> ConfigValues:
        return super().read_configs(each for each in entities if each not in self.silent)


def test_a_broker_that_shows_its_configs_later_gets_its_rate_then_and_what_it_had_again(
    store: Store,
) -> None:
    """Through the brokers a broker that is away shows none; its own rate is set when it is back."""
    seed(store, {"a": {0: (1, 3)}}, brokers={1: None, 2: None})
    configure(store, "brokers/3", {FOLLOWER_RATE: "99"})
    backend, told = Silent(store, PATHS, Clock()), Told()
    state = backend.read()
    spec = ThrottleSpec(ThrottleBy.RATE, SLOW)
    plan = catch_up_plan(3, to_catch_up(3, state), spec, state)
    work, lease = catch_up_work(plan), ZnodeLock(store, PATHS, Clock()).take(LOCKED, 0)
    asked = Throttle(SLOW, throttled(work.targets, SLOW), (), None, (), spec)
    context = replace(zookeeper_context(store, PATHS, Clock(), told), backend=backend)
    record = record_of(CATCH_UP, plan, work, state, LOCKED)
    record = replace(record, throttle=record_throttle(backend, asked))
    context.operations.create(record, lease, "now")
    throttling = Throttling(context, record, work)
    late = LateBrokers(context, work, throttling)
    throttling.set_up(lease)
    late.look(state, lease)
    assert config(store, "brokers/1") == rates(SLOW)
    assert config(store, "brokers/3") == {FOLLOWER_RATE: "99"}
    store.multi([Create("/brokers/ids/3", b'{"version":1,"host":"c","port":1,"jmx_port":-1}')])
    backend.silent = frozenset()
    reassigned(store, "a", (1,))
    store.multi([SetData("/brokers/topics/a", b'{"version":1,"partitions":{"0":[1,3]}}', -1)])
    for _ in range(2):
        late.look(backend.read(), lease)
    assert config(store, "brokers/3") == rates(SLOW)
    assert told[1:] == ["throttled at 5.00 kB/s on brokers/3"]
    assert len(context.operations.steps(record.operation_id)) == 1
    reassigned(store, "a", (1, 3))
    throttling.end(lease, finishes=True)
    assert throttling.removed
    assert config(store, "brokers/3") == {FOLLOWER_RATE: "99"}
    assert config(store, "topics/a") == {}


def test_the_command_shows_what_it_does_asks_and_answers(store: Store, chroot: str) -> None:
    seed(store, {"a": {0: (1, 3)}}, brokers={1: None, 2: None})
    store.multi([Create("/cluster", b""), Create("/cluster/id", b'{"id":"x"}')])
    line = ["throttle", "catch-up", "--broker", "3", "--rate", "5kB/s..1MB/s", "-z", chroot]
    dry = command(*line, "--dry-run")
    assert (dry.status, dry.out) == (0, "dry run: nothing was changed\n"), dry.err
    assert dry.err.splitlines()[:2] == [
        "1 replica to catch up on broker 3, which is not alive: it is waited for",
        (
            "throttle: 5.00 kB/s to 1.00 MB/s on 2 brokers and 1 topic, removed when every replica "
            "is in sync"
        ),
    ]
    asked = command(*line)
    assert asked.status == 64, asked.err
    assert notified(store) == []
    late = command(*line, "--yes", "--timeout", "0")
    assert late.status == 8, late.err
    assert "The deadline passed with 1 target open: a-0" in late.err
    assert "the throttle remains: a-0 not in sync; remove it later with kadmin resume" in late.err
    shown = command("status", "-z", chroot)
    assert "(catch-up, interrupted)" in shown.out
    assert "broker 3 is not alive: waiting until it is back" in shown.out
    store.multi([Create("/brokers/ids/3", b'{"version":1,"host":"c","port":1,"jmx_port":-1}')])
    ended = command("resume", "-z", chroot, "--yes", "-o", "json")
    assert ended.status == 0, ended.err
    answer = json.loads(ended.out)
    assert violations(answer, "apply") == []
    assert answer["message"] == "1 replica of broker 3 in sync"
    assert config(store, "topics/a") == {}
    history = command("history", answer["operation_id"], "-z", chroot, "-o", "json")
    assert history.status == 0, history.err
    nothing = command(*line, "--yes", "-o", "json")
    assert nothing.status == 0, nothing.err
    assert json.loads(nothing.out)["operation_id"] is None
