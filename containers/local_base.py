"""A base image that needs no image registry.

It has this machine's Python, the C library, and a shell for Spark's launcher. Each shared library
lies under the name by which the loader asks for it. There are no CA certificates in it.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LIBRARY = re.compile(r"(/\S+) \(0x")
# Not listed by ldd: the name service is loaded by name, and compiled Python packages are linked
# with the others.
_NAME_SERVICE_MODULES = ("libnss_files.so.2", "libnss_dns.so.2")
_PACKAGES_NEED = (
    "libdl.so.2",
    "libgcc_s.so.1",
    "libpthread.so.0",
    "librt.so.1",
    "libstdc++.so.6",
    "libutil.so.1",
)
_NAME_SERVICE = "passwd: files\nhosts: files dns\n"
_PROGRAMS = ("bash", "env", "dirname", "head")
_LEFT_OUT = {
    "__pycache__",
    "idlelib",
    "lib2to3",
    "site-packages",
    "dist-packages",
    "test",
    "tkinter",
    "turtledemo",
}


def pack_base(archive: Path) -> None:
    """Write the root file system of the base image as a tar."""
    version = f"python3.{sys.version_info.minor}"
    python, modules = Path(sys.executable).resolve(), Path(sysconfig.get_path("stdlib"))
    programs = [Path("/usr/bin", name) for name in _PROGRAMS]
    with tarfile.open(archive, "w", dereference=True) as tar:
        tar.add(python, f"usr/local/bin/{version}")
        tar.add(modules, f"usr/local/lib/{version}", filter=_part_of_the_runtime)
        for program in programs:
            tar.add(program, f"usr/bin/{program.name}")
        for library in sorted(
            libraries([python, *programs, *(modules / "lib-dynload").glob("*.so")])
        ):
            tar.add(library, _place(library))
        _add_link(tar, "usr/local/bin/python3", version)
        _add_link(tar, "bin/sh", "/usr/bin/bash")
        add_system(tar)


def libraries(binaries: Iterable[Path]) -> set[str]:
    """Return the paths of what binaries are linked with.

    Beside the C library, add what is loaded by name.
    """
    listed = subprocess.run(
        ["ldd", *map(str, binaries)], capture_output=True, text=True, check=True
    ).stdout
    found = set(_LIBRARY.findall(listed))
    folders = {Path(path).parent for path in found if Path(path).name.startswith("libc.so")}
    modules = (
        folder / name for folder in folders for name in (*_NAME_SERVICE_MODULES, *_PACKAGES_NEED)
    )
    return found | {str(module) for module in modules if module.exists()}


def add_system(tar: tarfile.TarFile) -> None:
    """Add what every root file system needs: users, where names are looked up, and /tmp."""
    add_text(tar, "etc/passwd", "root:x:0:0:root:/:/none\n")
    add_text(tar, "etc/nsswitch.conf", _NAME_SERVICE)
    folder = tarfile.TarInfo("tmp")
    folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
    tar.addfile(folder)


def add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    """Add a file with this text."""
    entry = tarfile.TarInfo(name)
    entry.size = len(text.encode())
    tar.addfile(entry, io.BytesIO(text.encode()))


def _part_of_the_runtime(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = Path(entry.name).name
    return None if name in _LEFT_OUT or name.startswith("config-") or name.endswith(".a") else entry


def _place(library: str) -> str:
    """Return where the loader looks.

    A library from elsewhere, as Python's own may be, goes to /usr/lib.
    """
    system = library.startswith(("/lib", "/usr/lib"))
    return library.lstrip("/") if system else f"usr/lib/{Path(library).name}"


def _add_link(tar: tarfile.TarFile, name: str, target: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    tar.addfile(entry)
