"""The steps of action.yml as a runner of GitHub executes them, on a repository with plans and an
inventory.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml
from support.cli.inventories import CLUSTER_ID, small_inventory
from support.release.environments import ROOT, clean, run

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")
GOOD = f"""kind: PartitionReassignment
metadata: {{cluster_id: {CLUSTER_ID}}}
spec: {{partitions: [{{topic: orders, partition: 0, current: [1, 2], replicas: [1, 3]}}]}}
"""
BAD = GOOD.replace("replicas: [1, 3]", "replicas: [1, 1]")
MOST_CHARACTERS = 65_536
"""Of a comment; GitHub refuses a longer one."""
GH = f"""#!/usr/bin/env python3
# A model of GitHub's own command: three of its calls, on the comments of one pull request.
import json, os, sys

path = os.environ["RUNNER_TEMP"] + "/comments.json"
assert os.environ["GH_TOKEN"] == "token" and os.environ["GH_REPO"] == "team/plans"
comments = json.load(open(path))


def body(file):
    text = open(file, encoding="utf-8").read()
    if len(text) > {MOST_CHARACTERS}:
        sys.exit("GraphQL: Body is too long (maximum is {MOST_CHARACTERS} characters)")
    return text


match sys.argv[1:]:
    case ["pr", "view", "7", "--json", "comments"]:
        print(json.dumps({{"comments": comments}}))
    case ["pr", "comment", "7", "--body-file", file]:
        number = 1000 + len(comments)
        url = f"https://github.com/team/plans/pull/7#issuecomment-{{number}}"
        comments.append({{"body": body(file), "url": url, "viewerDidAuthor": True}})
    case ["api", "--method", "PATCH", where, "--field", given]:
        number = "-" + where.rpartition("/")[2]
        (found,) = [each for each in comments if each["url"].endswith(number)]
        assert where.startswith("repos/team/plans/issues/comments/") and given.startswith("body=@")
        found["body"] = body(given.removeprefix("body=@"))
    case others:
        sys.exit(f"unknown: {{others}}")
json.dump(comments, open(path, "w"))
"""


@dataclass
class Runner:
    """Executes steps in a checkout, with the inputs and the variables that a job on a pull request
    has.

    `temp` has kadmin's environment, and in `path` the commands of the machine.
    """

    checkout: Path
    temp: Path
    values: dict[str, str] = field(default_factory=dict)
    more: dict[str, str] = field(default_factory=dict)

    @classmethod
    def on_pull_request(cls, checkout: Path, temp: Path, **more: str) -> Runner:
        """Return one for a checkout with a plan, an applied plan, a request and an inventory;
        `more` are variables.
        """
        inputs = {
            f"inputs.{name}": str(given.get("default", ""))
            for name, given in ACTION["inputs"].items()
        }
        github = {
            "github.repository": "team/plans",
            "github.event.pull_request.number": "7",
            "inputs.token": "token",
        }
        (checkout / "plans" / "applied").mkdir(parents=True)
        (checkout / "plans" / "drain.yaml").write_text(GOOD)
        (checkout / "plans" / "applied" / "old.yaml").write_text(GOOD.replace("[1, 3]", "[2, 1]"))
        (checkout / "plans" / "rebalance.yaml").write_text("kind: RebalanceRequest\nspec: {}\n")
        small_inventory(checkout / "inventory")
        gh = temp / "path" / "gh"
        gh.parent.mkdir(exist_ok=True)
        gh.write_text(GH)
        gh.chmod(0o755)
        (temp / "summary.md").write_text("")
        runner = cls(checkout, temp, inputs | github | {"inputs.inventory": "inventory"}, more)
        runner.write_comments()
        return runner

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        """Execute the step of this name."""
        (step,) = (each for each in STEPS if each.get("name") == name)
        outputs = self.temp / "outputs"
        outputs.write_text("")
        variables = {key: self._filled_in(text) for key, text in step.get("env", {}).items()}
        github = {
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"),
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": "team/plans",
            "GITHUB_RUN_ID": "42",
            "PATH": os.pathsep.join([str(self.temp / "path"), clean()["PATH"]]),
        }
        # The command of GitHub's `shell: bash`.
        command: list[str | Path] = [
            "bash",
            "--noprofile",
            "--norc",
            "-e",
            "-o",
            "pipefail",
            "-c",
            step["run"],
        ]
        done = run(command, self.checkout, **github, **self.more, **variables)
        for line in outputs.read_text().splitlines():
            key, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{key}"] = value
        return done

    def output(self, name: str) -> str:
        """Return an output of a step, `validate.exit-code`; '' where it has none, as GitHub
        does.
        """
        step, _, key = name.partition(".")
        return self.values.get(f"steps.{step}.outputs.{key}", "")

    def job(self) -> int:
        """Execute the steps on plans in order; return the exit code of the last one, and fail at
        any other.
        """
        for name in ("Validate", "Show what the plans would change", "Comment on the pull request"):
            done = self.step(name)
            assert done.returncode == 0, done.stdout + done.stderr
        return self.step("Fail if a plan has an error").returncode

    def comments(self) -> list[str]:
        """Return the bodies of the pull request's comments."""
        return [each["body"] for each in json.loads((self.temp / "comments.json").read_text())]

    def write_comments(self, *bodies: tuple[str, bool]) -> None:
        """Write the pull request's comments anew: bodies, and whether the token's account wrote
        them.
        """
        url = "https://github.com/team/plans/pull/7#issuecomment-"
        comments = [
            {"body": body, "url": f"{url}{number}", "viewerDidAuthor": own}
            for number, (body, own) in enumerate(bodies)
        ]
        (self.temp / "comments.json").write_text(json.dumps(comments))

    def _filled_in(self, text: str) -> str:
        return EXPRESSION.sub(lambda found: self.values.get(found[1], ""), text)
