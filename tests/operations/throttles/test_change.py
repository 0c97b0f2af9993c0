"""The throttle of an operation is changed while it runs, against the model of the controller."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import tp
from support.controller.eras import ERAS
from support.executor.runs import Practice, apply, change_throttle, clear_throttles, resume, stop

from kadmin.operations.record.keys import key_of
from kadmin.operations.record.steps import StepKind
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.operations.record.throttle_request import ThrottleRequest
from kadmin.operations.record.throttle_steps import current_throttle
from kadmin.operations.throttles.by_hand import Scope
from kadmin.plan.model import (
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    ThrottleBy,
    ThrottleSpec,
    WaveLimits,
)
from kadmin.plan.throttle import FOLLOWER_RATE, FOLLOWER_REPLICAS, LEADER_RATE, LEADER_REPLICAS
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.executor.runs import Run, Site

pytestmark = pytest.mark.zookeeper

SLOW, FAST = 5_000, 80_000
FIND_OUT = 40
"""Waits of a run after which it has long seen what was asked of it."""


def rates(rate: int) -> dict[str, str]:
    return {LEADER_RATE: str(rate), FOLLOWER_RATE: str(rate)}


class Steered:
    """A run of two waves, whose copies are held until the test lets them go."""

    def __init__(self, site: Site, throttle: int | None) -> None:
        self.practice = Practice(site, ERAS["2.8.2"])
        self.practice.model.create_topic("a", {0: (1, 2), 1: (1, 2)})
        self.practice.model.run()
        targets = tuple(PartitionTarget(tp(f"a-{number}"), (2, 3), (1, 2)) for number in range(2))
        spec = None if throttle is None else ThrottleSpec(ThrottleBy.RATE, throttle)
        self.plan = ReassignmentPlan(PlanHeader(), targets, spec, WaveLimits(max_partitions=1))
        self.waits = 0

    def run(self, asked: dict[int, Callable[[], object]]) -> Run:
        """Apply the plan; each function is called at its wait, and the copies end at FIND_OUT."""
        self.practice.model.copies_held = True

        def work() -> float:
            self.waits += 1
            asked.get(self.waits, lambda: None)()
            self.practice.model.copies_held = self.waits < FIND_OUT
            return self.practice.work()

        return self.practice.process(apply(self.plan), work).run()

    def leave(self) -> None:
        """Let the run die in its first wave."""
        self.practice.model.copies_held = True
        waits = iter(range(FIND_OUT))

        def work() -> float:
            if next(waits, None) is None:
                process.die()
            return self.practice.work()

        process = self.practice.process(apply(self.plan), work)
        assert process.run().killed
        self.practice.bury()

    def ask(self, rate: int, at: str = "2026-01-01T00:00:00Z") -> None:
        self.practice.ask_throttle(ThrottleRequest(rate, "ann@host-a", at))

    @property
    def operation(self) -> str:
        return self.practice.journal.listings()[-1].operation_id

    def steps(self) -> list[StepKind]:
        return [step.kind for step in self.practice.journal.steps(self.operation)]

    def brokers(self) -> dict[str, dict[str, str]]:
        return {
            name: found for name, found in self.practice.configs().items() if "/brokers/" in name
        }


@pytest.mark.parametrize("before", [SLOW, None])
def test_a_rate_is_taken_up_on_every_broker_on_record_and_undone_at_the_end(
    site: Site, before: int | None
) -> None:
    """Also where the plan has no throttle: then the lists are set, too."""
    steered = Steered(site, before)
    seen: list[dict[str, dict[str, str]]] = []
    ended = steered.run(
        {
            20: lambda: steered.ask(FAST),
            30: lambda: seen.extend((steered.brokers(), steered.practice.configs())),
        }
    )
    assert ended.exit_code == 0, ended.error
    assert seen[0] == {f"/config/brokers/{broker}": rates(FAST) for broker in (1, 2, 3)}
    lists = seen[1]["/config/topics/a"]
    assert set(lists[LEADER_REPLICAS].split(",")) == {"0:1", "0:2", "1:1", "1:2"}
    assert set(lists[FOLLOWER_REPLICAS].split(",")) == {"0:3", "1:3"}
    assert steered.practice.configs() == {}
    record, steps = (
        steered.practice.journal.record(steered.operation),
        steered.practice.journal.steps(steered.operation),
    )
    assert [step.kind for step in steps if step.kind is not StepKind.PROBE] == [
        StepKind.WAVE,
        StepKind.THROTTLE,
        StepKind.WAVE,
    ]
    throttle = current_throttle(record, steps)
    assert throttle is not None
    assert throttle.rate == FAST


def test_a_value_that_somebody_changed_by_hand_is_kept_by_the_change_and_at_the_end(
    site: Site,
) -> None:
    steered = Steered(site, SLOW)
    by_hand = json.dumps({"version": 1, "config": {**rates(SLOW), LEADER_RATE: "777"}}).encode()
    seen: list[dict[str, dict[str, str]]] = []
    ended = steered.run(
        {
            15: lambda: steered.practice.model.znodes.put("/config/brokers/2", by_hand),
            20: lambda: steered.ask(FAST),
            30: lambda: seen.append(steered.brokers()),
        }
    )
    assert ended.exit_code == 0, ended.error
    assert seen[0]["/config/brokers/1"] == rates(FAST)
    assert seen[0]["/config/brokers/2"] == {**rates(FAST), LEADER_RATE: "777"}
    assert steered.brokers() == {"/config/brokers/2": {LEADER_RATE: "777"}}


def test_a_request_to_stop_and_one_for_a_rate_leave_each_other_alone(site: Site) -> None:
    steered = Steered(site, SLOW)
    pause = StopRequest(Stop.PAUSE, "ben@host-b", "2026-01-01T00:00:00Z")

    def both() -> None:
        steered.ask(FAST)
        steered.practice.ask(pause)
        steered.ask(FAST * 2, "2026-01-01T00:00:01Z")

    seen: list[dict[str, dict[str, str]]] = []
    ended = steered.run({20: both, 30: lambda: seen.append(steered.brokers())})
    assert ended.exit_code == 8, "paused"
    assert seen[0]["/config/brokers/3"] == rates(FAST * 2), "the last request counts"
    assert steered.practice.journal.status(steered.operation).state.value == "paused"
    assert steered.practice.configs() == {}
    steered.practice.model.copies_held = False
    again = steered.practice.run(resume())
    assert again.exit_code == 0, again.error
    assert steered.steps().count(StepKind.THROTTLE) == 1, "a request is taken up once"


def test_a_request_of_another_version_is_told_and_the_run_goes_on(site: Site) -> None:
    steered = Steered(site, SLOW)

    def foreign() -> None:
        path = Paths().of(key_of(steered.operation, "throttle"))
        steered.practice.model.znodes.create(path, b'{"pace":"brisk"}')

    ended = steered.run({20: foreign})
    assert ended.exit_code == 0, ended.error
    assert any("another version of kadmin wrote it" in text for text in ended.told)
    assert steered.practice.configs() == {}


def test_without_a_runner_the_command_changes_what_is_in_flight(site: Site) -> None:
    steered = Steered(site, SLOW)
    steered.leave()
    changed = steered.practice.run(change_throttle(FAST))
    assert changed.error is None, changed.error
    assert steered.brokers() == {f"/config/brokers/{broker}": rates(FAST) for broker in (1, 2, 3)}
    assert steered.steps()[-1] is StepKind.THROTTLE
    steered.practice.model.copies_held = False
    again = steered.practice.run(resume())
    assert again.exit_code == 0, again.error
    assert steered.practice.configs() == {}


def test_a_paused_operation_gets_its_rate_when_it_is_resumed(site: Site) -> None:
    steered = Steered(site, SLOW)
    pause = StopRequest(Stop.PAUSE, "ben@host-b", "2026-01-01T00:00:00Z")
    steered.run({20: lambda: steered.practice.ask(pause)})
    changed = steered.practice.run(change_throttle(FAST))
    assert changed.error is None, changed.error
    assert steered.practice.configs() == {}, "nothing is in flight"
    assert [text.partition("; ")[0] for text in changed.told] == ["nothing is in flight"]
    steered.waits, seen = 0, list[dict[str, dict[str, str]]]()
    steered.practice.model.copies_held = True

    def work() -> float:
        steered.waits += 1
        if steered.waits == FIND_OUT // 2:
            seen.append(steered.brokers())
            steered.practice.model.copies_held = False
        return steered.practice.work()

    ended = steered.practice.process(resume(), work).run()
    assert ended.exit_code == 0, ended.error
    assert seen[0]["/config/brokers/1"] == rates(FAST)
    assert [text for text in ended.told if text.startswith("throttled at")] == [
        "throttled at 80.0 kB/s on 3 brokers and 1 topic"
    ]
    assert steered.practice.configs() == {}


def test_killed_between_record_and_configs_every_rate_is_ours(site: Site) -> None:
    """Some brokers have the old rate, some the new one: resume sets one rate, and the end removes
    both.
    """
    steered = Steered(site, SLOW)
    steered.leave()
    steered.practice.run(change_throttle(FAST))
    old = json.dumps({"version": 1, "config": rates(SLOW)}).encode()
    steered.practice.model.znodes.put("/config/brokers/2", old)
    steered.practice.model.copies_held = True
    cancelled = steered.practice.run(stop(Stop.CANCEL_NOW))
    assert cancelled.error is None, cancelled.error
    assert steered.practice.configs() == {}
    assert steered.practice.run(clear_throttles(Scope())).error is None
