"""Broker jars: pinned in brokers.lock.json, fetched once, verified on every use.

The lock maps a Kafka version to `[path in a Maven repository, size, sha256]` rows: the runtime
class path of its `kafka_2.x` artifact, and a logger; in some, Kafka's own tier, which is in a jar
of tests. The Ivy of PySpark's jars fetches them from
its default repository, or from the mirror in the settings file that KADMIN_IVY_SETTINGS names. Ivy
pins nothing: size and sha256 are checked here.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from kadmin.errors import InvalidInputError, NotCompletedError
from kadmin.java import make_in_cache
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kadmin.java import JavaRuntime

DEFAULT_VERSION = "2.8.2"
DEFAULT_KRAFT_VERSION = "4.4.0"
IVY_SETTINGS_VARIABLE = "KADMIN_IVY_SETTINGS"
_FETCH_S = 900
_TESTS = "test"
"""The classifier of the jar that has LocalTieredStorage, up to Kafka 4.1."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One row of the lock."""

    repository_path: str
    size_bytes: int
    sha256: str

    @property
    def name(self) -> str:
        """The file's name."""
        return self.repository_path.rsplit("/", 1)[1]

    @property
    def coordinates(self) -> tuple[str, str, str, str]:
        """Organisation, artifact, revision and classifier (empty for none)."""
        *organisation, artifact, revision, name = self.repository_path.split("/")
        classifier = name.removeprefix(f"{artifact}-{revision}").removesuffix(".jar").lstrip("-")
        return ".".join(organisation), artifact, revision, classifier

    @property
    def has_tests(self) -> bool:
        """Whether it has classes of Kafka's own tests, which no server needs."""
        return self.coordinates[3] == _TESTS


def read_lock() -> dict[str, tuple[Jar, ...]]:
    """Return the jars of every version that the sandbox can run, oldest version first."""
    rows = json.loads((files("kadmin.sandbox") / "brokers.lock.json").read_text(encoding="utf-8"))
    return {version: tuple(Jar(*row) for row in jars) for version, jars in rows.items()}


def require_version(version: str) -> tuple[Jar, ...]:
    """Return the jars of a version; raises InvalidInputError naming the versions there are."""
    lock = read_lock()
    if version not in lock:
        raise InvalidInputError(
            f"The sandbox does not run Kafka {version}.", next_step=f"one of: {', '.join(lock)}"
        )
    return lock[version]


def runs_zookeeper(version: str) -> bool:
    """Whether a version has ZooKeeper mode, which ended with 4.0."""
    return _numbers(version) < (4,)


def runs_kraft(version: str) -> bool:
    """Whether a version has KRaft mode as production clusters run it, since 3.3."""
    return _numbers(version) >= (3, 3)


def runs_disks(version: str, *, kraft: bool) -> bool:
    """Whether a version runs with several log directories, and a broker goes on when one fails.

    In KRaft mode that is so since 3.7 (KIP-858). Before 2.8 a broker does not write to an empty
    directory, and so does not find that it failed.
    """
    return _numbers(version) >= ((3, 7) if kraft else (2, 8))


def tiered_versions() -> list[str]:
    """Return the versions whose lock has Kafka's own tier."""
    return [version for version, jars in read_lock().items() if any(j.has_tests for j in jars)]


def runs_migration(version: str) -> bool:
    """Whether a version can be led from ZooKeeper to KRaft mode.

    That is so from 3.4 on until ZooKeeper mode ended (KIP-866).
    """
    return runs_zookeeper(version) and _numbers(version) >= (3, 4)


def class_path(
    version: str, java: JavaRuntime, cache: Path, report: Callable[[str], None] = lambda _: None
) -> str:
    """Return the class path of a version with every jar verified.

    Missing and damaged jars are fetched first. `report` is called before a fetch, which may take a
    minute. Raises NotCompletedError when it cannot be fetched.
    """
    jars = [jar for jar in require_version(version) if not jar.has_tests]
    return os.pathsep.join(map(str, _kept(version, jars, java, cache, report)))


def tier_jar(
    version: str, java: JavaRuntime, cache: Path, report: Callable[[str], None] = lambda _: None
) -> Path:
    """Return the jar of LocalTieredStorage of a version that has it, as `class_path` does."""
    jars = [jar for jar in require_version(version) if jar.has_tests]
    (path,) = _kept(version, jars, java, cache, report)
    return path


def _kept(
    version: str,
    jars: Sequence[Jar],
    java: JavaRuntime,
    cache: Path,
    report: Callable[[str], None],
) -> list[Path]:
    """Return where verified jars are."""
    folder = cache / "jars"
    wrong = [jar for jar in jars if not _verified(folder / jar.name, jar)]
    if wrong:
        report(f"fetching {count(len(wrong), 'jar')} of Kafka {version}, once")
        _fetch(wrong, folder, java, cache)
    return [folder / jar.name for jar in jars]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _verified(path: Path, jar: Jar) -> bool:
    try:
        if path.stat().st_size != jar.size_bytes:
            return False
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest() == jar.sha256
    except OSError:
        return False


def _fetch(wanted: Sequence[Jar], folder: Path, java: JavaRuntime, cache: Path) -> None:
    make_in_cache(folder)
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=cache) as scratch:
        said = _run_ivy(wanted, Path(scratch), java)
        for jar in wanted:
            fetched = Path(scratch) / "lib" / jar.name
            if _verified(fetched, jar):
                fetched.replace(folder / jar.name)
    missing = [jar.name for jar in wanted if not _verified(folder / jar.name, jar)]
    if missing:
        raise NotCompletedError(
            f"{len(missing)} of the broker jars cannot be fetched, or are not the pinned ones: "
            f"{', '.join(missing)}.",
            cause=said,
            next_step=(
                f"name a mirror in an Ivy settings file by {IVY_SETTINGS_VARIABLE}, "
                f"or copy {folder} from a machine that has it"
            ),
        )


def _run_ivy(wanted: Sequence[Jar], scratch: Path, java: JavaRuntime) -> str:
    """Run Ivy and return its last messages.

    Its cache is new each time, so that no damaged jar comes out of it.
    """
    (scratch / "ivy.xml").write_text(_ivy_xml(wanted), encoding="utf-8")
    command = [str(java.executable), "-jar", str(_ivy_jar()), "-cache", str(scratch / "cache")]
    if settings := os.environ.get(IVY_SETTINGS_VARIABLE):
        command += ["-settings", settings]
    command += ["-ivy", str(scratch / "ivy.xml"), "-confs", "jars"]
    command += ["-retrieve", str(scratch / "lib" / "[artifact]-[revision](-[classifier]).[ext]")]
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments
            command, capture_output=True, text=True, timeout=_FETCH_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    problems = [
        line for line in lines if "unresolved" in line or "FAILED" in line or "rror" in line
    ]
    return "; ".join((problems or lines)[-3:]) or f"Ivy ended with {done.returncode}"


def _ivy_jar() -> Path:
    pyspark = importlib.util.find_spec("pyspark")
    if pyspark is not None and pyspark.origin is not None:
        for found in sorted((Path(pyspark.origin).parent / "jars").glob("ivy-*.jar")):
            return found
    raise NotCompletedError(
        "The sandbox fetches its brokers with the Ivy of PySpark, and PySpark is not installed.",
        next_step="pip install 'kadmin-kafka[spark]'",
    )


def _ivy_xml(wanted: Sequence[Jar]) -> str:
    dependencies = []
    for jar in wanted:
        organisation, artifact, revision, classifier = (quoteattr(part) for part in jar.coordinates)
        inner = (
            f'<artifact name={artifact} type="jar" ext="jar" m:classifier={classifier}/>'
            if jar.coordinates[3]
            else ""
        )
        dependencies.append(
            f"<dependency org={organisation} name={artifact} rev={revision} "
            f'transitive="false" conf="jars-&gt;master">{inner}</dependency>'
        )
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="kadmin" module="sandbox"/>'
        '<configurations><conf name="jars"/></configurations>'
        f"<dependencies>{''.join(dependencies)}</dependencies></ivy-module>"
    )
