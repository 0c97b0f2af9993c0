"""docs/unattended.md: what is there to copy is parsed, and its commands are run on a real
ZooKeeper.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from support.cli.in_process import command
from support.controller.simple_controller import SimpleController
from support.pages.snippets import DOCS, put_on_path, shell, snippet

from kadmin.operations.events import Ended, OperationStarted, Progressed
from kadmin.plan.signals import SignalSeen
from kadmin.report.operations.run_metrics import RunMetrics

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = (DOCS / "unattended.md").read_text(encoding="utf-8")
PLAN = DOCS.parent / "plans" / "drain-broker.yaml"
EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")

pytestmark = pytest.mark.zookeeper


@pytest.fixture
def cluster(chroot: str) -> Iterator[SimpleController]:
    with SimpleController(chroot) as found:
        found.create_topic("orders", {number: [1, 2, 3] for number in range(12)})
        yield found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "plans").mkdir()
    shutil.copy(PLAN, tmp_path / "plans")
    put_on_path(tmp_path)
    return tmp_path


def moved(cluster: SimpleController) -> bool:
    return cluster.replicas("orders")[0] == [4, 2, 3]


def test_the_digests_of_the_page_are_those_of_the_plan() -> None:
    assert set(re.findall("[0-9a-f]{64}", PAGE)) == {hashlib.sha256(PLAN.read_bytes()).hexdigest()}


SIGNAL = SignalSeen("commit_delay", "s", 0.02, 0.003, 0.0)


def test_the_gauges_of_the_page_are_those_that_are_written() -> None:
    known = RunMetrics(0.0)
    for event in (
        OperationStarted("op-1", "id"),
        Progressed(1, 2, 1, 2, 1, 2, 1.0, 1.0, "", throttle=1, signals=(SIGNAL,)),
        Ended(0, "done"),
    ):
        known = known.after(event, 1.0)
    named = set(re.findall("kadmin_operation_[a-z_]+", PAGE))
    assert named == {gauge.name for gauge in known.gauges()}
    assert all(gauge.samples for gauge in known.gauges())


@pytest.mark.pages
def test_the_job_of_kubernetes_runs(cluster: SimpleController, checkout: Path) -> None:
    manifest: dict[str, Any] = yaml.safe_load(snippet("unattended.md", "Kubernetes", "yaml"))
    assert (manifest["apiVersion"], manifest["kind"]) == ("batch/v1", "CronJob")
    pod = manifest["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["command"] == ["sh", "-ec"]
    assert [each["name"] for each in container["volumeMounts"]] == [
        each["name"] for each in pod["volumes"]
    ]
    (script,) = container["args"]
    given = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    del given["KADMIN_BOOTSTRAP_SERVER"]
    done = shell(
        script.replace("/plans/", "plans/"), checkout, KADMIN_ZOOKEEPER=cluster.connect, **given
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("no operation is unfinished\n12 partitions at the target")
    assert moved(cluster)


def test_the_unit_of_systemd_runs(cluster: SimpleController, checkout: Path) -> None:
    unit = snippet("unattended.md", "systemd", "ini")
    assert re.findall(r"^\[(.*)\]$", unit, re.MULTILINE) == ["Unit", "Service"]
    lines = [
        line.split("=", maxsplit=1)
        for line in unit.splitlines()
        if line and not line.startswith("[")
    ]
    settings = {name: [value for each, value in lines if each == name] for name, _ in lines}
    assert settings["Type"] == ["oneshot"], "the others have one ExecStart"
    name, _, approved = settings["Environment"][0].partition("=")
    places = {
        f"${{{name}}}": approved,
        "/etc/kadmin": str(checkout),
        "/var/lib/node_exporter": str(checkout),
    }
    for line in settings["ExecStart"]:
        program, *arguments = shlex.split(
            reduce(lambda text, place: text.replace(*place), places.items(), line)
        )
        assert Path(program).name == "kadmin"
        answer = command(*arguments, environment={"KADMIN_ZOOKEEPER": cluster.connect})
        assert answer.status == 0, answer.err
    assert moved(cluster)
    families = text_string_to_metric_families((checkout / "kadmin.prom").read_text())
    assert "kadmin_operation_exit_code" in {family.name for family in families}


@pytest.mark.pages
def test_the_workflow_of_github_applies_what_it_showed(
    cluster: SimpleController, checkout: Path
) -> None:
    workflow = yaml.load(snippet("unattended.md", "GitHub Actions", "yaml"), Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader makes only strings
    inputs, jobs = workflow["on"]["workflow_dispatch"]["inputs"], workflow["jobs"]
    assert (jobs["apply"]["needs"], jobs["apply"]["environment"]) == ("show", "production")
    assert EXPRESSION.findall(workflow["env"]["PLAN"]) == ["inputs.plan"]
    assert EXPRESSION.findall(jobs["show"]["outputs"]["approved"]) == [
        "steps.digest.outputs.approved"
    ]
    assert EXPRESSION.findall(jobs["apply"]["env"]["APPROVED"]) == ["needs.show.outputs.approved"]
    summary, outputs = checkout / "summary.md", checkout / "outputs"
    given = {
        "KADMIN_ZOOKEEPER": cluster.connect,
        "PLAN": inputs["plan"]["default"],
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_OUTPUT": str(outputs),
    }

    def run(job: str, **more: str) -> list[int]:
        steps = [
            each["run"]
            for each in jobs[job]["steps"]
            if not each.get("run", "pip ").startswith("pip ")
        ]
        return [shell(each, checkout, **given, **more).returncode for each in steps]

    assert run("show") == [0, 0]
    assert "**12 partitions** to reassign" in summary.read_text()
    approved = outputs.read_text().strip().removeprefix("approved=")
    assert f"--approved {approved} " in summary.read_text()
    plan = checkout / given["PLAN"]
    plan.write_text(plan.read_text() + "# edited after the review\n")
    assert run("apply", APPROVED=approved) == [4, 8]
    shutil.copy(PLAN, plan)
    assert run("apply", APPROVED=approved) == [0, 0]
    assert moved(cluster)
