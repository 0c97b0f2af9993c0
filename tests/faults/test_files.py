"""Files that cannot be written or are not what they were, and terminals that are none."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cli.process import kadmin as with_input
from support.controller.simple_controller import CLUSTER_ID, Manner
from support.documents.plans import document, reassignment
from support.live.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.controller.simple_controller import SimpleController

pytestmark = pytest.mark.zookeeper

LARGE = 64 * 1024
"""More than the file system below holds."""


@pytest.fixture
def plan(cluster: SimpleController, tmp_path: Path) -> Path:
    cluster.create_topic("orders", {0: [1, 2]})
    value = reassignment("orders", {0: [2, 3]}, current={0: [1, 2]}, cluster_id=CLUSTER_ID)
    return document(tmp_path / "plan.yaml", value)


def file_in_place_of_folder(folder: Path) -> Iterator[Path]:
    (folder / "file").write_text("")
    yield folder / "file"


def folder_in_place_of_file(folder: Path) -> Iterator[Path]:
    for name in ("plan.yaml", "figures.json", "inventory.json", "brokers.csv", "partitions.csv"):
        (folder / name / "taken").mkdir(parents=True)
    yield folder


def full(folder: Path) -> Iterator[Path]:
    with mounted(folder, "size=4k"):
        (folder / "filling").write_bytes(b"x" * 4096)
        yield folder


def read_only(folder: Path) -> Iterator[Path]:
    with mounted(folder, "ro"):
        yield folder


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """Mount a file system in memory, where this machine lets us."""
    folder.mkdir(exist_ok=True)
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip("only root may mount a file system here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


TROUBLES = {
    "no-folder": file_in_place_of_folder,
    "no-file": folder_in_place_of_file,
    "ENOSPC": full,
    "read-only": read_only,
}


@pytest.fixture(params=TROUBLES)
def unwritable(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "out"
    folder.mkdir()
    yield from TROUBLES[request.param](folder)


def test_f29_a_plan_or_inventory_that_cannot_be_written_is_told_and_zookeeper_is_untouched(
    cluster: SimpleController, plan: Path, unwritable: Path
) -> None:
    del plan
    cluster.lead("orders", {0: 2})
    before = cluster.fingerprint()
    sizes = unwritable.parent / "sizes.json"
    sizes.write_text('{"version":1,"brokers":[]}')
    lines: list[list[str | Path]] = [
        ["propose", "election", "--out", unwritable / "plan.yaml"],
        ["snapshot", "--out", unwritable, "--table", "csv", "--sizes", sizes],
    ]
    for line in lines:
        refused = command(*line, "-z", cluster.connect)
        assert refused.status == 8, refused.err
        assert "Cannot write" in refused.err
        assert "Traceback" not in refused.err
    assert cluster.fingerprint() == before
    assert not list(unwritable.glob(".*.partial")) if unwritable.is_dir() else True


def test_f29_a_proposal_and_its_figures_that_cannot_be_written_are_told(
    cluster: SimpleController, plan: Path, unwritable: Path, tmp_path: Path
) -> None:
    del plan
    inventory, sizes = tmp_path / "inventory", tmp_path / "sizes.json"
    sizes.write_text('{"version":1,"brokers":[]}')
    assert (
        command("snapshot", "--out", inventory, "--sizes", sizes, "-z", cluster.connect).status == 0
    )
    wished = {
        "apiVersion": "kadmin/v1",
        "kind": "RebalanceRequest",
        "spec": {"brokers": {"drain": [1]}},
    }
    request = document(tmp_path / "request.yaml", wished)
    outputs: list[list[str | Path]] = [
        ["--out", unwritable / "plan.yaml"],
        ["--out", tmp_path / "made.yaml", "--figures", unwritable / "figures.json"],
    ]
    for each in outputs:
        refused = command(
            "propose", "rebalance", request, "--inventory", inventory, "--engine", "local", *each
        )
        assert refused.status == 8, refused.err
        assert "Cannot write" in refused.err
        assert "Traceback" not in refused.err


def test_f29_a_device_is_written_and_never_replaced(tmp_path: Path) -> None:
    """`--out /dev/stdout` is a pipe more often than not."""
    plan = document(tmp_path / "plan.yaml", reassignment("orders", {0: [2, 3]}))
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    refused = command("convert", plan, "--to", "kafka", "--lossy", "--out", link)
    assert refused.status == 8, refused.err
    assert "No space left" in refused.err
    assert link.is_symlink()
    assert link.is_char_device()


@pytest.mark.parametrize(
    "line",
    [
        ("validate", "PLAN"),
        ("validate", "PLAN", "--out", "OUT"),
        ("convert", "PLAN", "--to", "kafka", "--lossy"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    ("shell", "cause"),
    [("ulimit -f 0; exec", "File too large"), ("exec 1>&-; exec", "standard output is closed")],
    ids=["F29-EFBIG", "F31-stdout-closed"],
)  # fmt: skip
def test_an_answer_that_was_not_written_is_no_success(
    tmp_path: Path, shell: str, cause: str, line: tuple[str, ...]
) -> None:
    places = {
        "PLAN": document(tmp_path / "plan.yaml", reassignment("orders", {0: [2, 3]})),
        "OUT": tmp_path / "out",
    }
    command_line = [sys.executable, "-m", "kadmin", *(places.get(word, word) for word in line)]
    with (tmp_path / "stdout").open("wb") as stdout:
        ended = subprocess.run(
            ["bash", "-c", f'{shell} "$@"', "bash", *command_line],
            stdout=stdout,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            check=False,
        )
    assert (ended.returncode, cause in ended.stderr.decode()) == (8, True), ended.stderr
    assert b"Traceback" not in ended.stderr


def kadmin(
    *arguments: str | Path, stdout: int | None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "kadmin", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        check=False,
        timeout=60,
    )


def broken_pipe() -> Iterator[int]:
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def no_space() -> Iterator[int]:
    with open("/dev/full", "wb") as device:  # noqa: PTH123 - its descriptor is what counts
        yield device.fileno()


@pytest.mark.parametrize(
    ("stdout", "status"),
    [(broken_pipe, 141), (no_space, 8)],
    ids=["F31-reader-gone", "F29-stdout-ENOSPC"],
)
@pytest.mark.parametrize("line", [("schema", "list"), ("diff", "PLAN"), ("--help",)], ids=str)
def test_an_answer_that_nobody_takes_leaves_no_traceback(
    cluster: SimpleController,
    plan: Path,
    stdout: Callable[[], Iterator[int]],
    status: int,
    line: tuple[str, ...],
) -> None:
    for descriptor in stdout():
        arguments = [plan if word == "PLAN" else word for word in line]
        ended = kadmin(*arguments, stdout=descriptor, KADMIN_ZOOKEEPER=cluster.connect)
        assert ended.returncode == status, ended.stderr
        assert b"Traceback" not in ended.stderr
        assert b"Exception ignored" not in ended.stderr


@pytest.mark.parametrize(
    "environment",
    [
        {"COLUMNS": "20"},
        {"TERM": "dumb"},
        {"COLUMNS": "20", "TERM": "dumb", "LC_ALL": "C", "PYTHONUTF8": "0"},
    ],
    ids=["F31-20-columns", "F31-dumb", "F31-both-without-unicode"],
)
def test_a_terminal_that_is_none_gets_plain_text(
    cluster: SimpleController, plan: Path, environment: dict[str, str]
) -> None:
    for line in (("apply", "--help"), ("validate", plan), ("apply", plan, "--yes")):
        ended = kadmin(
            *line, stdout=subprocess.PIPE, KADMIN_ZOOKEEPER=cluster.connect, **environment
        )
        assert ended.returncode == 0, ended.stderr
        said = ended.stdout + ended.stderr
        assert b"\x1b" not in said
        assert b"\r" not in said
        assert b"Traceback" not in said


EDITED: dict[str, tuple[set[int], str, Callable[[str], str]]] = {
    "F32-edited-replicas": (
        {3},
        "keep one of them",
        lambda text: text.replace('"replicas": [2, 3]', '"replicas": [2, 2]'),
    ),
    "F32-edited-current": (
        {4},
        "KA043",
        lambda text: text.replace('"current": [1, 2]', '"current": [4, 2]'),
    ),
    "F32-edited-cluster": ({4}, CLUSTER_ID, lambda text: text.replace(CLUSTER_ID, "B" * 22)),
    "F32-truncated": ({3}, "plan.yaml:1:", lambda text: text[: len(text) // 2]),
    "F32-empty": ({3}, "empty", lambda _: ""),
    "F32-other-version": ({3}, "kadmin/v1", lambda text: text.replace("kadmin/v1", "kadmin/v2")),
}


@pytest.mark.parametrize("case", EDITED)
def test_a_plan_file_that_is_not_what_it_was_is_refused(
    cluster: SimpleController, plan: Path, case: str
) -> None:
    statuses, word, edit = EDITED[case]
    text = plan.read_text()
    plan.write_text(edit(text))
    assert plan.read_text() != text
    before = cluster.fingerprint()
    refused = command("apply", plan, "--yes", "-z", cluster.connect)
    assert refused.status in statuses, refused.err
    assert word in refused.err
    assert cluster.fingerprint() == before


def test_f32_a_plan_file_that_was_not_approved_is_refused(
    cluster: SimpleController, plan: Path
) -> None:
    """The bytes that were hashed are the bytes that are parsed, from standard input, too."""
    approved = hashlib.sha256(plan.read_bytes()).hexdigest()
    plan.write_bytes(plan.read_bytes() + b"\n")
    found = hashlib.sha256(plan.read_bytes()).hexdigest()
    before = cluster.fingerprint()
    line = ("--yes", "-z", cluster.connect, "--approved")
    refused = command("apply", plan, *line, approved)
    assert refused.status == 4
    assert refused.err.splitlines()[:2] == [
        f"error: {plan} is not the plan that was approved.",
        f"  cause: its SHA-256 is {found}, and approved was {approved}",
    ]
    for malformed in (f"sha256:{approved}", approved[:-1], f"{approved}  plan.yaml", ""):
        assert command("apply", plan, *line, malformed).status == 64
    truncated = plan.read_bytes()[:-9]
    plan.write_bytes(truncated)
    assert command("apply", plan, *line, approved).status == 4, (
        "the digest is checked before the text"
    )
    assert command("apply", plan, *line, hashlib.sha256(truncated).hexdigest()).status == 3
    assert cluster.fingerprint() == before


def test_f32_a_plan_that_was_approved_is_applied_from_standard_input(
    cluster: SimpleController, plan: Path
) -> None:
    data = plan.read_bytes()
    line = (
        "apply",
        "-",
        "--yes",
        "-z",
        cluster.connect,
        "--approved",
        hashlib.sha256(data).hexdigest().upper(),
    )
    refused = with_input(*line, data=data + b"\n")
    assert (refused.returncode, refused.stderr.partition("\n")[0]) == (
        4,
        "error: - is not the plan that was approved.",
    )
    done = with_input(*line, data=data)
    assert done.returncode == 0, done.stderr
    assert cluster.replicas("orders") == {0: [2, 3]}
    operation = cluster.operations()[-1]["id"]
    digest = hashlib.sha256(data).hexdigest()
    assert (
        f"\n  file: sha256sum {digest}\n"
        in command("history", operation, "-z", cluster.connect).out
    )
    for arguments in (["history"], ["history", operation]):
        (shown,) = json.loads(command(*arguments, "-z", cluster.connect, "-o", "json").out)[
            "operations"
        ]
        assert shown["file_digest"] == digest, arguments


def test_f32_a_record_whose_plan_was_edited_is_not_resumed(
    cluster: SimpleController, plan: Path
) -> None:
    """The digest tells: whatever the record now says, nobody approved it."""
    cluster.behave(Manner.BEGIN)
    assert command("apply", plan, "--yes", "-z", cluster.connect, "--timeout", "2").status == 8
    operation = cluster.operations()[-1]["id"]
    path = f"/kadmin/operations/{operation}/record/000000"
    record = json.loads(zlib.decompress(cluster.get(path) or b""))
    record["plan_text"] = record["plan_text"].replace("[2, 3]", "[2, 4]").replace("[2,3]", "[2,4]")
    cluster.client.set(path, zlib.compress(json.dumps(record).encode()))
    cluster.behave(Manner.OBEY)
    wait_until(lambda: cluster.get("/admin/reassign_partitions") is None, 10)
    refused = command("resume", "--yes", "-z", cluster.connect)
    assert refused.status == 4, refused.err
    assert "sha256:" in refused.err
    assert cluster.get("/kadmin/lock") is None
