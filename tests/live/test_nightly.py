"""docs/nightly.md: the jobs of GitHub, GitLab and Kubernetes on a repository and a cluster.

The commands are those of the files that are there to copy. `gh` is a stand-in that writes down its
arguments, and the server's hook writes down push options.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from support.live.waiting import wait_until
from support.pages.snippets import DOCS, put_on_path, shell

from kadmin.plan.hours import DAYS

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.matrix, pytest.mark.on("4.4.0")]

NIGHTLY = DOCS / "nightly"
BRANCH = "kadmin/nightly"
GITHUB = yaml.safe_load((NIGHTLY / "github.yml").read_text())["jobs"]
GITLAB = yaml.safe_load((NIGHTLY / "gitlab.yml").read_text())
KUBERNETES = {
    each["metadata"]["name"]: each["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    for each in yaml.safe_load_all((NIGHTLY / "kubernetes.yaml").read_text())
}
GH = '#!/bin/sh\nprintf "%s\\n" "$@" >>"$GH_CALLS"\ncat plan.md >>"$GH_CALLS"\n'
HOOK = '#!/bin/sh\nenv | grep "^GIT_PUSH_OPTION_[0-9]" | sort | cut -d = -f 2- >push-options\n'


@dataclass(frozen=True)
class Operator:
    """A repository of plans on a server, and the machine on which its jobs run."""

    folder: Path
    brokers: str

    @property
    def server(self) -> Path:
        return self.folder / "plans.git"

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command of a job in a new checkout of main."""
        for name in ("checkout", "pod"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        self.git("clone", "--quiet", str(self.server), "checkout")
        return shell(command, self.folder / "checkout", **self.environment)

    def succeed(self, command: str) -> str:
        done = self.run(command)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "KADMIN_BOOTSTRAP_SERVER": self.brokers,
            "STATE": str(self.folder),
            "GH_CALLS": str(self.folder / "gh-calls"),
            "REPOSITORY": str(self.server),
        }

    def git(self, *arguments: str, cwd: str = "") -> str:
        identity = ("-c", "user.name=operator", "-c", "user.email=operator@localhost")
        return subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.folder / cwd,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def kadmin(self, *arguments: str) -> str:
        return shell(f"kadmin {' '.join(arguments)}", self.folder, **self.environment).stdout

    def proposal(self) -> str:
        """Return the commit that is proposed, '' for none."""
        return self.git("ls-remote", str(self.server), f"refs/heads/{BRANCH}").partition("\t")[0]

    def change(self, name: str, old: str, new: str) -> None:
        """Change a file on main, as a person does."""
        self.git("clone", "--quiet", str(self.server), "change")
        file = self.folder / "change" / "nightly" / name
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
        self.git("commit", "--quiet", "--all", "--message", f"Change {name}", cwd="change")
        self.git("push", "--quiet", cwd="change")
        shutil.rmtree(self.folder / "change")

    def history_of(self, year: str) -> list[str]:
        """Return the samples and the loads of a year."""
        found = (*self.folder.glob(f"samples/samples-{year}*"), *self.folder.glob(f"load-{year}*"))
        return sorted(each.name for each in found)

    def merge(self) -> None:
        self.git("clone", "--quiet", str(self.server), "merge")
        self.git("merge", "--quiet", "--no-ff", "-m", "Merge", f"origin/{BRANCH}", cwd="merge")
        self.git("push", "--quiet", cwd="merge")
        shutil.rmtree(self.folder / "merge")

    def approved(self) -> str:
        """Return the digest that was merged."""
        return self.git("show", "main:nightly/plan.sha256", cwd="plans.git")[:64]

    def push_options(self) -> list[str]:
        """Return those of the last push."""
        return (self.server / "push-options").read_text().splitlines()

    def kill_while_it_runs(self, command: str) -> None:
        """Kill a job, with the command that it runs, when the runner is at work."""
        job = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.folder / "checkout",
            env={**os.environ, **self.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            wait_until(lambda: self.operations()[-1]["state"] == "running")
        finally:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()

    def operations(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.kadmin("history -o json"))["operations"]
        return found


def closed_hours() -> str:
    """Return a day of the week that is neither today nor tomorrow."""
    return DAYS[(datetime.now(UTC) + timedelta(days=3)).weekday()]


@pytest.fixture
def operator(kraft: Sandbox, tmp_path: Path) -> Operator:
    """A repository with the files of the page, and a day of samples of a cluster that is uneven."""
    put_on_path(tmp_path)
    gh = tmp_path / "bin" / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    found = Operator(tmp_path, ",".join(kraft.bootstrap))
    found.git("init", "--quiet", "--initial-branch", "main", "start")
    files = (NIGHTLY / name for name in ("propose.sh", "apply.sh", "request.yaml"))
    (tmp_path / "start" / "nightly").mkdir()
    for file in files:
        shutil.copy(file, tmp_path / "start" / "nightly")
    found.git("add", ".", cwd="start")
    found.git("commit", "--quiet", "-m", "Start", cwd="start")
    found.git("clone", "--quiet", "--bare", "start", "plans.git")
    found.git("config", "receive.advertisePushOptions", "true", cwd="plans.git")
    hook = found.server / "hooks" / "pre-receive"
    hook.write_text(HOOK)
    hook.chmod(0o755)
    found.change("request.yaml", "gain: noise", "gain: 5%")
    found.change("request.yaml", "load_moves: 50", "load_moves: 50, max_moves: 12")
    found.change("request.yaml", 'within: ["22:00-06:00"]', f"within: [{closed_hours()}]")
    sandbox = f"--dir {kraft.spec.directory}"
    shell(f"kadmin sandbox seed {sandbox}", tmp_path, **found.environment)
    (command,) = GITLAB["sample"]["script"]
    assert [each["run"] for each in GITHUB["sample"]["steps"]] == [command]
    found.succeed(command)
    done = shell(
        f"kadmin sandbox traffic {sandbox} --hour 1s --for 1d >traffic.txt & "
        'kadmin sample --out "$STATE/samples" --every 1s --for 26s --hour 1s; wait',
        tmp_path,
        **found.environment,
    )
    assert done.returncode == 0, done.stderr
    (tmp_path / "load-2020-02").mkdir()
    old = tmp_path / "samples" / "samples-20200229T000000Z.parquet"
    old.touch()
    os.utime(old, (0, 0))
    return found


def proposed_on(operator: Operator, job: str) -> str:
    commands = {
        "github": next(each["run"] for each in GITHUB["propose"]["steps"] if "run" in each),
        "gitlab": GITLAB["propose"]["script"][-1],
        "kubernetes": in_kubernetes(operator, "kadmin-propose"),
    }
    return operator.succeed(commands[job])


def in_kubernetes(operator: Operator, name: str) -> str:
    ((script,),) = (each["args"] for each in KUBERNETES[name])
    return str(script).replace("/work/plans", str(operator.folder / "pod"))


def applied(operator: Operator) -> str:
    assert [each.get("run") for each in GITHUB["apply"]["steps"][1:]] == GITLAB["apply"]["script"]
    return operator.succeed(*GITLAB["apply"]["script"])


def test_a_proposal_is_opened_replaced_merged_applied_and_not_made_again(
    operator: Operator,
) -> None:
    # A night proposes, the same night again changes nothing.
    assert "no plan was merged" in applied(operator)
    proposed_on(operator, "github")
    first, calls = operator.proposal(), operator.folder / "gh-calls"
    said = calls.read_text()
    assert said.startswith(f"pr\ncreate\n--base\nmain\n--head\n{BRANCH}\n--title\n")
    body = operator.git("show", f"{first}:nightly/plan.md", cwd="plans.git")
    digest = operator.git("show", f"{first}:nightly/plan.sha256", cwd="plans.git")[:64]
    assert body in said
    assert operator.history_of("2020") == []
    assert f"--approved {digest} " in body
    assert "network in, worst hour / fair" in body
    assert "has this plan" in proposed_on(operator, "gitlab")
    assert (operator.proposal(), calls.read_text()) == (first, said)

    # A newer proposal replaces it.
    operator.change("request.yaml", ", max_moves: 12", "")
    proposed_on(operator, "gitlab")
    second = operator.proposal()
    body = operator.git("show", f"{second}:nightly/plan.md", cwd="plans.git")
    assert second not in {"", first}
    create, target, title, described = operator.push_options()
    assert (create, target) == ("merge_request.create", "merge_request.target=main")
    assert title == "merge_request.title=Even out the load of brokers"
    assert described.replace("\\n", "\n").strip() == f"merge_request.description={body}"

    # What was merged waits for its hours, and with it the next proposal.
    operator.merge()
    assert "still to be applied" in proposed_on(operator, "kubernetes")
    edited = operator.run("echo >>nightly/plan.yaml; nightly/apply.sh")
    assert (edited.returncode, operator.operations()) == (4, []), edited.stderr
    assert "an operation is unfinished" in applied(operator)
    ((operation,), digest) = operator.operations(), operator.approved()
    assert (operation["state"], operation["file_digest"]) == ("paused", digest)
    assert "an operation is unfinished" in proposed_on(operator, "kubernetes")

    # In its hours, a run that is killed is continued by a later one.
    operator.kadmin("throttle set --rate 200kB/s --hours mon-sun --zone UTC --yes")
    operator.kill_while_it_runs("nightly/apply.sh")
    assert "an operation is unfinished" in applied(operator)
    operator.kadmin("throttle set --rate 50MB/s --yes")
    wait_until(lambda: "was applied before" in applied(operator))
    assert [each["state"] for each in operator.operations()] == ["completed"]
    operator.succeed("kadmin verify nightly/plan.yaml")

    # The next night has nothing to propose.
    printed = proposed_on(operator, "kubernetes")
    assert "nothing worth moving" in printed
    assert f"the branch {BRANCH} is deleted" in printed
    assert operator.proposal() == ""

    # What was rolled back is not applied again.
    operator.kadmin("rollback --yes --throttle 50MB/s")
    assert "was applied before" in operator.succeed(in_kubernetes(operator, "kadmin-apply"))
    assert operator.run("kadmin verify nightly/plan.yaml").returncode == 8
