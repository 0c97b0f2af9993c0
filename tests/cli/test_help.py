"""Every help screen is whole: groups, summaries that are not cut off, options with help, examples
that work.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from support.cli.in_process import command, every_command
from typer.core import TyperCommand, TyperGroup

from kadmin.cli.examples import EXAMPLES
from kadmin.inventory import BrokerRow, ClusterInventory, Inventory, PartitionRow, write_inventory

PLANS = Path(__file__).parents[2] / "plans"
COMMANDS = every_command()
LINES = [line for lines in EXAMPLES.values() for line in lines]
ONLINE = ("kadmin sandbox", "kadmin context check")
SLOW = ("kadmin load build",)
"""Run by a test of their own."""
OFFLINE = sorted(
    {
        each
        for each in LINES
        if not {"-z", "-b"} & set(each.split()) and not each.startswith(ONLINE + SLOW)
    }
)
GROUPS = {
    "Plan": ["validate", "convert", "schema", "diff"],
    "Run": [
        "apply",
        "status",
        "resume",
        "pause",
        "cancel",
        "rollback",
        "verify",
        "history",
        "history import",
        "lock",
        "throttle",
        "broker",
    ],
    "Look": [
        "doctor",
        "doctor migration",
        "inspect",
        "whatif",
        "consumers",
        "snapshot",
        "sample",
        "report",
        "explain",
        "context",
    ],
    "Repair": ["heal", "recreate"],
    "Planner": ["propose", "load"],
    "Practise": ["sandbox"],
}
ESCAPE = "\x1b"


def words(line: str) -> list[str]:
    """The arguments of an example, as a shell passes them on."""
    return shlex.split(line.replace("\\\n", " "))[1:]


def help_of(name: str, columns: int = 80) -> str:
    answer = command(*name.split(), "--help", environment={"COLUMNS": str(columns)})
    assert answer.status == 0
    return answer.out


def section(text: str, heading: str) -> list[str]:
    return text.partition(f"\n{heading}:\n")[2].partition("\n\n")[0].rstrip().splitlines()


def test_commands_are_listed_in_groups() -> None:
    text = help_of("")
    for heading, names in GROUPS.items():
        assert [line.strip().split("  ")[0] for line in section(text, heading)] == names


@pytest.mark.parametrize(
    "name", [name for name, each in COMMANDS.items() if isinstance(each, TyperGroup)]
)
def test_every_summary_is_one_whole_line(name: str) -> None:
    """Rule: at 80 columns no summary is cut off or broken; at 60 none is cut off."""
    headings = GROUPS if name == "" else ["Commands"]
    text, narrow = help_of(name), re.sub(r"\s+", " ", help_of(name, 60))
    for line in (line for heading in headings for line in section(text, heading)):
        child, _, summary = line.strip().partition("  ")
        assert f"{name} {child}".strip() in COMMANDS, "a summary of two lines"
        assert summary.strip()
        assert "..." not in summary
        assert re.sub(r"\s+", " ", summary.strip()) in narrow


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_fits_its_terminal_and_has_no_colour(name: str, columns: int) -> None:
    text = help_of(name, columns)
    assert ESCAPE not in text
    body, _, examples = text.partition("\nExamples:\n")
    assert max(map(len, body.splitlines())) <= columns
    assert max(map(len, examples.splitlines())) < 80


@pytest.mark.parametrize("name", COMMANDS)
def test_short_and_long_help_are_the_same(name: str) -> None:
    assert command(*name.split(), "-h").out == command(*name.split(), "--help").out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_argument_has_help(name: str) -> None:
    context = typer.Context(COMMANDS[name])
    parameters = COMMANDS[name].get_params(context)
    assert [each.name for each in parameters if not each.help] == []
    assert [each.help for each in parameters if each.help.rstrip()[-1] not in ".])"] == []


def test_every_command_has_examples_and_every_example_its_command() -> None:
    assert set(EXAMPLES) == set(COMMANDS)
    assert [name for name, lines in EXAMPLES.items() if not 1 <= len(lines) <= 3] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_ends_with_the_examples_of_its_command(name: str) -> None:
    shown = help_of(name).partition("\nExamples:\n")[2]
    assert shown == "".join(f"  {line}\n" for line in EXAMPLES[name])
    if not isinstance(COMMANDS[name], TyperGroup):
        assert all(line.startswith(f"kadmin {name}") for line in EXAMPLES[name])


@pytest.mark.parametrize("line", sorted(set(LINES)))
def test_every_example_is_parsed(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.delenv("KADMIN_ZOOKEEPER", raising=False)
    monkeypatch.setattr(
        TyperCommand, "invoke", lambda _self, context: ran.append(context.command_path)
    )
    answer = command(*words(line))
    assert (answer.status, answer.err) == (0, "")
    assert len(ran) == 1
    assert line.startswith(ran[0])


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example plans, an inventory that they fit, and files of other tools."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(PLANS, folder / "plans")
    shutil.copytree(PLANS.parent / "schemas", folder / "schemas")
    brokers = tuple(BrokerRow(broker, f"r{broker % 3 + 1}", alive=True) for broker in (1, 2, 3, 4))
    partitions = tuple(
        PartitionRow(topic, number, (1, 2, 3), leader=2, isr=(1, 2, 3), size_bytes=1_000_000)
        for topic, count in {"orders": 12, "payments": 6, "clicks": 8, "old-events": 3}.items()
        for number in range(count)
    )
    cluster = ClusterInventory("kHD57VOWjTBKdUaz6n7K6n", brokers, partitions)
    write_inventory(
        Inventory("2026-03-01T12:00:00Z", {"": cluster}), folder / "inventory", "parquet"
    )
    (folder / "reassign.json").write_text(
        '{"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [1, 2, 4]}]}'
    )
    (folder / "proposals.json").write_text(
        '{"proposals": [{"topicPartition": {"topic": "orders", "partition": 0}, "oldLeader": 1, '
        '"oldReplicas": [1, 2, 3], "newReplicas": [1, 2, 4]}]}'
    )
    (folder / "contexts.yaml").write_text(
        "kind: Contexts\ncontexts: {prod-eu: {zookeeper: {connect: 'zk1:2181'}}}\n",
        encoding="utf-8",
    )
    return folder


@pytest.mark.parametrize("line", OFFLINE)
def test_an_example_without_a_cluster_works(
    line: str, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workplace)
    monkeypatch.setenv("KADMIN_CONFIG", "contexts.yaml")
    answer = command(*words(line))
    assert answer.status == 0, answer.err


def test_the_version_is_that_of_the_distribution() -> None:
    answer = command("--version")
    assert (answer.status, answer.out) == (0, "kadmin 1.0.0\n")


@pytest.mark.parametrize(
    "name", [name for name, each in COMMANDS.items() if isinstance(each, TyperGroup)]
)
def test_without_a_command_the_help_is_on_stderr(name: str) -> None:
    answer = command(*name.split(), environment={"COLUMNS": "80"})
    assert (answer.status, answer.out, answer.err) == (64, "", help_of(name))


@pytest.mark.parametrize(
    ("arguments", "message", "following"),
    [
        (["applyy"], "No such command 'applyy'. Did you mean 'apply'?", "kadmin --help"),
        (["apply"], "Missing argument 'PLAN'.", "kadmin apply --help"),
        (
            ["throttle", "set", "--rate", "1MB/s"],
            "No cluster is named.",
            (
                "add -z CONNECT (or set KADMIN_ZOOKEEPER), -b BROKERS (or set "
                "KADMIN_BOOTSTRAP_SERVER), or --context NAME (or set KADMIN_CONTEXT)"
            ),
        ),
        (
            ["convert", "a.json"],
            "Missing option '--to'. Choose from: plan, kafka",
            "kadmin convert --help",
        ),
        (
            ["validate", "plans", "-o", "yaml"],
            (
                "Invalid value for '-o' / '--format': 'yaml' is not one of "
                "'human', 'json', 'github', 'sarif', 'gitlab', 'junit'."
            ),
            "kadmin validate --help",
        ),
        (["validate", "--nope", "plans"], "No such option: --nope", "kadmin validate --help"),
    ],
)
def test_wrong_usage_names_the_help_of_its_command(
    arguments: list[str], message: str, following: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KADMIN_ZOOKEEPER", raising=False)
    answer = command(*arguments)
    assert (answer.status, answer.out) == (64, "")
    assert answer.err == f"error: {message}\n  next:  {following}\n"


def test_help_imports_nothing_heavy() -> None:
    """Rule: the help needs no ZooKeeper client, no Kafka client, no Arrow, no Spark, no YAML."""
    code = (
        "import sys; from kadmin.cli import run; run(['--help']); "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    heavy = {
        "kazoo",
        "kafka",
        "pyarrow",
        "pyspark",
        "numpy",
        "pandas",
        "yaml",
        "jsonschema",
        "jinja2",
    }
    assert heavy & set(done.stderr.split()) == set()
    assert "kadmin" in done.stderr
