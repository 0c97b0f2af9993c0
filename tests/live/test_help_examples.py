"""Every example of `--help` that needs a cluster is run; tests/cli/test_help.py runs the others."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command

from kadmin.cli.examples import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.eras]

ROOT = Path(__file__).parents[2]
LINES = list(
    dict.fromkeys(line.replace("\\\n", "") for lines in EXAMPLES.values() for line in lines)
)
ZOOKEEPER, BROKERS, OPERATION = "zk1:2181/kafka", "kafka1:9092", "20260301T120000Z-4f9a1c"
UNENDING = {"--watch", "--every", "sample"}
"""Words of commands that end at --timeout alone."""
ELSE = {
    "kadmin broker check": 8,  # other tests left partitions with one replica
    "kadmin broker unregister": 8,  # the broker is alive
    "kadmin consumers preview": 4,  # nobody consumes as group billing
    "kadmin consumers coordinator": 4,
    "kadmin doctor": 8,  # what other tests left on the cluster
    "kadmin recreate": 3,  # the operation on record is no deletion
    "kadmin recreate plans": 5,  # the topic is there
    "kadmin sample": 8,  # --timeout ends it
    "kadmin throttle set --hours": 3,  # no reassignment is unfinished
}
"""The exit codes of examples that meet something else than in the story that they tell."""


def examples(option: str) -> Iterator[str]:
    """The examples on one cluster in one mode; those of two, on the way to KRaft, are in the tests
    of that.
    """
    for line in LINES:
        words = shlex.split(line)
        if option in words and not {"-z", "-b"} <= set(words):
            yield line


def run_all(option: str, address: str, folder: Path) -> dict[str, tuple[int, str]]:
    """Run the examples, the plan first that the others are about; return those that did not end as
    they should.
    """
    (folder / "plans").symlink_to(ROOT / "plans")
    applied = command("apply", "plans/drain-broker.yaml", option, address, "--yes")
    assert applied.status == 0, applied.err
    operation = json.loads(command("history", option, address, "-o", "json").out)["operations"][0][
        "operation_id"
    ]
    names = {ZOOKEEPER: address, BROKERS: address, OPERATION: operation}
    wrong = {}
    for line in examples(option):
        words = [names.get(word, word) for word in shlex.split(line)[1:]]
        if UNENDING & set(words) and "--once" not in words:
            words += ["--timeout", "2"]
        done = command(*words)
        if not ended_well(line, done.status, done.err):
            wrong[line] = (done.status, done.err)
    return wrong


def ended_well(line: str, status: int, err: str) -> bool:
    """Whether an example ended with 0, where its question needs a terminal, or as ELSE tells."""
    asks = status == 64 and "A confirmation is needed, and there is no terminal to ask." in err
    return (
        status == 0
        or asks
        or any(status == code for begin, code in ELSE.items() if line.startswith(begin))
    )


@pytest.mark.matrix
def test_every_example_in_zookeeper_mode_is_run(
    live: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("sandbox", "seed", "--dir", str(live.spec.directory)).status == 0
    assert run_all("-z", live.connect_string, tmp_path) == {}


def test_every_example_in_kraft_mode_is_run(
    kraft: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("sandbox", "seed", "--dir", str(kraft.spec.directory)).status == 0
    assert run_all("-b", ",".join(kraft.bootstrap), tmp_path) == {}
