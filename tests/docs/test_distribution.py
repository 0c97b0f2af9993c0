"""The package is `kadmin-kafka`: `kadmin` on the package index is another project."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement

from kadmin import __version__

ROOT = Path(__file__).parents[2]
TEXTS = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "plans").glob("*"),
    *(ROOT / "kadmin").rglob("*.py"),
    ROOT / "pyproject.toml",
    ROOT / "setup.sh",
]
OF_ANOTHER_PROJECT = re.compile(r"""pip install ['"]?kadmin(?!-kafka)|\bkadmin\[""")


def test_nothing_installs_the_package_of_another_project() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{number}": line
        for path in TEXTS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if OF_ANOTHER_PROJECT.search(line)
    }
    assert found == {}


def test_the_wheel_has_the_name_the_version_and_the_command(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.iterdir()
    assert wheel.name == f"kadmin_kafka-{__version__}-py3-none-any.whl"
    with ZipFile(wheel) as archive:
        scripts = archive.read(f"kadmin_kafka-{__version__}.dist-info/entry_points.txt").decode()
        assert "kadmin/__main__.py" in archive.namelist()
    assert scripts == "[console_scripts]\nkadmin = kadmin.cli:main\n"


def test_packages_whose_private_parts_are_used_have_an_upper_bound_that_the_lock_is_below() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {each.name: each.specifier for each in map(Requirement, project["dependencies"])}
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for name in ("kafka-python", "kazoo", "typer"):
        assert any(each.operator == "<" for each in wanted[name]), name
        (locked,) = re.findall(rf"^{name}==(\S+)", lock, re.MULTILINE)
        assert locked in wanted[name]
