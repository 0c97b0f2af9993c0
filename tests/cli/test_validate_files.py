"""Which files `kadmin validate` reads: folders, patterns, links, standard input, and files that it
cannot read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cli.inventories import small_inventory
from support.cli.process import ROOT, kadmin
from support.documents.bad_documents import BAD
from support.documents.plans import GOOD

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_folder_and_a_glob_are_their_documents_sorted(plans: Path) -> None:
    by_folder = json.loads(command("validate", ".", "--format", "json", cwd=plans).out)
    assert by_folder["files"] == [
        "b07-partition-twice.yaml",
        "b11-collision.yaml",
        "good.json",
        "good.yml",
    ]
    by_glob = json.loads(
        command("validate", "good.*", "good.yml", "--format", "json", cwd=plans).out
    )
    assert by_glob["files"] == ["good.json", "good.yml"]
    assert by_glob["valid"]


@pytest.mark.parametrize("name", ["missing.yaml", "none/*.yaml", "empty"])
def test_nothing_to_read_is_invalid_input(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    done = command("validate", name, cwd=tmp_path)
    assert (done.status, done.err) == (3, "")
    assert f"{name}:1:1: error KA001: this cannot be read: " in done.out


@pytest.mark.parametrize("output", ["human", "json", "github", "sarif", "gitlab", "junit"])
def test_odd_names_of_files_end_in_no_traceback(tmp_path: Path, output: str) -> None:
    for name in (b"b\xff.yaml", b"t\tab.yaml", "é [red].yaml".encode()):
        (tmp_path / os.fsdecode(name)).write_bytes(BAD["b07-partition-twice"][1])
    done = kadmin("validate", ".", "--format", output, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "")


def test_what_cannot_be_read_in_a_folder_is_told_and_not_passed_over(plans: Path) -> None:
    os.mkfifo(plans / "pipe.yaml")
    (plans / "folder.yaml").mkdir()
    for name in (".", "*.yaml"):
        assert (
            json.loads(command("validate", name, "--format", "json", cwd=plans).out)["errors"] == 1
        )
    (plans / "loop.yaml").symlink_to("loop.yaml")
    looping = command("validate", ".", cwd=plans)
    assert (
        looping.status,
        "loop.yaml:1:1: error KA001: this cannot be read: Too many levels" in looping.out,
    ) == (3, True)
    (plans / "loop.yaml").unlink()
    (plans / "gone.yaml").symlink_to("nowhere")
    gone = command("validate", "*.yaml", cwd=plans)
    assert (
        gone.status,
        "gone.yaml:1:1: error KA001: this cannot be read: No such file" in gone.out,
    ) == (3, True)
    nameless = command("validate", "", cwd=plans)
    assert (nameless.status, "cannot be read" in nameless.out) == (3, True), (
        "no name is not this folder"
    )


def test_a_folder_that_may_not_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(_: Path) -> Iterator[Path]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", forbidden)
    refused = command("validate", tmp_path)
    assert (refused.status, "this cannot be read: Permission denied" in refused.out) == (3, True)


def test_the_summary_counts_the_plans_that_were_applied(plans: Path) -> None:
    (plans / "b07-partition-twice.yaml").unlink()
    (plans / "b11-collision.yaml").unlink()
    (plans / "applied").mkdir()
    (plans / "good.yml").rename(plans / "applied" / "good.yml")
    done = command("validate", ".", cwd=plans)
    assert (done.status, done.out) == (
        0,
        "2 files (1 applied, checked by the schema alone): no problem\n",
    )


def test_a_folder_is_everything_below_it(plans: Path) -> None:
    """What a check of `plans` does not look at would pass: folders in folders, endings in capitals,
    links back up.
    """
    (plans / "team" / "more").mkdir(parents=True)
    (plans / "team" / "up").symlink_to("..")
    (plans / ".venv").mkdir()
    for name in ("team/bad.yaml", "team/more/bad.yaml", "BAD.YML", "bad.Json", ".venv/bad.yaml"):
        (plans / name).write_bytes(b"{" + BAD["b07-partition-twice"][1])
    answer = json.loads(command("validate", "plans", "--format", "json", cwd=plans.parent).out)
    found = [
        name
        for name in answer["files"]
        if "good" not in name and "b07" not in name and "b11" not in name
    ]
    assert found == [
        "plans/BAD.YML",
        "plans/bad.Json",
        "plans/team/bad.yaml",
        "plans/team/more/bad.yaml",
    ]
    assert {each["file"] for each in answer["problems"] if each["code"] == "KA002"} == set(found)


def test_a_file_named_as_standard_input_is(plans: Path) -> None:
    (plans / "-").write_bytes(BAD["b07-partition-twice"][1])
    for names in (("./-",), ("-", "./-"), ("?",)):
        done = command("validate", *names, data=GOOD, cwd=plans)
        assert (done.status, "./-:6:7: error KA020" in done.out) == (3, True)
    assert command("validate", "-", "-", data=GOOD, cwd=plans).out == "1 file: no problem\n"


def test_a_file_reached_twice_is_one_file(plans: Path) -> None:
    (plans / "self").symlink_to(".")
    (plans / "linked.yml").symlink_to("good.yml")
    answer = json.loads(
        command("validate", "**/good.*", "linked.yml", "--format", "json", cwd=plans).out
    )
    assert answer["files"] == ["good.json", "good.yml"]


def test_a_file_without_end_is_read_no_further_than_to_see_it() -> None:
    done = command("validate", "/dev/zero")
    assert (done.status, "error KA008: the file has more than" in done.out) == (3, True)


def test_standard_input_that_is_closed() -> None:
    closed = subprocess.run(
        ["bash", "-c", 'exec "$0" -m kadmin validate - <&-', sys.executable],
        capture_output=True,
        check=False,
        cwd=ROOT,
    )
    assert (closed.returncode, closed.stdout.splitlines()[0]) == (
        3,
        b"-:1:1: error KA001: this cannot be read: it is closed",
    )


def test_a_name_with_control_characters_is_told_escaped(tmp_path: Path) -> None:
    name = tmp_path / "\x1b]0;title\x07.yaml"
    done = command("validate", name)
    assert (
        done.status,
        "\x1b" in done.out,
        "\ufffd]0;title\ufffd.yaml:1:1: error KA001" in done.out,
    ) == (3, False, True)
    done = command("validate", "plan.yaml", "--policy", name)
    assert (done.status, "\x1b" in done.err, "\\x1b]0;title\\x07" in done.err) == (3, False, True)


def test_an_answer_never_replaces_a_document(plans: Path) -> None:
    (plans / "link").symlink_to("good.yml")
    refused = command("validate", plans, "--format", "json", "--out", plans / "link")
    assert (refused.status, "was read for this answer" in refused.err) == (64, True)
    assert (plans / "good.yml").read_bytes() == GOOD
    (plans / "policy.yaml").write_text("kind: Policy\nspec: {}\n")
    policy = ("--policy", plans / "policy.yaml", "--out", plans / "policy.yaml")
    assert command("validate", plans / "good.yml", *policy).status == 64
    folder = Path(small_inventory(plans.parent / "inventory"))
    for name, status in (("inventory.json", 64), ("partitions.csv", 64), ("answer.json", 3)):
        done = command(
            "validate", plans / "good.yml", "--inventory", folder, "--out", folder / name
        )
        assert done.status == status, name


@pytest.mark.parametrize("output", ["human", "json", "github", "sarif", "gitlab", "junit"])
def test_what_cannot_be_read_hides_nothing(plans: Path, output: str) -> None:
    """No file, a folder without documents, a loop, a name too long and what is no text, before what
    is wrong.
    """
    (plans / "loop.yaml").symlink_to("loop.yaml")
    (plans / "empty").mkdir()
    (plans / "text.yaml").write_bytes(b"\xff")
    names = (
        "gone.yaml",
        "empty",
        "loop.yaml",
        "n" * 300,
        "text.yaml",
        "b07-partition-twice.yaml",
        "good.yml",
    )
    done = command("validate", *(plans / name for name in names), "--format", output)
    assert (done.status, done.err) == (3, "")
    assert (done.out.count("KA001") >= 5, "KA020" in done.out) == (True, True), done.out


COMMAND_IN_A_NAME = "x\n::error::owned.yaml"
"""A name that begins a line of its own, which GitHub takes for a command."""


@pytest.mark.parametrize(
    "given",
    [
        ("diff", "{bad}", "--inventory", "{none}"),
        ("diff", "{none}", "--inventory", "{none}"),
        ("validate", "{bad}", "--policy", "{bad}"),
        ("validate", "{bad}", "--inventory", "{none}"),
        ("validate", "{bad}", "--out", "{none}/{bad}"),
        ("convert", "{bad}", "--to", "kafka"),
        ("apply", "{none}", "-z", "zk1:2181"),
    ],
    ids=" ".join,
)
def test_a_name_of_a_file_begins_no_line(tmp_path: Path, given: tuple[str, ...]) -> None:
    bad, none = tmp_path / COMMAND_IN_A_NAME, tmp_path / f"none-{COMMAND_IN_A_NAME}"
    bad.write_text('kind: TopicDeletion\nspec: {topics: ["a\\n::error::b", 1]}\n')
    answer = command(*(each.format(bad=bad, none=none) for each in given))
    assert answer.status in {3, 8}
    assert "::error::owned.yaml" in answer.out + answer.err
    assert [
        line for line in (answer.out + answer.err).splitlines() if line.lstrip().startswith("::")
    ] == []


def test_each_problem_of_a_plan_has_a_line_of_its_own(tmp_path: Path) -> None:
    plan = tmp_path / "bad.yaml"
    plan.write_text("kind: TopicDeletion\nspec: {topics: [1, 2]}\n")
    lines = command("diff", plan, "--inventory", tmp_path).err.splitlines()
    assert [line.partition(": KA")[0] for line in lines] == [
        f"error: {plan} is not valid: 2 problems.",
        f"  cause: {plan}:2:17",
        f"    {plan}:2:20",
        f"  next:  kadmin validate {plan}",
    ]
