"""docs/nightly.md: the files that are there to copy agree with each other and with the page.

`tests/live/test_nightly.py` runs them.
"""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
import yaml
from support.cli.in_process import command
from support.pages.snippets import DOCS

PAGE = (DOCS / "nightly.md").read_text(encoding="utf-8")
FOLDER = DOCS / "nightly"
SCRIPTS = ("propose.sh", "apply.sh")
TEXT = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
GITHUB = yaml.load(TEXT["github.yml"], Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader makes only strings
GITLAB: dict[str, Any] = yaml.safe_load(TEXT["gitlab.yml"])
KUBERNETES: list[dict[str, Any]] = list(yaml.safe_load_all(TEXT["kubernetes.yaml"]))
JOBS = ("sample", "propose", "apply")
SCHEDULES = dict(zip(JOBS, ("*/15 * * * *", "30 1 * * *", "7 * * * *"), strict=True))


def test_the_page_names_every_file() -> None:
    assert set(re.findall(r"\(nightly/([a-z.]+)\)", PAGE)) == TEXT.keys()


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_posix_shell_and_executable(script: str) -> None:
    assert TEXT[script].startswith("#!/bin/sh\n")
    assert (FOLDER / script).stat().st_mode & 0o111 == 0o111
    subprocess.run(["dash", "-n", FOLDER / script], check=True)


def test_the_request_is_valid() -> None:
    done = command("validate", FOLDER / "request.yaml")
    assert (done.status, "warning" in done.out) == (0, False), done.out


def test_every_scheduler_has_the_same_three_jobs() -> None:
    assert [each["cron"] for each in GITHUB["on"]["schedule"]] == list(SCHEDULES.values())
    assert GITHUB["on"]["workflow_dispatch"]["inputs"]["job"]["options"] == list(JOBS)
    assert {name: job["if"] for name, job in GITHUB["jobs"].items()} == {
        name: f"github.event.schedule == '{time}' || inputs.job == '{name}'"
        for name, time in SCHEDULES.items()
    }
    assert dict(re.findall(r"^(\w+): # (.* .*)$", TEXT["gitlab.yml"], re.MULTILINE)) == SCHEDULES
    assert {name: GITLAB[name]["rules"][0]["if"] for name in JOBS} == {
        name: f'$CI_PIPELINE_SOURCE == "schedule" && $JOB == "{name}"' for name in JOBS
    }
    assert {each["metadata"]["name"]: each["spec"]["schedule"] for each in KUBERNETES} == {
        f"kadmin-{name}": time for name, time in SCHEDULES.items()
    }


@pytest.mark.parametrize("file", ["github.yml", "gitlab.yml", "kubernetes.yaml"])
def test_every_scheduler_runs_the_scripts(file: str) -> None:
    assert set(re.findall(r"nightly/([a-z]+\.sh)", TEXT[file])) == set(SCRIPTS)


def test_a_cron_job_mounts_what_it_has_and_is_not_repeated_at_once() -> None:
    for text, job in zip(TEXT["kubernetes.yaml"].split("\n---\n"), KUBERNETES, strict=True):
        assert len(text.splitlines()) < 60
        assert (job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob")
        assert job["spec"]["concurrencyPolicy"] == "Forbid"
        assert job["spec"]["jobTemplate"]["spec"]["backoffLimit"] == 0
        pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert {each["name"] for each in container["volumeMounts"]} == {
            each["name"] for each in pod["volumes"]
        }


def test_the_apply_jobs_of_github_and_gitlab_outlast_the_scripts_own_limit() -> None:
    (limit_s,) = map(int, re.findall(r"TIMEOUT_S:-(\d+)", TEXT["apply.sh"]))
    assert limit_s == 5 * 60 * 60
    assert GITLAB["apply"]["timeout"] == "6h"
    assert "`TIMEOUT_S`" in PAGE
    assert "timeout-minutes" not in GITHUB["jobs"]["apply"], "GitHub's own limit is 6 hours"
