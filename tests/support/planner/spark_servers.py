"""Starts what Spark meets on loopback: a Spark Connect server, a master with workers, a server of
S3.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyspark
from support.live.waiting import wait_until

from kadmin.java import cache_folder, find_java
from kadmin.sandbox.kraft_mode import listens
from kadmin.sandbox.processes import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SPARK = Path(pyspark.__file__).parent
WORKERS = 2
_START_S, _END_S = 120, 60
_QUIET = Path(__file__).parents[3] / "kadmin" / "planner" / "log4j2-quiet.properties"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The URL of a master, and the folder in which workers leave what executors write."""

    master: str
    folder: Path

    def used(self) -> int:
        """Return how many workers have started an executor so far."""
        return len({path.parents[2] for path in self.folder.glob("worker-*/app-*/*/stderr")})


def python_without_kadmin(folder: Path, python: str) -> Path:
    """Return a Python that has the packages of this one, and not those that are installed as links:
    not kadmin.
    """
    script = folder / "python-without-kadmin"
    packages = Path(pa.__file__).parents[1]
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}:$PYTHONPATH" exec "{python}" -S "$@"\n')
    script.chmod(0o755)
    return script


@contextmanager
def connect_server(
    folder: Path, python: Path, spark: Path = SPARK, conf: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run a Spark Connect server; yields its URL."""
    (port,) = free_ports(1)
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.driver.memory": "768m",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_QUIET.as_uri()}",
        **(conf or {}),
    }
    arguments = [each for key, value in settings.items() for each in ("--conf", f"{key}={value}")]
    main = "org.apache.spark.sql.connect.service.SparkConnectServer"
    command = [
        str(spark / "bin" / "spark-submit"),
        "--master",
        "local[2]",
        "--class",
        main,
        *arguments,
    ]
    with _running(command, folder / "connect.log", environment(python, spark)) as process:
        _wait_for(process, port, folder / "connect.log")
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def cluster(folder: Path, python: Path) -> Iterator[Cluster]:
    """Run a master and two workers of one core each."""
    (port,) = free_ports(1)
    url, log, start = (
        f"spark://127.0.0.1:{port}",
        folder / "master.log",
        str(SPARK / "bin" / "spark-class"),
    )
    deploy = "org.apache.spark.deploy"
    with ExitStack() as ends:
        address = ["--host", "127.0.0.1", "--webui-port", "0"]
        master = [start, f"{deploy}.master.Master", *address, "--port", str(port)]
        ends.enter_context(_running(master, log, environment(python)))
        wait_until(lambda: listens(port), _START_S)
        for number in range(1, WORKERS + 1):
            size = [
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                str(folder / f"worker-{number}"),
            ]
            worker = [start, f"{deploy}.worker.Worker", *address, *size, url]
            ends.enter_context(
                _running(worker, folder / f"worker-{number}.log", environment(python))
            )
        wait_until(lambda: log.read_text().count("Registering worker") == WORKERS, _START_S)
        yield Cluster(url, folder)


def packages() -> Path:
    """Return the folder of the packages that are not of this environment: another PySpark, and the
    server of S3.
    """
    folder = Path(__file__).parents[3] / ".servers"
    assert (folder / "pyspark").is_dir(), "make test-matrix installs it"
    return folder


@contextmanager
def s3_server(folder: Path, bucket: str, objects: Mapping[str, bytes]) -> Iterator[str]:
    """Run a server of S3 with one bucket; yields its URL."""
    (port,) = free_ports(1)
    log = folder / "s3.log"
    command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
    with _running(command, log, {**os.environ, "PYTHONPATH": str(packages())}) as process:
        _wait_for(process, port, log)
        client = HTTPConnection("127.0.0.1", port)
        for path, content in {
            bucket: b"",
            **{f"{bucket}/{name}": each for name, each in objects.items()},
        }.items():
            client.request("PUT", f"/{path}", content)
            answer = client.getresponse()
            assert answer.status == HTTPStatus.OK, answer.read()
            answer.read()
        yield f"http://127.0.0.1:{port}"


def environment(python: Path, spark: Path = SPARK) -> dict[str, str]:
    """Return the environment of Spark's own programs, in which a `python` runs functions."""
    java = find_java(os.environ, cache_folder(os.environ))
    return {
        **{
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("SPARK_", "PYSPARK_", "PYTHON"))
        },
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(spark),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": str(python),
    }


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until a process listens; one that ended before fails with its log."""
    wait_until(lambda: process.poll() is not None or listens(port), _START_S)
    assert process.poll() is None, log.read_text()


@contextmanager
def _running(
    command: list[str], log: Path, variables: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=log.parent,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
