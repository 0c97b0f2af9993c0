"""What a shell is answered while a line is typed: from files of this machine, at once, and never
with an error.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import TYPE_CHECKING

import pytest
from support.cli.inventories import small_inventory
from support.cli.process import ROOT, RUN, kadmin

from kadmin.cli import answer_shell
from kadmin.inventory import read_inventory, write_inventory
from kadmin.operations.record.codec import encode_status, restate
from kadmin.operations.record.record import (
    Author,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
)
from kadmin.worlds.kafka.values.record_copy import RecordCopy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Lines = Callable[[str], list[str]]

NOBODY = "127.0.0.1:1"
EAST, WEST = "kHD57VOWjTBKdUaz6n7K6n", "x1tFNBw8RliT6lpF9SpLXw"
VARIABLES = ("KADMIN_ZOOKEEPER", "KADMIN_BOOTSTRAP_SERVER", "KADMIN_CONTEXT", "KADMIN_CONFIG")
HEAVY = {"kafka", "kazoo", "pyspark", "numpy", "pandas", "pyarrow"}


def answer(line: str, shell: str = "bash") -> tuple[str, str]:
    """What kadmin writes to stdout and stderr when a shell asks how a line goes on."""
    words = line.split(" ")
    asked = {
        "_KADMIN_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(out), redirect_stderr(err):
        for name, value in asked.items():
            patched.setenv(name, value)
        with suppress(SystemExit):
            answer_shell()
    return out.getvalue(), err.getvalue()


EAST_MOVED, EAST_MOVES, WEST_DELETED, WEST_ELECTS = (
    f"20260101T000000Z-00000{number}" for number in range(4)
)


def suggested(line: str) -> list[str]:
    out, err = answer(line)
    assert err == ""
    return out.split()


def keep(
    records: Path, cluster_id: str, name: str, kind: OperationKind, state: OperationState
) -> None:
    """Write what a run on this machine keeps of an operation."""
    record = OperationRecord(
        name, kind, "{}", "sha256:0", cluster_id, "now", Author("ann", "host-a", 7), {}
    )
    status = encode_status(OperationStatus(OperationState.RUNNING, "now"), record)
    if state is not OperationState.RUNNING:
        status = restate(status, OperationStatus(state, "later"))
    RecordCopy(records, cluster_id, print).keep({f"operations/{name}/status": status}, lambda _: {})


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contexts of three clusters, a snapshot of one of them, and records of what was run on two."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    clusters: dict[str, dict[str, object]] = {
        "prod-east": {
            "kafka": {"bootstrap_servers": NOBODY},
            "cluster_id": EAST,
            "description": "orders",
        },
        "prod-west": {"kafka": {"bootstrap_servers": NOBODY}, "cluster_id": WEST},
        "test": {"zookeeper": {"connect": NOBODY}},
    }
    contexts = {
        name: {**each, "inventory": str(tmp_path / "inventory")} for name, each in clusters.items()
    }
    file = tmp_path / "contexts.json"
    file.write_text(json.dumps({"kind": "Contexts", "contexts": contexts}), encoding="utf-8")
    monkeypatch.setenv("KADMIN_CONFIG", str(file))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    small_inventory(tmp_path / "inventory")
    copies = tmp_path / "state" / "kadmin"
    keep(copies, EAST, EAST_MOVES, OperationKind.REASSIGNMENT, OperationState.PAUSED)
    keep(copies, EAST, EAST_MOVED, OperationKind.REASSIGNMENT, OperationState.COMPLETED)
    keep(copies, WEST, WEST_DELETED, OperationKind.DELETION, OperationState.COMPLETED)
    keep(tmp_path / "records", WEST, WEST_ELECTS, OperationKind.ELECTION, OperationState.RUNNING)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("kadmin st", ["status"]),
        ("kadmin context ", ["list", "show", "use", "check"]),
        ("kadmin throttle c", ["clear", "catch-up"]),
        ("kadmin status --wa", ["--watch"]),
        ("kadmin status -o ", ["human", "json"]),
        ("kadmin --version st", ["status"]),
        ("kadmin validate pl", []),  # the shell completes files then
        ("kadmin aply x", []),
        ("kadmin status --nope ", []),
    ],
)
def test_commands_options_and_choices(line: str, found: list[str]) -> None:
    assert suggested(line) == found


def test_all_commands_are_suggested() -> None:
    assert {"validate", "apply", "resume", "context", "sandbox"} <= set(suggested("kadmin "))


@pytest.mark.parametrize(
    "line",
    [
        "status --context ",
        "apply plan.yaml --confirm ",
        "context use ",
        "context show ",
        "context check ",
    ],
)
def test_names_of_contexts(line: str) -> None:
    assert suggested(f"kadmin {line}") == ["prod-east", "prod-west", "test"]
    assert suggested(f"kadmin {line}prod-w") == ["prod-west"]


def test_a_value_after_an_equals_sign_is_completed() -> None:
    assert suggested("kadmin status --context=te") == ["test"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("resume ", [EAST_MOVES]),
        ("pause ", [EAST_MOVES]),
        ("cancel --context prod-east ", [EAST_MOVES]),
        ("lock release ", [EAST_MOVES]),
        ("cancel --context prod-west ", []),
        ("history ", [EAST_MOVED, EAST_MOVES, WEST_DELETED]),
        ("history --context prod-west ", [WEST_DELETED]),
        (f"rollback -b {NOBODY} {EAST_MOVED}", [EAST_MOVED]),
        ("report --context prod-east ", [EAST_MOVED, EAST_MOVES]),
        ("recreate ", [WEST_DELETED]),
        (f"resume -b {NOBODY} --records {{folder}}/records ", [WEST_ELECTS]),
        (f"resume -z {NOBODY} ", []),  # ZooKeeper alone keeps these
        ("history --context test ", []),
    ],
)
def test_operations_that_this_machine_has_a_record_of(
    line: str, found: list[str], tmp_path: Path
) -> None:
    assert suggested(f"kadmin {line.format(folder=tmp_path)}") == found


def test_topics_of_the_snapshot_of_the_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert suggested("kadmin throttle clear --context test --topic ") == ["orders", "payments"]
    assert suggested("kadmin throttle set --context test --topic orders --topic pay") == [
        "payments"
    ]
    assert suggested(f"kadmin throttle set -z {NOBODY} --topic ") == []
    assert suggested("kadmin throttle set --topic ") == []
    monkeypatch.setenv("KADMIN_CONTEXT", "prod-east")
    write_inventory(read_inventory(tmp_path / "inventory"), tmp_path / "parquet", "parquet")
    (tmp_path / "inventory" / "partitions.csv").unlink()
    (tmp_path / "parquet" / "partitions.parquet").rename(
        tmp_path / "inventory" / "partitions.parquet"
    )
    assert suggested("kadmin throttle set --topic ") == ["orders", "payments"]


@pytest.mark.parametrize("table", ["csv", "parquet"])
def test_topics_of_a_cluster_in_the_snapshot_of_a_fleet(table: str, tmp_path: Path) -> None:
    folder = tmp_path / "inventory"
    fleet = read_inventory(type(tmp_path)(small_inventory(tmp_path / "fleet", test="a", other="b")))
    for file in folder.iterdir():
        file.unlink()
    write_inventory(fleet, folder, table)
    assert suggested("kadmin throttle set --context test --topic o") == ["orders"]
    assert suggested("kadmin throttle set --context prod-east --topic o") == []


def test_zsh_and_fish_explain_what_they_suggest() -> None:
    assert (
        answer("kadmin context use prod-", "fish")[0] == f"prod-east\torders\nprod-west\t{NOBODY}\n"
    )
    assert answer("kadmin cancel ", "fish")[0] == f"{EAST_MOVES}\treassignment, paused\n"
    assert f'"{EAST_MOVES}":"reassignment, paused"' in answer("kadmin cancel ", "zsh")[0]


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ("contexts.json", "kadmin status --context "),
        ("contexts.json", "kadmin resume "),
        ("inventory/inventory.json", "kadmin throttle set --context test --topic "),
        ("inventory/partitions.csv", "kadmin throttle set --context test --topic "),
        (f"state/kadmin/{EAST}/operations/{EAST_MOVES}/status", "kadmin resume "),
    ],
)
@pytest.mark.parametrize("how", ["invalid", "missing", "a folder"])
def test_an_error_is_silent(how: str, broken: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / broken
    path.unlink()
    if how == "invalid":
        path.write_bytes(b"\xff{")
    elif how == "a folder":
        path.mkdir()
    assert answer(line) in (("", ""), ("\n", ""))


def test_a_question_that_no_shell_asks_is_answered_with_nothing() -> None:
    done = kadmin(_KADMIN_COMPLETE="complete_bash", COMP_WORDS="kadmin", COMP_CWORD="x")
    assert (done.returncode, done.stdout, done.stderr) == (64, "", "")


@pytest.mark.parametrize(
    "line", ["kadmin ", "kadmin resume ", "kadmin throttle set --context test --topic "]
)
def test_completion_imports_no_client_of_a_cluster(line: str) -> None:
    """Rule: no client is imported, so no cluster is asked, and nothing slow is."""
    code = (
        f"import atexit, sys\natexit.register(lambda: print(*sys.modules, file=sys.stderr))\n{RUN}"
    )
    words = line.split(" ")
    cursor = str(len(words) - 1)
    done = kadmin(
        code=code, _KADMIN_COMPLETE="complete_bash", COMP_WORDS="\n".join(words), COMP_CWORD=cursor
    )
    assert done.stdout.split()
    assert HEAVY & {name.partition(".")[0] for name in done.stderr.split()} == set()


@pytest.fixture
def shell_with_kadmin(tmp_path: Path) -> Callable[[str, str], subprocess.CompletedProcess[str]]:
    """Runs a script in a shell that finds kadmin, with a home folder of its own."""
    program = tmp_path / "bin" / "kadmin"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kadmin "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)

    def run(shell: str, script: str) -> subprocess.CompletedProcess[str]:
        path = f"{program.parent}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
        return subprocess.run(
            [shell, "-c", script],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=environment,
        )

    return run


def test_bash_completes_a_line_after_the_installation(
    shell_with_kadmin: Callable[[str, str], subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    installed = shell_with_kadmin("bash", "kadmin --install-completion; exit $?")
    assert (installed.returncode, installed.stderr) == (0, "")
    asked = (
        "COMP_WORDS=(kadmin context use prod-) COMP_CWORD=3; _kadmin_completion kadmin; echo "
        "${COMPREPLY[*]}"
    )
    done = shell_with_kadmin("bash", f"source {tmp_path}/.bashrc; complete -p kadmin; {asked}")
    assert done.stderr == ""
    assert done.stdout == "complete -o default -F _kadmin_completion kadmin\nprod-east prod-west\n"
    shown = shell_with_kadmin("bash", "kadmin --show-completion; exit $?")
    assert (
        shown.stdout.strip() == (tmp_path / ".bash_completions" / "kadmin.sh").read_text().strip()
    )


def test_what_cannot_be_installed_is_told(
    shell_with_kadmin: Callable[[str, str], subprocess.CompletedProcess[str]],
) -> None:
    unknown = shell_with_kadmin("sh", "kadmin --show-completion; exit $?")
    assert unknown.returncode == 64
    assert "error: Completion is for bash, zsh and fish." in unknown.stderr
    nowhere = shell_with_kadmin("bash", "HOME=/dev/null kadmin --install-completion; exit $?")
    assert (nowhere.returncode, nowhere.stdout) == (8, "")
    assert nowhere.stderr.startswith("error: Cannot write /dev/null")
