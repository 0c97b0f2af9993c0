"""The steps of action.yml as a runner of GitHub executes them, on a repository with plans and an inventory."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from support.cli.inventories import CLUSTER_ID, small_inventory
from support.release.environments import ROOT, clean, interpreters, run

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

pytestmark = pytest.mark.release

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")
GOOD = f"""kind: PartitionReassignment
metadata: {{cluster_id: {CLUSTER_ID}}}
spec: {{partitions: [{{topic: orders, partition: 0, current: [1, 2], replicas: [1, 3]}}]}}
"""
BAD = GOOD.replace("replicas: [1, 3]", "replicas: [1, 1]")
# What GitHub's own command for comments would be: it keeps its arguments and the comment.
GH = """#!/bin/sh
printf '%s ' "$@" > "$RUNNER_TEMP/gh-arguments"
cp "$5" "$RUNNER_TEMP/gh-comment"
"""


@dataclass
class Runner:
    """Executes steps in a checkout, with the inputs and the variables that a job on a pull request has."""

    checkout: Path
    temp: Path
    values: dict[str, str]

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        (step,) = (each for each in STEPS if each.get("name") == name)
        outputs, summary = self.temp / "outputs", self.temp / "summary.md"
        outputs.write_text("")
        variables = {key: self._filled_in(text) for key, text in step.get("env", {}).items()}
        github = {
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
            "PATH": os.pathsep.join([str(self.temp / "path"), clean()["PATH"]]),
        }
        # The command of GitHub's `shell: bash`.
        command: list[str | Path] = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        done = run(command, self.checkout, **github, **variables)
        for line in outputs.read_text().splitlines():
            key, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{key}"] = value
        return done

    def _filled_in(self, text: str) -> str:
        return EXPRESSION.sub(lambda found: self.values[found[1]], text)


@pytest.fixture(scope="module")
def temp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job, where the action has installed kadmin."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "path").mkdir()
    (folder / "path" / "python").symlink_to(next(iter(interpreters().values())))
    gh = folder / "path" / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    done = Runner(folder, folder, {}).step("Install kadmin")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def runner(temp: Path, tmp_path: Path) -> Runner:
    inputs = {f"inputs.{name}": str(given.get("default", "")) for name, given in ACTION["inputs"].items()}
    github = {"github.repository": "team/plans", "github.event.pull_request.number": "7", "inputs.token": "token"}
    (tmp_path / "plans" / "applied").mkdir(parents=True)
    (tmp_path / "plans" / "drain.yaml").write_text(GOOD)
    (tmp_path / "plans" / "applied" / "old.yaml").write_text(GOOD.replace("[1, 3]", "[2, 1]"))
    (tmp_path / "plans" / "rebalance.yaml").write_text("kind: RebalanceRequest\nspec: {}\n")
    small_inventory(tmp_path / "inventory")
    (temp / "summary.md").write_text("")
    return Runner(tmp_path, temp, inputs | github | {"inputs.inventory": "inventory"})


def test_a_valid_plan_passes_and_its_effect_becomes_a_comment(runner: Runner) -> None:
    done = runner.step("Validate")
    assert (done.returncode, runner.values["steps.validate.outputs.exit-code"]) == (0, "0"), done.stdout + done.stderr
    done = runner.step("Show what the plans would change")
    assert done.returncode == 0, done.stderr
    assert runner.step("Comment on the pull request").returncode == 0
    assert runner.step("Fail if a plan has an error").returncode == 0

    comment = (runner.temp / "gh-comment").read_text()
    assert re.findall("^### (.+)", comment, re.MULTILINE) == ["kadmin: `plans/drain.yaml`"]
    assert "orders" in comment
    assert comment in (runner.temp / "summary.md").read_text()
    arguments = (runner.temp / "gh-arguments").read_text()
    assert arguments.startswith(f"pr comment 7 --body-file {runner.values['steps.diff.outputs.comment-file']} ")


def test_an_invalid_plan_is_annotated_and_fails_the_job_at_the_end(runner: Runner) -> None:
    (runner.checkout / "plans" / "bad.yaml").write_text(BAD)
    done = runner.step("Validate")
    assert done.returncode == 0
    assert "::error file=plans/bad.yaml,line=3" in done.stdout
    assert runner.step("Show what the plans would change").returncode == 0
    assert runner.step("Fail if a plan has an error").returncode == 3


def test_without_an_inventory_plans_are_validated_alone(runner: Runner) -> None:
    runner.values["inputs.inventory"] = ""
    assert runner.step("Validate").returncode == 0
    assert runner.values["steps.validate.outputs.exit-code"] == "0"


def test_no_text_of_an_input_is_a_part_of_a_script() -> None:
    assert [step["name"] for step in STEPS if EXPRESSION.search(step.get("run", ""))] == []


def test_an_input_with_shell_syntax_is_data(runner: Runner) -> None:
    runner.values["inputs.plans"] = "plans $(touch${IFS}owned) `touch${IFS}owned`"
    runner.step("Validate")
    runner.step("Show what the plans would change")
    assert runner.values["steps.validate.outputs.exit-code"] == "3"
    assert not (runner.checkout / "owned").exists()
