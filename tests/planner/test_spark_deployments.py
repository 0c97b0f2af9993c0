"""Spark as its users run it: the same plan, byte for byte, and the same load on each."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from family import SIZES, inventory
from pyarrow import parquet
from pyspark.sql import SparkSession
from support.cli.in_process import command
from support.planner import sample_history as history
from support.planner.spark_servers import (
    SPARK,
    WORKERS,
    cluster,
    connect_server,
    environment,
    packages,
    python_without_kadmin,
    s3_server,
)

from kadmin.documents import dump_yaml
from kadmin.inventory import write_inventory
from kadmin.planner import propose
from kadmin.planner.load.columns import PARTITION_LOAD
from kadmin.planner.load_build.job import LoadTask, build_load
from kadmin.planner.load_build.sources import SampleSource
from kadmin.planner.proposal import Options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from support.cli.in_process import Answer
    from support.planner.spark_servers import Cluster

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
FEW = ("--conf", "spark.sql.shuffle.partitions=2")
ON_LOOPBACK = (
    *("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1"),
    *("--conf", "spark.executor.memory=512m"),
)
DELTA = {
    "spark.jars.packages": "io.delta:delta-spark_4.2_2.13:4.4.0",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an inventory, a request, samples, and the plan of this process alone."""
    folder = tmp_path_factory.mktemp("work")
    write_inventory(inventory(SIZES["S"], 1), folder / "inventory", "csv")
    (folder / "request.yaml").write_text("kind: RebalanceRequest\nspec: {brokers: {drain: [2]}}\n")
    rows = [row for moment in history.moments(range(4)) for row in history.rows_at(moment)]
    history.write(folder / "samples" / "samples.parquet", rows)
    assert planned(folder, folder / "plan.yaml", "--engine", "local").status == 0
    return folder


@pytest.fixture(scope="module")
def load(work: Path) -> list[Any]:
    """What load build makes on this machine alone."""
    done = built(work / "load", "--samples", work / "samples", "--master", "local[2]")
    assert done.status == 0, done.err
    return rates(work / "load")


@pytest.fixture(scope="module")
def python(work: Path) -> Path:
    """The workers' Python: kadmin is not there."""
    found = python_without_kadmin(work, sys.executable)
    tried = subprocess.run(
        [found, "-c", "import kadmin"],
        cwd=work,
        env=environment(found),
        capture_output=True,
        check=False,
    )
    assert tried.returncode == 1
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, python: Path) -> Iterator[str]:
    with connect_server(tmp_path_factory.mktemp("server"), python) as url:
        yield url


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory, python: Path) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster"), python) as found:
        yield found


def planned(work: Path, out: Path, *arguments: str) -> Answer:
    request, found = work / "request.yaml", work / "inventory"
    return command("propose", "rebalance", request, "--inventory", found, "--out", out, *arguments)


def built(out: Path, *arguments: str | Path) -> Answer:
    return command("load", "build", "--out", out, *FEW, *arguments)


def ivy_settings() -> dict[str, str]:
    """Where Spark fetches packages from, if that is named."""
    given = os.environ.get("KADMIN_IVY_SETTINGS")
    return {"spark.jars.ivySettings": given} if given else {}


def rates(out: Path) -> list[Any]:
    rows = parquet.read_table(out / PARTITION_LOAD)
    assert len(rows)
    found: list[Any] = rows.to_pylist()
    return found


def test_on_this_machine(work: Path, load: list[Any], tmp_path: Path) -> None:
    done = planned(work, tmp_path / "plan.yaml", "--master", "local[2]", *FEW)
    assert done.status == 0, done.err
    assert (tmp_path / "plan.yaml").read_bytes() == (work / "plan.yaml").read_bytes()
    assert len(load) > len(history.TOPICS)


def test_a_spark_connect_server(
    work: Path, load: list[Any], server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rule: paths are of the folder in which the command runs, not of the server's."""
    monkeypatch.chdir(work)
    done = planned(Path(), tmp_path / "plan.yaml", "--remote", server)
    assert done.status == 0, done.err
    assert (tmp_path / "plan.yaml").read_bytes() == (work / "plan.yaml").read_bytes()
    done = built(Path("load-by-server"), "--samples", "samples", "--remote", server, "--explain")
    assert done.status == 0, done.err
    assert "MapInArrow" in done.out
    assert rates(work / "load-by-server") == load
    assert "SPARK_CONNECT_MODE_ENABLED" not in os.environ, (
        "a later session of this process may be a classic one"
    )


def test_a_session_of_spark_connect_that_is_handed_in(
    work: Path, load: list[Any], server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rule: it is not stopped, its workers get kadmin from it, and samples are at a URL of a Hadoop
    file system.
    """
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    session = SparkSession.builder.remote(server).getOrCreate()
    try:
        session.conf.set("spark.sql.shuffle.partitions", "2")
        for _ in range(2):
            proposals = propose(work / "request.yaml", work / "inventory", session=session)
            assert dump_yaml(proposals[""].plan) == (work / "plan.yaml").read_text()
        url = f"file://{work / 'samples'}"
        build_load(LoadTask(SampleSource(url), tmp_path / "load"), Options(session=session))
        assert rates(tmp_path / "load") == load
        assert re.search(r"/kadmin-\w{12}\.zip/kadmin/", where_kadmin_is(session))
    finally:
        session.stop()


def where_kadmin_is(session: SparkSession) -> str:
    def look(batches: Iterable[Any]) -> Iterator[Any]:
        import kadmin

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"path": [kadmin.__file__]})

    (row,) = session.range(1).mapInArrow(look, "path string").collect()
    return str(row.path)


@pytest.mark.matrix
def test_a_cluster_with_two_workers(
    work: Path, load: list[Any], two_workers: Cluster, python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", str(python))
    done = planned(
        work, work / "plan-by-cluster.yaml", "--master", two_workers.master, *ON_LOOPBACK
    )
    assert done.status == 0, done.err
    assert (work / "plan-by-cluster.yaml").read_bytes() == (work / "plan.yaml").read_bytes()
    assert two_workers.used() == WORKERS
    done = built(
        work / "load-by-cluster",
        "--samples",
        work / "samples",
        "--master",
        two_workers.master,
        *ON_LOOPBACK,
    )
    assert done.status == 0, done.err
    assert rates(work / "load-by-cluster") == load


def test_a_job_of_spark_submit(
    work: Path, two_workers: Cluster, python: Path, tmp_path: Path
) -> None:
    """Rule: the script of docs/planner.md plans on the session of spark-submit."""
    page = (ROOT / "docs" / "planner.md").read_text(encoding="utf-8")
    script = re.search(r"^`plan_job\.py`:\n\n```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert script is not None
    (tmp_path / "plan_job.py").write_text(script[1])
    submit: list[str | Path] = [
        SPARK / "bin" / "spark-submit",
        "--master",
        two_workers.master,
        *ON_LOOPBACK,
    ]
    job: list[str | Path] = [
        "plan_job.py",
        work / "request.yaml",
        work / "inventory",
        tmp_path / "plan.yaml",
    ]
    driver = {"PYSPARK_DRIVER_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*submit, *job],
        cwd=tmp_path,
        env={**environment(python), **driver},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "plan.yaml").read_bytes() == (work / "plan.yaml").read_bytes()


@pytest.fixture(scope="module")
def delta_server(work: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Connect server of the newest Spark that Delta is made for, with the samples as a table."""
    folder = tmp_path_factory.mktemp("delta")
    with (
        connect_server(
            folder, Path(sys.executable), packages() / "pyspark", DELTA | ivy_settings()
        ) as url,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
        session = SparkSession.builder.remote(url).getOrCreate()
        try:
            rows = session.read.parquet(str(work / "samples"))
            rows.write.format("delta").saveAsTable("kafka_samples", path=str(work / "delta-table"))
        finally:
            session.stop()
        patch.delenv("SPARK_CONNECT_MODE_ENABLED")
        yield url


@pytest.mark.matrix
@pytest.mark.parametrize("by", ["format", "table"])
def test_a_delta_table(
    work: Path, load: list[Any], delta_server: str, tmp_path: Path, by: str
) -> None:
    assert (work / "delta-table" / "_delta_log").is_dir()
    place = (
        ("--samples", str(work / "delta-table"), "--format", "delta")
        if by == "format"
        else ("--table", "kafka_samples")
    )
    done = built(tmp_path / "load", *place, "--remote", delta_server)
    assert done.status == 0, done.err
    assert rates(tmp_path / "load") == load


@pytest.mark.matrix
def test_samples_in_s3(work: Path, load: list[Any], tmp_path: Path) -> None:
    """Rule: the command of docs/load.md, with where the server is."""
    page = (ROOT / "docs" / "load.md").read_text(encoding="utf-8")
    found = re.search(
        r"^kadmin (load build --samples s3a://(\w+)/samples(?:.*\\\n)+.*)", page, re.MULTILINE
    )
    assert found is not None
    arguments = shlex.split(found[1].replace("\\\n", " "))
    arguments[arguments.index("--out") + 1] = str(tmp_path / "load")
    objects = {"samples/samples.parquet": (work / "samples" / "samples.parquet").read_bytes()}
    with s3_server(tmp_path, found[2], objects) as url:
        of_server = {
            "endpoint": url,
            "path.style.access": "true",
            "access.key": "a",
            "secret.key": "b",
        }
        conf = {
            f"spark.hadoop.fs.s3a.{key}": value for key, value in of_server.items()
        } | ivy_settings()
        done = command(
            *arguments, *FEW, *(each for key in conf for each in ("--conf", f"{key}={conf[key]}"))
        )
    assert done.status == 0, done.err
    assert rates(tmp_path / "load") == load


def test_a_server_that_cannot_be_used_is_named(work: Path, server: str, tmp_path: Path) -> None:
    done = planned(work, tmp_path / "plan.yaml", "--remote", "sc://127.0.0.1:1/;token=secret")
    assert done.status == 8
    assert "Spark at sc://127.0.0.1:1 cannot be used" in done.err
    assert "Connection refused" in done.err
    assert "secret" not in done.err
    done = planned(
        work, tmp_path / "plan.yaml", "--remote", server, "--conf", "spark.driver.memory=1g"
    )
    assert "CANNOT_MODIFY_CONFIG" in done.err
    assert not (tmp_path / "plan.yaml").exists()
