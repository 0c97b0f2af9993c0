"""Builds two images with the Docker daemon that `docker` reaches.

kadmin, and kadmin-planner with Spark and Java.

Usage: python containers/build_images.py TOOLS [BASE], where TOOLS is the `bin` folder with
cyclonedx-py, `make image BASE=python:3.13-slim`.

An image names its version and the commit of this tree in its labels, and has its SBOM (CycloneDX,
JSON) beside kadmin. Its provenance is written to dist/.

Without BASE, the base is made of this machine's own Python (Linux only), and the build needs
neither an image registry nor a network: the packages of requirements.lock are fetched before it,
with their hashes checked. On another BASE the build installs them from the package index.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from build import EXTRAS as EVERY_EXTRA
from build import bill_of_materials, build
from local_base import pack_base
from locked import ROOT, locked
from provenance import revision, write_provenance

from kadmin import __version__

LOCAL_BASE = "kadmin-base:local"
EXTRAS = {"kadmin": (), "kadmin-planner": EVERY_EXTRA}
_HERE = Path(__file__).parent
_LABEL = "org.opencontainers.image"


def build_image(name: str, tools: Path, base: str | None) -> str:
    """Build one of the two images and return its name with its tag."""
    tag = f"{name}:{__version__}"
    with tempfile.TemporaryDirectory() as scratch:
        context = Path(scratch)
        wheel = next(path for path in build(ROOT, context / "dist") if path.suffix == ".whl")
        wheel.rename(context / wheel.name)
        shutil.rmtree(context / "dist")
        for file in ("Containerfile", "install.py"):
            shutil.copy(_HERE / file, context)
        (context / "runtime.lock").write_text(locked(EXTRAS[name]), encoding="utf-8")
        bill_of_materials(tools, __version__, context / "sbom.cdx.json", EXTRAS[name])
        options = ["--build-arg", f"BASE={base or _local_base(context)}"]
        options += ["--label", f"{_LABEL}.version={__version__}"]
        options += ["--label", f"{_LABEL}.revision={revision()}"]
        if base is None:
            _fetch_wheels(context)
            options += ["--network", "none"]
        file = str(context / "Containerfile")
        subprocess.run(
            ["docker", "build", "--quiet", *options, "--file", file, "--tag", tag, str(context)],
            check=True,
        )
    _write_provenance(tag)
    return tag


def _write_provenance(tag: str) -> None:
    """Name an image by its id, the digest of its configuration, which names its layers."""
    command = ["docker", "image", "inspect", "--format", "{{.Id}}", tag]
    shown = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    written = ROOT / "dist" / f"{tag.replace(':', '-')}.image.intoto.json"
    written.parent.mkdir(exist_ok=True)
    write_provenance(written, "make image", {tag: shown.strip().removeprefix("sha256:")})


def _local_base(scratch: Path) -> str:
    archive = scratch / "base.tar"
    pack_base(archive)
    subprocess.run(
        ["docker", "import", str(archive), LOCAL_BASE], check=True, stdout=subprocess.DEVNULL
    )
    archive.unlink()
    return LOCAL_BASE


def _fetch_wheels(context: Path) -> None:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--require-hashes"]
    subprocess.run(
        [*pip, "-r", str(context / "runtime.lock"), "-w", str(context / "wheels")], check=True
    )


def main(tools: Path, base: str | None = None) -> None:
    """Build both, and print their names."""
    for name in EXTRAS:
        sys.stdout.write(f"{build_image(name, tools, base)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
