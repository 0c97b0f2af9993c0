"""Sends this package to Spark's Python workers where they may run on other machines.

Workers then need what Spark's own functions on Arrow tables need, and kadmin need not be installed
there.
"""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from pyspark.sql.utils import is_remote

import kadmin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def ship_package(session: SparkSession) -> None:
    """Send this package to the workers of a session, unless they are on this machine alone."""
    if not is_remote() and (session.conf.get("spark.master", None) or "").startswith("local"):
        return
    session.addArtifacts(str(_package()), pyfile=True)


@cache
def _package() -> Path:
    """Return this package's zip file; workers may fetch it for as long as this process lives."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return write_package(Path(folder))


def write_package(folder: Path) -> Path:
    """Write the package as a zip file, and return its path.

    The same code gives the same name and bytes: a session accepts a file again, but no other one of
    that name.
    """
    root = Path(kadmin.__file__).parent
    paths = sorted(path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc")
    partial, digest = folder / "kadmin.zip", hashlib.sha256()
    with ZipFile(partial, "w") as archive:
        for path in paths:
            name, data = path.relative_to(root.parent).as_posix(), path.read_bytes()
            digest.update(f"{name} {len(data)}\n".encode() + data)
            archive.writestr(ZipInfo(name), data, ZIP_DEFLATED)
    return partial.rename(folder / f"kadmin-{digest.hexdigest()[:12]}.zip")
