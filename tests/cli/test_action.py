"""What the steps of action.yml do on a pull request, with this kadmin; tests/release/test_action.py
installs it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import yaml
from locked import locked
from pull_request import MOST_OF_A_COMMENT, Change, Place, report
from support.pages.snippets import snippet
from support.release.action import ACTION, BAD, EXPRESSION, GOOD, STEPS, Runner
from support.release.environments import ROOT

VALIDATE, SHOW, COMMENT, END = (
    "Validate",
    "Show what the plans would change",
    "Comment on the pull request",
    "Fail if a plan has an error",
)
PLACE = Place(
    "kadmin-changes-0123456789ab", "https://github.com/team/plans/actions/runs/42#artifacts"
)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    temp = tmp_path / "temp"
    temp.mkdir()
    (temp / "kadmin").symlink_to(sys.prefix)
    return Runner.on_pull_request(tmp_path / "checkout", temp, PYTHONPATH=str(ROOT))


def shown(comment: str) -> list[str]:
    return re.findall("^### kadmin: `(.+)`", comment, re.MULTILINE)


def test_a_valid_plan_passes_and_its_effect_becomes_a_comment(runner: Runner) -> None:
    assert runner.job() == 0
    (comment,) = runner.comments()
    assert shown(comment) == ["plans/drain.yaml"]
    assert "orders" in comment
    assert comment in (runner.temp / "summary.md").read_text()
    assert comment == Path(runner.output("changes.comment-file")).read_text()
    assert runner.output("changes.artifact") == ""


@pytest.mark.matrix
def test_an_invalid_plan_is_annotated_and_fails_the_job_at_the_end(runner: Runner) -> None:
    (runner.checkout / "plans" / "bad.yaml").write_text(BAD)
    done = runner.step(VALIDATE)
    assert done.returncode == 0
    assert "::error file=plans/bad.yaml,line=3" in done.stdout
    assert runner.step(SHOW).returncode == 0
    assert runner.step(END).returncode == 3


@pytest.mark.matrix
def test_every_line_of_the_input_is_read(runner: Runner) -> None:
    (runner.checkout / "more").mkdir()
    (runner.checkout / "more" / "bad.yaml").write_text(BAD)
    runner.values["inputs.plans"] = "plans/drain.yaml\nmore/*.yaml\n"
    assert runner.job() == 3
    assert shown(runner.comments()[0]) == ["plans/drain.yaml", "more/bad.yaml"]


@pytest.mark.matrix
@pytest.mark.parametrize("plans", ["", " \n", "nowhere/*.yaml", "empty", "plans/none.yaml"])
def test_nothing_read_is_a_failure(runner: Runner, plans: str) -> None:
    (runner.checkout / "empty").mkdir()
    runner.values["inputs.plans"] = plans
    assert "::error " in runner.step(VALIDATE).stdout
    assert runner.step(END).returncode in {3, 64}


@pytest.mark.matrix
def test_the_comment_is_found_by_its_marker(runner: Runner) -> None:
    assert runner.job() == 0
    (first,) = runner.comments()
    marker = first.splitlines()[0]
    runner.write_comments(
        (f"{marker}\nof somebody else", False),
        (first, True),
        ("another job's, written later", True),
    )
    (runner.checkout / "plans" / "drain.yaml").write_text(GOOD.replace("[1, 3]", "[2, 3]"))
    assert runner.job() == 0
    others = runner.comments()
    assert (others[0], others[2]) == (f"{marker}\nof somebody else", "another job's, written later")
    assert others[1].startswith(marker)
    assert others[1] != first


@pytest.mark.matrix
def test_two_uses_of_the_action_have_two_comments(runner: Runner) -> None:
    assert runner.job() == 0
    runner.values["inputs.plans"] = "plans/drain.yaml"
    assert runner.job() == 0
    assert len({comment.splitlines()[0] for comment in runner.comments()}) == 2


@pytest.mark.matrix
def test_a_plan_whose_diff_fails_is_shown_as_that(runner: Runner) -> None:
    (runner.checkout / "plans" / "bad.yaml").write_text(BAD)
    assert runner.job() == 3
    (comment,) = runner.comments()
    assert shown(comment) == ["plans/bad.yaml", "plans/drain.yaml"]
    assert "`kadmin diff` **failed** with exit code 3:" in comment
    assert "KA021" in comment


@pytest.mark.matrix
def test_a_diff_that_fails_after_validate_passed_fails_the_job(runner: Runner) -> None:
    assert runner.step(VALIDATE).returncode == 0
    (runner.checkout / "plans" / "drain.yaml").unlink()
    runner.values["inputs.plans"] = "plans/drain.yaml"
    assert runner.step(SHOW).returncode == 0
    assert runner.step(END).returncode == 3


@pytest.mark.matrix
def test_the_policy_counts_for_what_is_shown_too(runner: Runner) -> None:
    (runner.checkout / "policy.yaml").write_text(
        "kind: Policy\nspec: {protected_topics: [orders]}\n"
    )
    (runner.checkout / "plans" / "delete.yaml").write_text(
        "kind: TopicDeletion\nspec: {topics: [orders]}\n"
    )
    runner.values["inputs.policy"] = "policy.yaml"
    assert runner.job() == 3
    assert "protected" in runner.comments()[0].partition("plans/drain.yaml")[0]


@pytest.mark.matrix
def test_without_an_inventory_plans_are_validated_alone(runner: Runner) -> None:
    runner.values["inputs.inventory"] = ""
    assert runner.step(VALIDATE).returncode == 0
    assert runner.step(END).returncode == 0


@pytest.mark.matrix
def test_where_nothing_is_a_plan_the_comment_says_so(runner: Runner) -> None:
    runner.values["inputs.plans"] = "plans/rebalance.yaml"
    assert runner.job() == 0
    assert "None of these documents is a plan" in runner.comments()[0]


@pytest.mark.matrix
def test_a_comment_is_as_long_as_it_may_be_and_the_rest_is_an_artifact(runner: Runner) -> None:
    problems = ", ".join(
        f"{{topic: t{number}, partition: 0, replicas: [1, 1]}}" for number in range(60)
    )
    for number in range(14):
        (runner.checkout / "plans" / f"{number:02}.yaml").write_text(
            f"kind: PartitionReassignment\nspec: {{partitions: [{problems}]}}\n"
        )
    assert runner.job() == 3
    (comment,) = runner.comments()
    assert "This is too long to be shown here." in comment
    assert (
        f"[{runner.output('changes.artifact')}](https://github.com/team/plans/actions/runs/42#artifacts)"
        in comment
    )
    assert len(shown(Path(runner.output("changes.artifact-file")).read_text())) == 15
    (upload,) = (step for step in STEPS if "upload-artifact" in step.get("uses", ""))
    assert EXPRESSION.findall(json.dumps(upload["with"])) == [
        "steps.changes.outputs.artifact",
        "steps.changes.outputs.artifact-file",
    ]


@pytest.mark.parametrize("number", [1, 2, 30, 3_000])
@pytest.mark.parametrize("length", [10, 20_000, 100_000])
def test_no_report_is_too_long_and_none_loses_a_plan_without_a_word(
    number: int, length: int
) -> None:
    changes = [
        Change(f"plans/{each}.yaml", f"### kadmin: `plans/{each}.yaml`\n" + "é" * length)
        for each in range(number)
    ]
    text, cut = report(changes, PLACE, MOST_OF_A_COMMENT)
    whole = text.count("é") // length
    assert len(text.encode()) <= MOST_OF_A_COMMENT
    assert cut == (whole < number) == (PLACE.page in text)
    assert not cut or f"The rest of {number - whole:,} plan" in text


def test_no_text_of_an_input_is_a_part_of_a_script() -> None:
    assert [step["name"] for step in STEPS if EXPRESSION.search(step.get("run", ""))] == []


def test_an_input_with_shell_syntax_is_data(runner: Runner) -> None:
    runner.values["inputs.plans"] = "plans $(touch${IFS}owned) `touch${IFS}owned`"
    runner.step(VALIDATE)
    runner.step(SHOW)
    assert runner.output("validate.exit-code") == "3"
    assert not (runner.checkout / "owned").exists()


def test_no_module_of_the_pull_request_is_imported(runner: Runner) -> None:
    for name in ("kadmin", "yaml", "typer"):
        (runner.checkout / f"{name}.py").write_text(
            "from pathlib import Path\nPath('owned').touch()\n"
        )
    assert runner.job() == 0
    assert not (runner.checkout / "owned").exists()


def test_a_name_in_the_log_is_no_command(runner: Runner) -> None:
    name = "##[error]owned\n::error::owned.yaml"
    (runner.checkout / "plans" / name).write_text("kind: TopicDeletion\nspec: {topics: [1]}\n")
    lines = runner.step(VALIDATE).stdout.splitlines()
    begin = next(
        number for number, line in enumerate(lines) if line.startswith("::stop-commands::")
    )
    end = lines.index(f"::{lines[begin].rpartition('::')[2]}::")
    obeyed = [*lines[:begin], *lines[end + 1 :]]
    assert [
        line for line in obeyed if "owned" in line and not line.startswith("::error file=plans/")
    ] == []
    assert any("owned" in line for line in lines[begin:end])


def test_every_action_is_pinned_by_a_commit() -> None:
    pinned = re.compile(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|OWNER/kadmin@COMMIT")
    pages = [ROOT / "action.yml", *sorted((ROOT / "docs").glob("*.md"))]
    uses = re.compile(r"^[ -]+uses: (.+)", re.MULTILINE)
    used = [line for page in pages for line in uses.findall(page.read_text(encoding="utf-8"))]
    assert len(used) >= 4
    assert [line for line in used if not pinned.fullmatch(line)] == []


def test_the_lock_of_the_action_is_the_part_of_the_lock_that_it_needs() -> None:
    """CONTRIBUTING has the command that writes it."""
    assert (ROOT / "action" / "requirements.lock").read_text(encoding="utf-8") == locked(
        (), ("hatchling", "pyarrow")
    )


def test_the_workflow_of_the_page_gives_inputs_that_the_action_has() -> None:
    job = yaml.safe_load(snippet("ci.md", "kadmin's action for GitHub", "yaml"))["jobs"]["plans"]
    (step,) = (each for each in job["steps"] if each["uses"].startswith("OWNER"))
    assert set(step["with"]) <= set(ACTION["inputs"])
