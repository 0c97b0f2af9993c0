"""The loop over a cluster that a test plays: outages, warnings, the command's end and signals."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from support.executor.fast_clock import FastClock

from kadmin.errors import (
    KadminError,
    NotAuthorizedError,
    NotCompletedError,
    StoppedError,
    UnreachableError,
)
from kadmin.next_step import command
from kadmin.operations import events
from kadmin.operations.context import POLL_S
from kadmin.operations.decide.actions import Finish, Wait
from kadmin.operations.execute.follow import OUTAGE_S, Loop, follow
from kadmin.operations.record.record import OperationState

if TYPE_CHECKING:
    from kadmin.operations.context import Context

DONE = Finish(OperationState.COMPLETED, "done")
LOST = UnreachableError("No answer.")


@dataclass
class Play:
    """Looks in order, each an action or an error; the last one repeats. `acts` fails with its
    errors first.
    """

    looks: list[str | Wait | Finish | KadminError]
    failures: list[KadminError] = field(default_factory=list)
    until: float = float("inf")
    acted: list[str] = field(default_factory=list)
    told: list[events.Event] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = FastClock(self.until)

    def observe(self) -> str | Wait | Finish:
        look = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if isinstance(look, KadminError):
            raise look
        return look

    def act(self, action: str, _seen: object) -> str | None:
        self.acted.append(action)
        if self.failures:
            raise self.failures.pop(0)
        return None

    def run(self) -> Finish:
        loop: Loop[str | Wait | Finish, str] = Loop(
            observe=self.observe,
            decide=lambda seen: seen,
            act=self.act,
            on_wait=lambda wait, _: self.waits.append(wait.reason),
            past_deadline=lambda reason, _: NotCompletedError(
                f"Not done by the deadline: {reason}."
            ),
            kept="the operation is on record",
            again=command("resume"),
        )
        context = cast("Context", SimpleNamespace(clock=self.clock, tell=self.told.append))
        return follow(loop, context)[0]

    @property
    def warnings(self) -> list[str]:
        return [
            each.text
            for each in self.told
            if isinstance(each, events.Note) and "warning" in each.text
        ]


def test_it_acts_between_looks_and_ends_with_finish() -> None:
    play = Play(["publish", Wait("copying"), "advance", DONE])
    assert play.run() is DONE
    assert (play.acted, play.waits, play.clock.time) == (
        ["publish", "advance"],
        ["copying"],
        POLL_S,
    )


def test_an_action_whose_reply_was_lost_is_not_repeated_without_a_look() -> None:
    play = Play(["publish", Wait("copying"), DONE], failures=[LOST])
    assert play.run() is DONE
    assert play.acted == ["publish"]


def test_it_outlasts_an_outage_and_names_the_command_that_goes_on() -> None:
    assert Play([LOST, LOST, "publish", LOST, DONE]).run() is DONE
    silent = Play([LOST])
    with pytest.raises(UnreachableError) as caught:
        silent.run()
    assert caught.value.next_command == "kadmin resume, when the cluster is reachable"
    assert OUTAGE_S <= silent.clock.time <= OUTAGE_S + POLL_S


def test_an_answer_ends_an_outage() -> None:
    """The minute counts anew after each answer."""
    looks = round(OUTAGE_S / POLL_S) - 1
    play = Play([*[LOST] * looks, Wait("copying"), *[LOST] * looks, DONE])
    assert play.run() is DONE


def test_a_refusal_is_raised_at_once() -> None:
    play = Play([NotAuthorizedError("Not allowed.")])
    with pytest.raises(NotAuthorizedError):
        play.run()
    assert play.clock.time == 0


def test_a_warning_is_told_once() -> None:
    late = Wait("waiting for the controller", "the controller has not begun")
    play = Play([late, late, Wait("copying"), late, DONE])
    assert play.run() is DONE
    assert play.warnings == ["warning: the controller has not begun"]


def test_the_commands_end_is_told_with_what_it_waited_for() -> None:
    play = Play([Wait("copying")], until=3.0)
    with pytest.raises(NotCompletedError, match="copying"):
        play.run()


def test_a_commands_end_in_an_outage_of_writes_alone_is_told_as_the_outage() -> None:
    """The cluster can be read, and takes no step: too few replicas of the record are in sync."""
    play = Play(["publish"], failures=[LOST] * 100, until=3.0)
    with pytest.raises(UnreachableError) as caught:
        play.run()
    assert caught.value.next_command == "kadmin resume, when the cluster is reachable"
    ended = Play(["publish", Wait("copying")], failures=[LOST], until=3.0)
    with pytest.raises(NotCompletedError, match="copying"):
        ended.run()


def test_a_signal_stops_before_the_next_action() -> None:
    play = Play(["publish"])
    with play.clock.deferring_signals():
        play.clock.interrupt(signal.SIGTERM)
    with pytest.raises(
        StoppedError, match=r"^Interrupted \(SIGTERM\); the operation is on record\.$"
    ) as caught:
        play.run()
    assert (play.acted, caught.value.next_command) == ([], "kadmin resume")
