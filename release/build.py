"""Builds what is published, into dist/: wheel, source distribution, SBOM, provenance, checksums.

Usage: python release/build.py TOOLS [TAG], where TOOLS is the `bin` folder with cyclonedx-py and
twine (`make release TAG=v1.2.0`). With a tag, the tree must be that of the tag, and the version is
the tag's.

The SBOM (CycloneDX, JSON) lists kadmin with its extras spark, java and report, at the versions of
requirements.lock. Same tree, same bytes: the wheel is built again from the source distribution, and
must be equal.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from locked import DISTRIBUTION, ROOT, direct, needed
from packaging.utils import canonicalize_name
from provenance import sha256, write_provenance

from kadmin import __version__

EXTRAS = ("java", "report", "spark")


def build(tree: Path, out: Path) -> list[Path]:
    """Build wheel and source distribution of a tree; returns the files in `out`, by name."""
    out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    subprocess.run(command, cwd=tree, check=True, stdout=subprocess.DEVNULL)
    return sorted(out.iterdir())


def rebuilt_wheel(source: Path, scratch: Path) -> Path:
    """Build the wheel from a source distribution."""
    with tarfile.open(source) as archive:
        archive.extractall(scratch, filter="data")
    (tree,) = scratch.iterdir()
    return next(path for path in build(tree, scratch / "dist") if path.suffix == ".whl")


def difference_from(tag: str, version: str, tree: Path) -> str | None:
    """Say why a tree is not the one to release as a tag; None where it is."""
    if tag != f"v{version}":
        return f"this tree is version {version}, not {tag}"
    git = ["git", "-C", str(tree)]
    seen = subprocess.run([*git, "diff", "--quiet", tag, "--"], check=False)
    others = ["ls-files", "--others", "--exclude-standard"]
    new = subprocess.run([*git, *others], capture_output=True, check=True).stdout
    if seen.returncode or new:
        return f"this tree is not that of {tag}; in a clean clone: git switch --detach {tag}"
    return None


def bill_of_materials(
    tools: Path, version: str, out: Path, extras: tuple[str, ...] = EXTRAS
) -> None:
    """Write the SBOM of kadmin with extras in this environment, without the repository's tools."""
    command = [
        str(tools / "cyclonedx-py"),
        "environment",
        sys.executable,
        "--pyproject",
        str(ROOT / "pyproject.toml"),
    ]
    command += ["--output-reproducible", "--mc-type", "application", "--no-validate"]
    bill = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    kept, own = needed(extras), {name for name, _ in direct(extras)}
    bill["components"] = [
        each for each in bill["components"] if canonicalize_name(each["name"]) in kept
    ]
    names = {each["bom-ref"]: canonicalize_name(each["name"]) for each in bill["components"]}
    application = bill["metadata"]["component"]
    application["version"] = version  # pyproject.toml has it in kadmin/__init__.py
    graph = {
        each["ref"]: [ref for ref in each.get("dependsOn", []) if ref in names]
        for each in bill["dependencies"]
    }
    graph = {ref: graph[ref] for ref in names}
    graph[application["bom-ref"]] = sorted(ref for ref, name in names.items() if name in own)
    bill["dependencies"] = [{"ref": ref, "dependsOn": graph[ref]} for ref in sorted(graph)]
    out.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def main(tools: Path, tag: str | None = None) -> None:
    """Build, check, and print the checksums."""
    dist = ROOT / "dist"
    if tag is not None and (different := difference_from(tag, __version__, ROOT)) is not None:
        sys.exit(different)
    shutil.rmtree(dist, ignore_errors=True)
    wheel, source = build(ROOT, dist)
    subprocess.run([str(tools / "twine"), "check", "--strict", str(wheel), str(source)], check=True)
    with tempfile.TemporaryDirectory() as scratch:
        again = rebuilt_wheel(source, Path(scratch))
        if again.read_bytes() != wheel.read_bytes():
            sys.exit(
                "the wheel that is built from the source distribution differs from the wheel of "
                "this tree"
            )
    bill_of_materials(tools, __version__, dist / f"{DISTRIBUTION}-{__version__}.cdx.json")
    write_provenance(
        dist / f"{DISTRIBUTION}-{__version__}.intoto.json",
        "make release",
        {path.name: sha256(path) for path in sorted(dist.iterdir())},
    )
    sums = [f"{sha256(path)}  {path.name}\n" for path in sorted(dist.iterdir())]
    (dist / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    sys.stdout.write("".join(sums))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
