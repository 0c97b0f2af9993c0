"""What `kadmin status` says of unfinished operations, once and again and again."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.answers import violations
from support.cli.in_process import command
from support.cli.terminal import Shown, in_terminal
from support.controller.eras import ERAS
from support.controller.znodes import TOPICS, encode
from support.executor.fast_clock import FastClock
from support.executor.kill_points import TOPIC, WAVES, Ground
from support.executor.runs import apply, resume

from kadmin.errors import NotCompletedError, UnreachableError
from kadmin.operations.context import Clock
from kadmin.operations.reading.status import StatusReader
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.keys import step_key
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.report.operations.status import status_answer, status_text
from kadmin.report.operations.watched import Watched
from kadmin.report.screen import Screen
from kadmin.schema import validate_value
from kadmin.worlds.zookeeper.backend import ZooKeeperBackend
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.model import SetData
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from support.executor.runs import Practice, Site

NO_PID = 2**22 + 1
"""Beyond the largest id of a process on Linux."""


@pytest.mark.zookeeper
def test_status_tells_wave_throttle_what_is_waited_for_and_that_nobody_runs_it(
    killed: Practice,
) -> None:
    text = command("status", "-z", killed.connect_string).out
    assert "  progress: wave 2 of 3, " in text
    assert "  plan: three-waves" in text
    assert "  throttle: 1.00 MB/s" in text
    assert "  no runner; next: kadmin resume" in text


@pytest.mark.zookeeper
def test_status_says_that_the_runner_s_process_is_gone_while_its_lock_is_not(
    killed: Practice,
) -> None:
    with Store.connect(killed.connect_string) as store:
        context = zookeeper_context(store, Paths(), Clock(), lambda _: None)
        (listing,) = context.operations.listings()
        for pid, gone in ((NO_PID, True), (context.author.pid, False)):
            holder = Holder(replace(context.author, pid=pid), listing.operation_id, "now", 10.0)
            lease = context.operations.lock.take(holder, 0)
            text = command("status", "-z", killed.connect_string).out
            context.operations.lock.release(lease)
            assert f"  runner: {holder}" in text
            said = (
                "its process no longer runs; another runner can continue in 15 s at most: kadmin "
                "resume"
            )
            assert (said in text) == gone


@pytest.mark.zookeeper
def test_a_request_that_no_runner_has_read_is_shown_because_the_next_one_obeys_it(
    killed: Practice,
) -> None:
    with Store.connect(killed.connect_string) as store:
        context = zookeeper_context(store, Paths(), Clock(), lambda _: None)
        (listing,) = context.operations.listings()
        request = StopRequest(Stop.CANCEL_NOW, "someone@host", "2026-01-01T00:00:00Z")
        assert f"  {request}\n" not in command("status", "-z", killed.connect_string).out
        context.operations.ask(listing.operation_id, request)
    assert f"  {request}\n" in command("status", "-z", killed.connect_string).out


@pytest.mark.zookeeper
def test_what_cannot_be_decoded_is_named_and_what_can_is_shown(killed: Practice) -> None:
    with Store.connect(killed.connect_string) as store:
        context = zookeeper_context(store, Paths(), Clock(), lambda _: None)
        (listing,) = context.operations.listings()
        step = Paths().of(step_key(listing.operation_id, 1))
        store.multi([SetData(step, b"garbage", -1)])
        assert (
            context.read_each((listing,), lambda each: context.operations.steps(each.operation_id))
            == {}
        )
    found = command("status", "-z", killed.connect_string)
    assert found.status == NotCompletedError.exit_code
    assert f"operation {listing.operation_id} (reassignment, interrupted)" in found.out
    assert f"  progress: unknown: {step} cannot be decoded" in found.out
    assert f"{step} cannot be decoded" in found.err


class NoController(ZooKeeperBackend):
    """A back-end whose record can be read while no controller answers."""

    def check(self) -> None:
        raise UnreachableError("no controller answers")


@pytest.mark.zookeeper
def test_what_is_on_record_is_shown_while_no_controller_answers(
    killed: Practice, chroot: str
) -> None:
    """Without anything on record, it is an error as before."""
    for place in (killed.connect_string, chroot):
        with Store.connect(place) as store:
            context = zookeeper_context(store, Paths(), Clock(), lambda _: None)
            reader = StatusReader(replace(context, backend=NoController(store, Paths(), Clock())))
            if place == chroot:
                with pytest.raises(UnreachableError):
                    reader.read()
                continue
            found = reader.read()
    assert "  progress: unknown: no controller answers\n" in status_text(found)
    assert "  throttle: 1.00 MB/s\n  no runner; next: kadmin resume" in status_text(found)
    assert violations(status_answer(found), "status") == []


@pytest.mark.zookeeper
def test_status_names_a_topic_that_is_gone(site: Site, killed: Practice) -> None:
    killed.model.run()
    site.client.delete(f"{killed.chroot}/brokers/topics/orders", recursive=True)
    text = command("status", "-z", killed.connect_string).out
    assert "waits for: Changed by others since the plan was made" in text
    assert "deleted: orders-0, orders-1, orders-2, orders-3, orders-4" in text


@pytest.mark.zookeeper
def test_status_names_a_target_that_is_dead(killed: Practice) -> None:
    killed.model.kill_broker(3)
    text = command("status", "-z", killed.connect_string).out
    (waits_for,) = (line for line in text.splitlines() if line.startswith("  waits for: "))
    assert "not alive: 3" in waits_for, text


def isr_of_first_wave(practice: Practice, isr: list[int]) -> None:
    for number in WAVES[0]:
        state = {"version": 1, "controller_epoch": 1, "leader": 2, "leader_epoch": 7, "isr": isr}
        practice.model.znodes.client.set(
            f"{practice.chroot}{TOPICS}/{TOPIC}/partitions/{number}/state", encode(state)
        )


@pytest.mark.zookeeper
def test_replicas_of_an_earlier_wave_that_left_the_isr_leave_the_running_wave_what_it_is(
    killed: Practice,
) -> None:
    killed.model.kill_broker(3)
    isr_of_first_wave(killed, [2])
    text = command("status", "-z", killed.connect_string).out
    assert "  progress: wave 2 of 3, " in text
    assert "not alive: 3" in text
    assert "another tool" not in text

    def start_the_broker() -> float:
        if 3 not in killed.model.live_brokers():
            killed.model.start_broker(3)
            isr_of_first_wave(killed, [2, 3])
        return killed.work()

    resumed = killed.process(resume(), start_the_broker).run()
    assert resumed.outcome is not None, resumed.error
    assert resumed.outcome.message == "5 partitions at the target"


@pytest.mark.zookeeper
def test_watching_in_a_pipe_ends_when_nothing_is_unfinished_and_gives_lines_of_json(
    killed: Practice,
) -> None:
    told = command("status", "--watch", "--timeout", "1", "-z", killed.connect_string, "-o", "json")
    (line,) = told.out.splitlines()
    assert (told.status, validate_value(json.loads(line), "answers/status")) == (0, [])
    assert killed.run(resume()).outcome is not None
    ended = command("status", "--watch", "-z", killed.connect_string)
    time, _, shown = ended.out.partition("\n")
    assert (ended.status, time[-1], shown) == (0, "Z", "no operation is unfinished\n"), (
        "each answer has its time"
    )


@pytest.mark.zookeeper
def test_read_again_and_again_it_shows_the_rate_and_only_beside_a_runner_the_time_left(
    site: Site,
) -> None:
    ground = Ground(site, ERAS["2.8.2"])
    practice, clock, shown = ground.practice(), FastClock(), list[str]()
    plan = ground.plan()
    plan = replace(
        plan, reassignments=tuple(replace(each, size_bytes=10**6) for each in plan.reassignments)
    )
    with Store.connect(practice.connect_string) as store:
        reader = StatusReader(zookeeper_context(store, Paths(), clock, lambda _: None))

        def work() -> float:
            clock.time += 2.0
            shown.append(status_text(reader.read()))
            if any("2.00 of 5.00 MB" in text for text in shown):
                process.die()
            return practice.work()

        process = practice.process(apply(plan), work)
        assert process.run().killed
        assert re.search(
            r"wave 2 of 3, 2/5 done, 2.00 of 5.00 MB, \d\S* kB/s, \d:\d\d left", shown[-1]
        ), shown[-1]
        practice.bury()
        alone = status_text(reader.read())
    assert "kB/s" in alone
    assert " left" not in alone


@pytest.mark.zookeeper
@pytest.mark.parametrize("columns", [20, 80])
def test_watching_on_a_terminal_draws_lines_that_never_wrap(killed: Practice, columns: int) -> None:
    watch = [
        sys.executable,
        "-m",
        "kadmin",
        "status",
        "--watch",
        "--timeout",
        "4",
        "-z",
        killed.connect_string,
    ]
    status, written = in_terminal(watch, columns)
    assert status == 0, written
    assert written.count("\x1b[J") >= 2
    shown = Shown(columns)
    shown.write(written)
    assert sum("operation" in row for row in shown.rows) == 1, "the first is drawn over"
    assert all(len(line) < columns for line in re.split(r"[\r\n]+|\x1b\[\d*[A-Z]", written))


class SetClock(Clock):
    """A clock that shows what it is set to."""

    seconds = 0.0

    def now(self) -> float:
        return self.seconds

    def timestamp(self) -> str:
        return f"at {self.seconds:.0f}"


def test_a_pipe_gets_what_is_new_and_everything_after_30_s() -> None:
    written: list[str] = []
    clock = SetClock()
    watched = Watched(
        written.append, Screen(live=False, colour=False, size=lambda: (80, 24)), clock
    )
    for now, lines in (
        (0.0, ["a"]),
        (10.0, ["a"]),
        (20.0, ["a", "b"]),
        (40.0, ["a", "b"]),
        (50.0, ["a", "b"]),
    ):
        clock.seconds = now
        watched.block(lines)
    watched.close()
    assert written == ["at 0\na\n", "at 20\na\nb\n", "at 50\na\nb\n"], "each has its time"
