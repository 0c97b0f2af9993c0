"""Clean environments as a user makes them, and the tools of a release."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
TOOLS = ROOT / ".release" / "bin"
_MINORS = range(11, 30)
_OURS = ("KADMIN_", "PYTHON", "PYTEST_", "COV_", "VIRTUAL_ENV", "GITHUB_")


@cache
def interpreters() -> dict[str, Path]:
    """Every Python of this machine that kadmin supports, by its version: on the PATH, or installed
    by pyenv.
    """
    found: dict[str, Path] = {}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in _MINORS:
        version = f"3.{minor}"
        on_path = shutil.which(f"python{version}")
        candidates = [Path(on_path)] if on_path else []
        candidates += sorted(pyenv.glob(f"{version}.*/bin/python{version}"))
        working = next((each for each in candidates if _runs(each, version)), None)
        if working is not None:
            found[version] = working
    return found


def _runs(python: Path, version: str) -> bool:
    """Tell whether this is that Python: pyenv's shims are there for versions that do not run,
    too.
    """
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run(
        [str(python), "-c", question], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() == version


def clean(**more: str) -> dict[str, str]:
    """Return the variables of a shell that knows nothing of this clone and its tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)} | more


def run(
    command: list[str | Path], folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder and a clean shell, whatever its exit code."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=clean(**environment),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def succeed(command: list[str | Path], folder: Path, **environment: str) -> str:
    """Run a command as `run` does and return its output; any exit code but 0 fails the test."""
    done = run(command, folder, **environment)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def installed(python: Path, what: list[str | Path], folder: Path) -> Path:
    """Make a new environment of a Python, install these into it, and return its `bin`."""
    uv = TOOLS / "uv"
    succeed([uv, "venv", "--quiet", "--python", python, folder], folder.parent)
    bin_folder = folder / "bin"
    succeed(
        [uv, "pip", "install", "--quiet", "--python", bin_folder / "python", *what], folder.parent
    )
    return bin_folder
