from __future__ import annotations

import calendar
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from family import SIZES, cluster, inventory
from support.cli.in_process import command
from support.cluster import states
from support.live.waiting import wait_until
from support.planner.load_histories import MONDAY, row, week, write

from kadmin.documents import parse_document
from kadmin.inventory import (
    BrokerRow,
    ClusterInventory,
    Inventory,
    PartitionRow,
    inventory_of,
    write_inventory,
)
from kadmin.java import find_java
from kadmin.plan.hours import parse_window
from kadmin.plan.model import (
    Elect,
    HoursSpec,
    PlanHeader,
    ReassignmentPlan,
    RebalanceRequest,
    ThrottleBy,
    ThrottleSpec,
)
from kadmin.planner import local
from kadmin.planner.proposal import Options
from kadmin.planner.spark_session import class_archive
from kadmin.schema import validate_value
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from support.cli.in_process import Answer

RUN = "import sys; from kadmin.cli import main; main()"
REQUEST = (
    "kind: RebalanceRequest\nmetadata: {name: drain-2, labels: {ticket: K-1}}\nspec: {brokers: "
    "{drain: [2]}}\n"
)
NOTHING = "kind: RebalanceRequest\nspec: {}\n"


def propose(folder: Path, *arguments: str, data: str = "") -> Answer:
    """Run `kadmin propose rebalance` in a folder with the local engine, unless the arguments say
    otherwise.
    """
    engine = () if "--engine" in arguments else ("--engine", "local")
    return command(
        "propose",
        "rebalance",
        *arguments,
        *engine,
        data=data.encode(),
        cwd=folder,
        environment={"COLUMNS": "80"},
    )


def with_spark(folder: Path, *arguments: str, code: str = RUN) -> subprocess.CompletedProcess[str]:
    """Run `kadmin propose rebalance --engine spark` in a process of its own: it owns its JVM."""
    return subprocess.run(
        [sys.executable, "-c", code, "propose", "rebalance", *arguments, "--engine", "spark"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, "COLUMNS": "80"},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_inventory(inventory(SIZES["S"], 1), tmp_path / "inv", "csv")
    (tmp_path / "request.yaml").write_text(REQUEST)
    (tmp_path / "nothing.yaml").write_text(NOTHING)
    return tmp_path


def plan(path: Path) -> ReassignmentPlan:
    document = parse_document(path.read_bytes(), str(path))
    assert isinstance(document, ReassignmentPlan)
    return document


def figures(path: Path) -> list[Mapping[str, Any]]:
    value = json.loads(path.read_text())
    assert validate_value(value, "answers/figures") == []
    found: list[Mapping[str, Any]] = value["clusters"]
    return found


def test_a_request_becomes_a_plan_with_figures(folder: Path) -> None:
    done = propose(
        folder,
        "request.yaml",
        "--inventory",
        "inv",
        "--out",
        "plan.yaml",
        "--figures",
        "figures.json",
    )
    assert (done.status, done.err) == (0, "")
    made = plan(folder / "plan.yaml")
    (told,) = figures(folder / "figures.json")
    assert (made.header.name, made.header.cluster_id) == ("drain-2", "generated-cluster-0001")
    assert made.header.labels == {"ticket": "K-1"}
    assert made.elect is Elect.AT_END
    assert len(made.reassignments) == told["reassignments"] > 0
    current = {(row.topic, row.partition): row for row in cluster(SIZES["S"], 1).partitions}
    for target in made.reassignments:
        row = current[target.partition.topic, target.partition.partition]
        assert (target.current, target.size_bytes) == (row.replicas, row.size_bytes)
        assert 2 not in target.replicas
    lines = done.out.splitlines()
    assert lines[0].split() == ["before", "after", "bound"]
    assert lines[-1] == f"{len(made.reassignments)} reassignments -> plan.yaml"
    assert any(line.split()[:2] == ["moves", str(told["moves"])] for line in lines)


def test_the_load_of_a_plan_is_shown_with_its_worst_hour_and_the_week_held_out(
    folder: Path,
) -> None:
    keys = [(each.topic, each.partition) for each in cluster(SIZES["S"], 1).partitions]
    weeks = (MONDAY, MONDAY + timedelta(weeks=1))
    write(
        folder / "load",
        [row(*key, week(9.0, 4.0 + key[1] % 5), start=start) for key in keys for start in weeks],
    )
    (folder / "load.yaml").write_text("kind: RebalanceRequest\nspec: {load: {from: load}}\n")
    arguments = ("load.yaml", "--inventory", "inv", "--out", "plan.json")
    done = propose(folder, *arguments, "--holdout", "LAST_WEEK", "--figures", "figures.json")
    assert (done.status, done.err) == (0, "")
    (told,) = figures(folder / "figures.json")
    load = told["load"]
    shown = {" ".join(line.split()) for line in done.out.splitlines()}
    for name in ("in", "out"):
        ratios = " ".join(f"{load[name][time]:.3f}" for time in ("before", "after", "bound"))
        assert f"network {name}, worst hour / fair {ratios}" in shown
        ratios = " ".join(f"{load['holdout'][name][time]:.3f}" for time in ("before", "after"))
        assert f"network {name}, the week held out {ratios}" in shown
    day, hour = divmod(load["out"]["worst"]["hour"], 24)
    where = (
        f"broker {load['out']['worst']['broker_id']} on {calendar.day_name[day]} at {hour:02}:00 "
        "UTC"
    )
    assert (
        f"network out: {where} is at {load['out']['after']:.3f} of its fair share, goal 1.1"
        in shown
    )
    added = (
        count(load["extra_moves"], "move"),
        count(load["extra_leader_changes"], "leader change"),
    )
    assert f"for load alone: {', '.join(added)}" in shown
    again = propose(folder, "nothing.yaml", *arguments[1:], "--holdout", "LAST_WEEK")
    assert again.status == 64
    assert "nothing.yaml asks for none" in again.err


@pytest.mark.parametrize(
    ("written", "carried"),
    [
        ("{rate: 50MB/s}", ThrottleSpec(ThrottleBy.RATE, 50_000_000)),
        ("{finish_in: 6h}", ThrottleSpec(ThrottleBy.FINISH_IN, 21_600)),
        ("{link_budget: 1GB/s}", ThrottleSpec(ThrottleBy.LINK_BUDGET, 1_000_000_000)),
    ],
)
def test_the_throttle_of_a_request_is_that_of_the_plan(
    written: str, carried: ThrottleSpec, folder: Path
) -> None:
    request = REQUEST.replace("spec: {", f"spec: {{throttle: {written}, ")
    done = propose(folder, "-", "--inventory", "inv", "--out", "plan.yaml", data=request)
    assert done.status == 0, done.err
    assert plan(folder / "plan.yaml").throttle == carried


def test_the_hours_of_a_request_are_those_of_the_plan(folder: Path) -> None:
    hours = '{within: ["22:00-06:00", sat-sun], zone: Europe/Berlin, outside: 5MB/s}'
    request = REQUEST.replace("spec: {", f"spec: {{hours: {hours}, ")
    done = propose(folder, "-", "--inventory", "inv", "--out", "plan.yaml", data=request)
    assert done.status == 0, done.err
    windows = (parse_window("22:00-06:00"), parse_window("sat-sun"))
    carried = HoursSpec(windows, "Europe/Berlin", outside=5_000_000)
    assert plan(folder / "plan.yaml").hours == carried


def test_the_warning_of_a_plan_without_a_throttle_names_a_command_that_works(folder: Path) -> None:
    done = propose(folder, "-", "--inventory", "inv", "--out", "a plan.yaml", data=REQUEST)
    (warning,) = [
        line for line in done.out.splitlines() if line.startswith("warning: the plan copies")
    ]
    asked = shlex.split(warning.partition("the rate that this suggests: kadmin ")[2])
    told = command(asked[0], str(folder / asked[1]), asked[2], str(folder / asked[3]))
    assert (told.status, "--throttle 41MB/s" in told.out) == (0, True), told.err


def test_a_plan_that_loses_racks_says_so_wherever_it_is_shown(folder: Path) -> None:
    racks = {1: "r1", 2: "r2", 3: "r3", 4: "r1", 5: "r2"}
    rows = tuple(
        PartitionRow("a", number, (3, 4, 5) if number % 2 else (1, 2, 3), size_bytes=10)
        for number in range(12)
    )
    losing = ClusterInventory(
        "c", tuple(BrokerRow(broker, rack) for broker, rack in racks.items()), rows
    )
    write_inventory(Inventory("2026-01-01T00:00:00Z", {"": losing}), folder / "losing", "csv")
    (folder / "drain.yaml").write_text(
        "kind: RebalanceRequest\nspec: {brokers: {drain: [3]}, racks: relaxed}\n"
    )
    done = propose(
        folder, "drain.yaml", "--inventory", "losing", "--out", "plan.yaml", "--html", "plan.html"
    )
    assert "\nwarning: 12 partitions: 3 racks to 2\n" in done.out
    assert plan(folder / "plan.yaml").allow_fewer_racks
    assert "12 partitions: 3 racks to 2 (a-" in (folder / "plan.html").read_text()
    for asked in (("validate",), ("diff",), ("diff", "-o", "markdown")):
        told = command(*asked, str(folder / "plan.yaml"), "--inventory", str(folder / "losing"))
        assert (told.status, "12 partitions: 3 racks to 2 (a-" in told.out) == (0, True)


def test_json_goes_out_by_suffix_and_as_the_answer(folder: Path) -> None:
    done = propose(
        folder, "-", "--inventory", "inv", "--out", "plan.json", "-o", "json", data=REQUEST
    )
    assert (done.status, done.err) == (0, "")
    answer = json.loads(done.out)
    assert validate_value(answer, "answers/figures") == []
    assert answer["clusters"][0]["reassignments"] == len(
        json.loads((folder / "plan.json").read_text())["spec"]["partitions"]
    )
    again = propose(folder, "request.yaml", "--inventory", "inv", "--out", "plan.yaml")
    assert again.status == 0
    assert plan(folder / "plan.yaml") == plan(folder / "plan.json")


def test_the_result_of_a_plan_needs_nothing(folder: Path) -> None:
    propose(folder, "nothing.yaml", "--inventory", "inv", "--out", "plan.json")
    target = {
        (target.partition.topic, target.partition.partition): target.replicas
        for target in plan(folder / "plan.json").reassignments
    }
    before = cluster(SIZES["S"], 1)
    rows = tuple(
        replace(row, replicas=target.get((row.topic, row.partition), row.replicas))
        for row in before.partitions
    )
    write_inventory(
        Inventory("2026-01-02T00:00:00Z", {"": replace(before, partitions=rows)}),
        folder / "inv",
        "csv",
    )
    done = propose(folder, "nothing.yaml", "--inventory", "inv", "--out", "again.yaml")
    assert done.status == 0
    assert done.out.splitlines()[-1] == "nothing to do: the plan is empty -> again.yaml"
    assert plan(folder / "again.yaml").reassignments == ()


def test_a_fleet_gets_a_file_for_each_cluster(folder: Path) -> None:
    one = cluster(SIZES["S"], 1)
    write_inventory(
        Inventory("2026-01-01T00:00:00Z", {"north": one, "south": one}), folder / "fleet", "jsonl"
    )
    done = propose(folder, "request.yaml", "--inventory", "fleet", "--out", "plans")
    assert (done.status, done.err) == (0, "")
    assert sorted(path.name for path in (folder / "plans").iterdir()) == [
        "north.json",
        "south.json",
    ]
    assert plan(folder / "plans" / "north.json") == plan(folder / "plans" / "south.json")
    assert [line.split()[0] for line in done.out.splitlines()[:3]] == [
        "cluster",
        "north",
        "south",
    ]


@pytest.mark.spark
def test_spark_says_no_more_than_the_local_engine(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a broken class archive."""
    cache = tmp_path / "a cache"
    monkeypatch.setenv("KADMIN_CACHE", str(cache))
    archive = class_archive(find_java(os.environ, cache), cache)
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"no archive" * 10_000)
    arguments = ("request.yaml", "--inventory", "inv", "--out")
    spark = with_spark(
        folder,
        *arguments,
        "spark.json",
        "--master",
        "local[1]",
        "--conf",
        "spark.driver.memory=512m",
    )
    local = propose(folder, *arguments, "local.json")
    assert (spark.returncode, spark.stderr) == (0, "")
    assert (folder / "spark.json").read_bytes() == (folder / "local.json").read_bytes()
    assert spark.stdout.replace("spark.json", "local.json") == local.out


def test_a_class_archive_that_cannot_be_written_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    cache.write_text("in the way")
    monkeypatch.setenv("KADMIN_CACHE", str(cache))
    command = [sys.executable, "-m", "kadmin.planner.class_archive"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = [
        f"error: Cannot write {cache}/spark-classes.",
        "  cause: Not a directory",
        "  next:  set KADMIN_CACHE",
    ]
    assert done.returncode == 1
    assert [
        line.startswith(start) for line, start in zip(done.stderr.splitlines(), told, strict=True)
    ] == [True] * 3


@pytest.mark.spark
@pytest.mark.parametrize(
    "flags", [("--conf", "spark.driver.memory=a-lot"), ("--master", "nonsense")]
)
def test_a_setting_that_spark_refuses_is_reported(flags: tuple[str, str], folder: Path) -> None:
    arguments = (
        "request.yaml",
        "--inventory",
        "inv",
        "--out",
        "plan.json",
    )
    done = with_spark(folder, *arguments, *flags)
    assert done.returncode == 8
    assert "Spark did not start" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.spark
def test_spark_submit_runs_it_with_its_own_settings(folder: Path) -> None:
    (folder / "kadmin_app.py").write_text(RUN)
    home = Path(pyspark.__file__).parent
    submit = [
        str(home / "bin" / "spark-submit"),
        "--master",
        "local[1]",
        "--conf",
        "spark.driver.memory=512m",
    ]
    arguments = ("request.yaml", "--inventory", "inv", "--out")
    told = {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    command = [*submit, "kadmin_app.py", "propose", "rebalance", *arguments, "submitted.json"]
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **told},
    )
    assert done.returncode == 0, done.stderr
    assert propose(folder, *arguments, "local.json").status == 0
    assert (folder / "submitted.json").read_bytes() == (folder / "local.json").read_bytes()


@pytest.mark.spark
def test_a_jvm_that_is_killed_is_reported(folder: Path) -> None:
    """As the out-of-memory killer does; here as soon as the JVM has started its Python workers."""
    arguments = ("request.yaml", "--inventory", "inv", "--out", "plan.json", "--master", "local[1]")
    command = [
        sys.executable,
        "-c",
        RUN,
        "propose",
        "rebalance",
        *arguments,
        "--conf",
        "spark.driver.memory=512m",
    ]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        wait_until(lambda: bool(jvms_at_work(running.pid)), 240)
        os.kill(jvms_at_work(running.pid)[0], signal.SIGKILL)
        _, said = running.communicate(timeout=240)
    assert (running.returncode, (folder / "plan.json").exists()) == (8, False)
    assert said.splitlines()[0] == "error: Spark failed."
    assert said.splitlines()[1].startswith("  cause: its JVM ended before it had answered")


@pytest.mark.spark
@pytest.mark.parametrize("stage", ["starting", "working"])
def test_a_time_limit_while_spark_runs_is_what_is_reported(folder: Path, stage: str) -> None:
    """Rule: --timeout is the cause, and no JVM is left. One that is left would keep the pipes of
    this test open.
    """
    arguments = ("request.yaml", "--inventory", "inv", "--out", "plan.json", "--master", "local[1]")
    command = [sys.executable, "-c", RUN, "propose", "rebalance", *arguments, "--timeout", "3600"]
    reached = {"starting": jvms, "working": jvms_at_work}[stage]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        wait_until(lambda: bool(reached(running.pid)), 240)
        os.kill(running.pid, signal.SIGALRM)
        _, said = running.communicate(timeout=240)
    assert (running.returncode, said.splitlines()[0]) == (
        8,
        "error: Not finished within the 3600 s of --timeout.",
    )


def processes() -> list[tuple[int, int, str]]:
    """Return id, parent and command line of every process."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    rows = (line.split(maxsplit=2) for line in listed.splitlines())
    return [(int(pid), int(parent), program) for pid, parent, program in rows]


def jvms(planner: int) -> list[int]:
    """The JVMs that a planner has started, from before their gateway is there."""
    return [
        pid
        for pid, parent, program in processes()
        if parent == planner and program.split()[0].endswith("java")
    ]


def jvms_at_work(planner: int) -> list[int]:
    """The children of a planner that have a child with workers."""
    rows = processes()
    parents = {parent for _, parent, program in rows if "pyspark.daemon" in program}
    return [pid for pid, parent, _ in rows if parent == planner and pid in parents]


def test_a_partition_is_explained(folder: Path) -> None:
    arguments = ("request.yaml", "--inventory", "inv", "--out", "plan.json")
    assert propose(folder, *arguments).status == 0
    first = str(plan(folder / "plan.json").reassignments[0].partition)
    done = propose(folder, *arguments, "--explain", first, "--explain", "nowhere-0")
    assert f"{first} is in the plan because a broker that holds it must be emptied\n" in done.out
    assert "nowhere-0 is not in the plan: its replicas do not change\n" in done.out
    told = json.loads(propose(folder, *arguments, "--explain", first, "-o", "json").out)
    assert validate_value(told, "answers/figures") == []
    assert list(told["explained"]) == [first]


def test_a_terminal_is_reported_the_stages_and_left_as_it_was(folder: Path) -> None:
    ours, theirs = pty.openpty()
    command = ("request.yaml", "--inventory", "inv", "--out", "plan.json", "--engine", "local")
    with os.fdopen(ours, "rb", buffering=0) as screen:
        running = subprocess.Popen(
            [sys.executable, "-c", RUN, "propose", "rebalance", *command],
            cwd=folder,
            env={**os.environ, "TERM": "xterm"},
            stdout=subprocess.PIPE,
            stderr=theirs,
        )
        os.close(theirs)
        drawn = b""
        with suppress(OSError):  # a terminal's end of file
            while chunk := screen.read(4096):
                drawn += chunk
        told, _ = running.communicate()
    assert running.returncode == 0
    stages = drawn.decode().split("\r\x1b[K")
    assert [stage.partition(" s  ")[2] for stage in stages] == [
        "",
        "reading inv",
        "planning 1,000 partitions on 15 brokers",
        (
            f"writing plan.json (1 of 1): {len(plan(folder / 'plan.json').reassignments):,} "
            "reassignments"
        ),
        "",
    ]
    assert b"\x1b" not in told


def test_stages_agree_with_their_nouns(folder: Path) -> None:
    one = inventory_of(states.cluster({"a-0": (1,)}, brokers={1: None}), {}, "2026-01-01T00:00:00Z")
    write_inventory(one, folder / "one", "csv")
    stages: list[str] = []
    local.propose(RebalanceRequest(PlanHeader()), folder / "one", Options(), stages.append)
    assert stages[-1] == "planning 1 partition on 1 broker"


def test_entries_that_only_reorder_are_counted_where_there_are_some(folder: Path) -> None:
    one = inventory_of(states.cluster({"a-0": (1,)}, brokers={1: None}), {}, "2026-01-01T00:00:00Z")
    write_inventory(one, folder / "one", "csv")
    done = propose(folder, "-", "--inventory", "one", "--out", "plan.json", data=NOTHING)
    assert done.status == 0
    assert "proved optimal: no plan as even moves less\n" in done.out
    assert "only reorder" not in done.out


def test_partitions_in_flight_do_not_change_and_a_note_says_so(folder: Path) -> None:
    header = json.loads((folder / "inv" / "inventory.json").read_text())
    on_two = [row for row in cluster(SIZES["S"], 1).partitions if 2 in row.replicas]
    others = [row for row in cluster(SIZES["S"], 1).partitions if 2 not in row.replicas]
    moving = [{"topic": row.topic, "partition": row.partition} for row in others[::3]]
    (folder / "inv" / "inventory.json").write_text(
        json.dumps({**header, "kafka": {"reassigning": moving}})
    )
    done = propose(folder, "request.yaml", "--inventory", "inv", "--out", "plan.json")
    assert done.status == 0
    assert f"note: {len(moving)} partitions are being reassigned" in done.out
    planned = {
        (target.partition.topic, target.partition.partition)
        for target in plan(folder / "plan.json").reassignments
    }
    assert planned
    assert not planned & {(each["topic"], each["partition"]) for each in moving}
    stuck = [{"topic": on_two[0].topic, "partition": on_two[0].partition}]
    (folder / "inv" / "inventory.json").write_text(
        json.dumps({**header, "kafka": {"reassigning": stuck}})
    )
    done = propose(folder, "request.yaml", "--inventory", "inv", "--out", "never.json")
    assert done.status == 9
    assert f"must stay: topics {on_two[0].topic}" in done.err
    assert "being reassigned already" in done.err


REFUSALS = [
    ("kind: RebalanceRequest\nspec: {brokers: {drain: [99]}}\n", 3, "broker 99"),
    (
        "kind: RebalanceRequest\nspec: {pins: [{topic: nowhere, partition: 0, replicas: [1]}]}\n",
        3,
        "partition nowhere-0",
    ),
    (
        "kind: RebalanceRequest\nspec: {replication_factor: {'*': 4}}\n",
        9,
        "RF 4 over 3 racks: topics topic-00000",
    ),
    (
        "kind: RebalanceRequest\nspec: {racks: often}\n",
        3,
        '"often" is not a valid rule for racks',
    ),
    (
        "kind: RebalanceRequest\nspec: {free: {broker: 1, bytes: 900TB}}\n",
        9,
        "could go elsewhere: brokers 1",
    ),
    ("kind: RebalanceRequest\nmetadata: {cluster_id: other}\nspec: {}\n", 4, "cluster other"),
    ("kind: TopicDeletion\nspec: {topics: [a]}\n", 3, "not a RebalanceRequest"),
]


@pytest.mark.parametrize(("text", "status", "words"), REFUSALS)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    text: str, status: int, words: str, folder: Path
) -> None:
    (folder / "request.yaml").write_text(text)
    done = propose(folder, "request.yaml", "--inventory", "inv", "--out", "plan.json")
    assert (done.status, done.out) == (status, "")
    assert words in done.err
    assert "Traceback" not in done.err
    assert not (folder / "plan.json").exists()


def test_bad_rows_are_named(folder: Path) -> None:
    with (folder / "inv" / "partitions.csv").open("a") as table:
        table.write("topic-00000,0,1;2,,,-5,,\n")
    done = propose(folder, "request.yaml", "--inventory", "inv", "--out", "plan.json")
    assert done.status == 3
    assert "partitions.csv: size_bytes: 1 row negative (first: row 1001)" in done.err
    assert (
        "partitions.csv: topic, partition: 1 row with a duplicate key (first: row 1001)" in done.err
    )


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            ("--master", "local[2]", "--remote", "sc://h"),
            "--master and --remote exclude each other",
        ),
        (("--remote", "spark://h:7077"), "--remote spark://h:7077 is not sc://HOST:PORT."),
        (("--remote", "sc://h:port/;token=secret"), "--remote sc://h:port is not sc://HOST:PORT."),
    ],
)
def test_what_is_no_server_of_spark_connect_is_refused(
    flags: tuple[str, ...], words: str, folder: Path
) -> None:
    planning = (
        "propose",
        "rebalance",
        folder / "request.yaml",
        "--inventory",
        folder / "inv",
        "--out",
        folder / "p.json",
    )
    for arguments in (planning, ("load", "build", "--samples", folder, "--out", folder / "load")):
        done = command(*arguments, *flags)
        assert (done.status, words in done.err) == (64, True), done.err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--master", "local[1]"), "--engine local does not use them"),
        (("--remote", "sc://h:1"), "--engine local does not use them"),
        (("--conf", "spark.x=1"), "--engine local does not use them"),
        (("--conf", "x"), "--conf x is not spark.KEY=VALUE."),
    ],
)
def test_flags_without_a_use_are_wrong_usage(
    flags: tuple[str, ...], words: str, folder: Path
) -> None:
    done = propose(folder, "request.yaml", "--inventory", "inv", "--out", "plan.json", *flags)
    assert (done.status, words in done.err) == (64, True)


def test_a_pattern_that_matches_nothing_is_a_warning_and_an_error_under_a_policy(
    folder: Path,
) -> None:
    one = cluster(SIZES["S"], 1)
    write_inventory(
        Inventory("2026-01-01T00:00:00Z", {"north": one, "south": one}), folder / "fleet", "csv"
    )
    (folder / "mistyped.yaml").write_text(
        "kind: RebalanceRequest\nspec: {topics: {exclude: [topc-00001]}}\n"
    )
    said = (
        "spec.topics.exclude: topc-00001 matches no topic of the inventory (did you mean "
        "topic-00001?)"
    )
    arguments = ("mistyped.yaml", "--inventory", "fleet", "--out", "plans")
    assert f"\nwarning: {said}\n" in propose(folder, *arguments).out
    told = json.loads(propose(folder, *arguments, "-o", "json").out)
    assert (validate_value(told, "answers/figures"), told["warnings"]) == ([], [said])
    (folder / "policy.yaml").write_text("kind: Policy\nspec: {codes: {KA104: error}}\n")
    refused = propose(folder, *arguments, "--policy", "policy.yaml")
    assert (refused.status, f"error: {said}." in refused.err) == (3, True)


def test_a_plan_that_cannot_be_written_is_reported(folder: Path) -> None:
    done = propose(folder, "request.yaml", "--inventory", "inv", "--out", "missing/plan.json")
    assert done.status == 8
    assert "missing/plan.json" in done.err


def test_missing_libraries_are_named_with_the_remedy(folder: Path) -> None:
    code = "import sys; sys.modules['pyspark'] = None\n" + RUN  # as on a machine without it
    done = with_spark(
        folder,
        "request.yaml",
        "--inventory",
        "inv",
        "--out",
        "p.json",
        code=code,
    )
    assert done.returncode == 64
    assert "needs pyspark" in done.stderr
    assert "pip install 'kadmin-kafka[spark]'" in done.stderr
    arguments = (
        "request.yaml",
        "--inventory",
        "inv",
        "--out",
        "p.json",
        "--remote",
        "sc://h:1",
    )
    done = with_spark(folder, *arguments, code=code.replace("pyspark", "grpc"))
    assert done.returncode == 64
    assert "needs grpc" in done.stderr
    assert "pip install 'kadmin-kafka[connect]'" in done.stderr
