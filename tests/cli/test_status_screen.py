"""The screen of `status --watch` for several contexts, on a real pseudo-terminal: nothing listens
where their brokers should be.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import termios
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cli.terminal import Terminal, python
from support.documents.plans import contexts

from kadmin.cli.fleet_watch import MOST_CLUSTERS, FleetWatch
from kadmin.cli.status_screen import show
from kadmin.contexts.address import ClusterAddress, Fleet
from kadmin.errors import StoppedError
from kadmin.operations.context import Clock
from kadmin.report.operations.clusters_screen import KEYS
from kadmin.report.screen import Screen
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = "127.0.0.1:1"
WATCH = (sys.executable, "-m", "kadmin", "status", "--watch", "--context", "prod-*")
BROKEN = python(
    """
import sys
from kadmin.cli import main, status_screen
lines, drawn = status_screen.screen_lines, []
def fail(*arguments):
    drawn.append(arguments)
    return lines(*arguments) if len(drawn) < 3 else 1 / 0
status_screen.screen_lines = fail
sys.argv = ["kadmin", "status", "--watch", "--context", "prod-*"]
main()
"""
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return nobody_at(tmp_path, "prod-eu", "prod-us", "test")


def nobody_at(folder: Path, *names: str) -> dict[str, str]:
    entries = {name: {"kafka": {"bootstrap_servers": NOBODY}} for name in names}
    return contexts(folder / "contexts.json", entries)


def assert_as_before(terminal: Terminal) -> None:
    assert terminal.modes == terminal.modes_before
    assert terminal.shown.cursor
    assert terminal.shown.kept is None, "the screen of before is back"


@pytest.mark.parametrize(("columns", "rows", "no_color"), [(80, 24, ""), (40, 20, "1")])
def test_rows_are_drawn_moved_in_and_left_as_the_terminal_was(
    environment: dict[str, str], columns: int, rows: int, no_color: str
) -> None:
    environment |= {"NO_COLOR": no_color}
    with Terminal(WATCH, environment, columns, rows) as terminal:
        terminal.type("p", "> prod-eu")
        terminal.type("j", "no operation is unfinished on prod-eu")
        terminal.type("\x1b[A", "> prod-us")
        terminal.wait_for("> prod-eu")
        terminal.wait_for(f"Nothing listens at {NOBODY}.\n")
        terminal.wait_for("  next:  check the addresses")
        assert len(terminal.shown.rows) == rows
        assert terminal.modes != terminal.modes_before, "keys are not echoed"
        assert (terminal.shown.cursor, terminal.shown.coloured) == (False, not no_color)
        terminal.type("q", KEYS)
        assert terminal.ended() == 6
        assert_as_before(terminal)
        assert terminal.shown.text.strip() == ""


def test_a_signal_leaves_the_terminal_as_it_was(environment: dict[str, str]) -> None:
    with Terminal(WATCH, environment) as terminal:
        terminal.wait_for(KEYS)
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended() == 128 + signal.SIGTERM
        assert_as_before(terminal)
        assert "error: Interrupted (SIGTERM); nothing was changed." in terminal.shown.text


def test_ctrl_c_ends_it_as_the_signal_does(environment: dict[str, str]) -> None:
    with Terminal(WATCH, environment) as terminal:
        terminal.type("\x03", KEYS)
        assert terminal.ended() == 128 + signal.SIGINT
        assert_as_before(terminal)
        assert "error: Interrupted (^C); nothing was changed." in terminal.shown.text


def test_a_bug_leaves_the_terminal_as_it_was(environment: dict[str, str]) -> None:
    with Terminal(BROKEN, environment) as terminal:
        assert terminal.ended() == 1
        assert_as_before(terminal)
        assert "ZeroDivisionError" in terminal.shown.text


def test_the_deadline_ends_it_without_a_key(environment: dict[str, str]) -> None:
    with Terminal((*WATCH, "--timeout", "1"), environment) as terminal:
        assert terminal.ended() in {6, 8}, "no answer, or none in time"
        assert_as_before(terminal)


def test_a_pipe_gets_a_line_with_the_context_first_and_ends_where_nothing_is_unfinished(
    environment: dict[str, str],
) -> None:
    answer = command(*WATCH[3:], environment=environment)
    assert answer.status == 6
    lines = sorted(answer.out.splitlines())
    assert [line.split()[0] for line in lines] == ["prod-eu:", "prod-us:"]
    assert all(line.endswith(f"Z Nothing listens at {NOBODY}.") for line in lines)
    told = command(*WATCH[3:], "-o", "json", environment=environment)
    values = [json.loads(line) for line in told.out.splitlines()]
    assert [validate_value(each, "answers/status-watch") for each in values] == [[], []]
    assert {each["context"] for each in values} == {"prod-eu", "prod-us"}


def test_more_clusters_than_are_watched_at_once_are_refused(tmp_path: Path) -> None:
    environment = nobody_at(tmp_path, *(f"prod-{n}" for n in range(MOST_CLUSTERS + 1)))
    answer = command(*WATCH[3:], environment=environment)
    assert answer.status == 64
    assert "reads 32 clusters at once, and the pattern matches 33" in answer.err


def test_a_pattern_that_matches_nothing_names_the_nearest_context(tmp_path: Path) -> None:
    answer = command(
        "status", "--watch", "--context", "prd-*", environment=nobody_at(tmp_path, "prod-eu")
    )
    assert answer.status == 64
    assert answer.err == (
        "error: No context matches 'prd-*'.\n"
        "  cause: did you mean prod-eu?\n"
        "  next:  kadmin context list\n"
    )


@pytest.mark.parametrize("last", [b"q", b"\x03"])
def test_keys_choose_a_row_and_end_the_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], last: bytes
) -> None:
    """Each key is typed while it is drawn, once what the key before it leads to was drawn."""
    typed = [b"j", b"p", b"x", b"\x1b[A", b"c", last]
    drawn = ["row 1 of 2", "row 2 of 2", "unfinished on prod-us", "row 2 of 2", "row 1 of 2"]
    awaited = iter(zip([*drawn, "unfinished on prod-eu"], typed, strict=True))
    ours, theirs = os.openpty()
    shown, (text, key) = "", next(awaited)

    def size() -> tuple[int, int]:
        nonlocal shown, text, key
        shown += capsys.readouterr().out
        if text in shown:
            os.write(ours, key)
            shown, (text, key) = "", next(awaited, ("nothing more", b""))
        return 80, 24

    addresses = {name: ClusterAddress(bootstrap=NOBODY) for name in ("prod-eu", "prod-us")}
    with os.fdopen(ours, closefd=True, mode="rb"), os.fdopen(theirs) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        monkeypatch.setenv("FORCE_COLOR", "1")  # or rich draws nothing without a terminal
        before = termios.tcgetattr(terminal)
        watch = FleetWatch(Fleet(addresses), Clock(), ends=False)
        with nullcontext() if last == b"q" else pytest.raises(StoppedError):
            show(watch, Screen(live=True, colour=True, size=size))
        assert termios.tcgetattr(terminal) == before
    assert text == "nothing more", f"{text} was not drawn"
