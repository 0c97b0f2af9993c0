"""Starts and stops a Spark session for one proposal.

It has no log output, no web UI, workers on this Python interpreter.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyspark
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # ships no type information
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from kadmin.errors import NotCompletedError
from kadmin.java import cache_folder, find_java
from kadmin.planner.engine_choice import SUBMITTED
from kadmin.planner.proposal import server_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from concurrent.futures import Future

    from kadmin.java import JavaRuntime
    from kadmin.planner.proposal import Options

LOCAL_MASTER = "local[*]"
_SHUFFLES_PER_CORE = 2
_NAME = "kadmin propose rebalance"

_SQL = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    # 2**31 - 1 means no limit. Below it, Spark measures the whole batch again after each row:
    # quadratic time.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    "spark.sql.session.timeZone": "UTC",
}
_SHUTDOWN_S = 10
_CONNECT_RETRIES = 4
"""Retries of the first call, some seconds in all; PySpark would try for ten minutes, as it does for
later calls."""
_DETAILS = re.compile(r'^\s*details = "(.*)"$', re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last):"
_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"
"""The environment variable that makes PySpark's functions those of Spark Connect."""
_ARCHIVING_S = 600
LOGGING = Path(__file__).with_name("log4j2-quiet.properties")
# A proposal ends before the optimizing compiler pays off: without it the JVM needs half the CPU
# time.
# The JVM would print its own warnings to stdout, among the command's output.
_JAVA_OPTIONS = (
    f"-Dlog4j2.configurationFile={LOGGING.as_uri()} -XX:TieredStopAtLevel=1 -Xlog:disable "
    "-Xlog:all=warning:stderr"
)


@contextmanager
def spark_session(options: Options, archived: Path | None = None) -> Iterator[SparkSession]:
    """Start a session, and stop it with its JVM at the end.

    The session of the options, or else one that is active in this process, is used and not stopped;
    one of spark-submit is used with its settings and stopped; one of a Spark Connect server is
    closed, and the server goes on. With `archived`, the JVM writes the classes that it loaded to
    that path at its end, which takes minutes. Raises NotCompletedError where no Java is found or
    Spark does not start.
    """
    running = options.session or SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    with ExitStack() as ends:
        # Py4J logs stack traces to the root logger when the JVM is killed.
        silence = logging.NullHandler()
        logging.getLogger().addHandler(silence)
        ends.callback(logging.getLogger().removeHandler, silence)
        try:
            session = _started(options, archived, ends)
        except (PySparkException, Py4JError) as error:
            raise _not_started(cause_of(error)) from error
        try:
            yield session
        finally:
            with suppress(Py4JError, OSError):  # the JVM may have been killed
                session.stop()


def _started(options: Options, archived: Path | None, ends: ExitStack) -> SparkSession:
    if options.remote is not None:
        return _connected(options.remote, options.conf, ends)
    return _submitted(options) if SUBMITTED in os.environ else _launched(options, archived, ends)


def _connected(remote: str, conf: Mapping[str, str], ends: ExitStack) -> SparkSession:
    """Open a session of a Spark Connect server, which keeps all but a session's settings."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    if _CONNECT_MODE not in os.environ:
        # It would be set for every later session of this process.
        ends.callback(os.environ.pop, _CONNECT_MODE, None)
    session = SparkSession.builder.remote(remote).getOrCreate()
    try:
        session.client.set_retry_policies([DefaultPolicy(max_retries=_CONNECT_RETRIES)])
        with warnings.catch_warnings(action="ignore"):  # the error repeats PySpark's warning
            for key, value in {**_SQL, **conf}.items():
                session.conf.set(key, value)
        session.client.set_retry_policies([DefaultPolicy()])
    except PySparkException as error:
        with warnings.catch_warnings(action="ignore"):
            session.stop()
        raise NotCompletedError(
            f"Spark at {server_of(remote)} cannot be used.",
            cause=cause_of(error),
            next_step="--engine local",
        ) from error
    return session


def _submitted(options: Options) -> SparkSession:
    builder = SparkSession.builder.appName(_NAME).config(map={**_SQL, **options.conf})
    return (builder if options.master is None else builder.master(options.master)).getOrCreate()


def _launched(options: Options, archived: Path | None, ends: ExitStack) -> SparkSession:
    gateway, conf = _launch(options, archived)
    ends.callback(_shut_down, gateway, _SHUTDOWN_S if archived is None else _ARCHIVING_S)
    return SparkSession(SparkContext(conf=conf, gateway=gateway))


def local_url(path: Path) -> str:
    """Return a path of this machine as Spark reads it.

    Spark does not look in its default file system, nor in a server's folder.
    """
    return f"file://{path.absolute()}"


def class_archive(java: JavaRuntime, cache: Path) -> Path:
    """Return the path of the archive of Spark's classes for this Java and PySpark.

    It may not exist. A JVM ignores an archive that is broken, of another Java, or of jars that have
    changed since.
    """
    home = Path(pyspark.__file__).parent
    key = hashlib.sha256(f"{java.executable.resolve()}\n{home}".encode()).hexdigest()[:12]
    return cache / "spark-classes" / f"spark-{pyspark.__version__}-java-{java.major}-{key}.jsa"


def cause_of(error: Exception) -> str:
    """Return the relevant line of a Spark error.

    It is the Java exception's, where it came through Py4J, a server's, or that of a Python worker.
    """
    process = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001 - there is no public way
    if isinstance(error, ConnectionError) or (process is not None and process.poll() is not None):
        return (
            "its JVM ended before it had answered; it may need more memory: --conf "
            "spark.driver.memory=4g"
        )
    lines = str(error).strip().split("\n")
    if (details := _DETAILS.search(str(error))) is not None:
        return details[1]
    if _TRACEBACK in lines:
        lines = lines[lines.index(_TRACEBACK) + 1 :]
        return next((line for line in lines if not line.startswith(" ")), lines[-1])
    return next((line[2:] for line in lines if line.startswith(": ")), lines[0])


def _not_started(cause: str) -> NotCompletedError:
    return NotCompletedError("Spark did not start.", cause=cause, next_step="--engine local")


def _launch(options: Options, archived: Path | None) -> tuple[Any, SparkConf]:
    """Start a JVM; returns its Py4J gateway and the settings."""
    cache = cache_folder(os.environ)
    java = find_java(os.environ, cache)
    os.environ["JAVA_HOME"] = str(java.home)
    if (options.master or LOCAL_MASTER).startswith("local"):
        os.environ["PYSPARK_PYTHON"] = sys.executable
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Without SPARK_HOME the launcher starts a Python to find it.
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    java_options = _JAVA_OPTIONS
    if archived is not None:
        java_options += f' -XX:ArchiveClassesAtExit="{archived}"'
    elif (found := class_archive(java, cache)).is_file():
        java_options += f' -XX:SharedArchiveFile="{found}"'
    conf = SparkConf(loadDefaults=False).setAll(list(_settings(options, java_options).items()))
    # Of Java and Spark's launcher before logging is set up.
    with tempfile.TemporaryFile() as output:
        try:
            return _launch_gateway(conf, output), conf
        except PySparkRuntimeError as error:
            output.seek(0)
            lines = output.read().decode(errors="replace").strip().splitlines()
            raise _not_started(lines[-1] if lines else str(error)) from error


def _launch_gateway(conf: SparkConf, output: IO[bytes]) -> Any:  # noqa: ANN401 - Py4J has no types
    """Start a JVM in a thread.

    One that is starting when a time limit or ^C comes would otherwise never be ended.
    """
    with ThreadPoolExecutor(1) as thread:
        started = thread.submit(launch_gateway, conf, {"stderr": output})
        try:
            return started.result()
        except BaseException:
            started.add_done_callback(_shut_down_started)
            raise


def _shut_down_started(started: Future[Any]) -> None:
    if started.exception() is None:
        _shut_down(started.result(), _SHUTDOWN_S)


def _shut_down(gateway: Any, timeout_s: float) -> None:  # noqa: ANN401 - Py4J has no types
    """End the JVM.

    Spark would otherwise reuse it, with its settings, for the next session of this process.
    """
    gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends at the end of its input
    try:
        gateway.proc.wait(timeout_s)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - there is no public way


def _settings(options: Options, java_options: str) -> dict[str, str]:
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    settings = {
        "spark.master": options.master or LOCAL_MASTER,
        "spark.app.name": _NAME,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.shuffle.partitions": str(_SHUFFLES_PER_CORE * cores),
        "spark.driver.extraJavaOptions": java_options,
    }
    if settings["spark.master"].startswith("local"):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return {**settings, **_SQL, **options.conf}
