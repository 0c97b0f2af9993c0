from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kadmin.errors import NotCompletedError
from kadmin.java import find_java

if TYPE_CHECKING:
    from pathlib import Path


def fake_java(folder: Path, version: str) -> Path:
    """A program that answers as `java -version` does, on stderr."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    return folder


def test_java_home_comes_first(tmp_path: Path) -> None:
    home, other = fake_java(tmp_path / "home", "21.0.1"), fake_java(tmp_path / "other", "17.0.9")
    environment = {"JAVA_HOME": str(home), "PATH": f"{other / 'bin'}:/bin:/usr/bin"}
    found = find_java(environment, tmp_path)
    assert (found.major, found.home) == (21, home)


def test_a_java_home_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    home, other = fake_java(tmp_path / "home", "1.8.0_402"), fake_java(tmp_path / "other", "17.0.9")
    found = find_java({"JAVA_HOME": str(home), "PATH": f"{other / 'bin'}:/bin"}, tmp_path)
    assert (found.major, found.home) == (17, other)


def test_the_extra_serves_where_the_machine_has_no_java(tmp_path: Path) -> None:
    """Through a shim that drops the one option its runtime lacks."""
    found = find_java({"PATH": ""}, tmp_path)
    assert found.major >= 17
    assert found.executable == tmp_path / "java-shim" / "bin" / "java"
    assert (found.home / "bin" / "java").is_file()


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotCompletedError, match=r"Cannot write .*java-shim/bin\.") as refused:
        find_java({"PATH": ""}, tmp_path / "file")
    assert refused.value.next_command == "set KADMIN_CACHE to another folder"


def test_too_old_everywhere_names_what_was_found_and_every_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    home = fake_java(tmp_path / "home", "11.0.2")
    with pytest.raises(NotCompletedError, match="JAVA_HOME: Java 11") as refused:
        find_java({"JAVA_HOME": str(home), "PATH": ""}, tmp_path)
    for remedy in ("install Java 17", "JAVA_HOME", "kadmin-kafka[java]"):
        assert remedy in (refused.value.next_command or "")
    with pytest.raises(NotCompletedError, match="No Java 17 or later was found"):
        find_java({"PATH": ""}, tmp_path)


def test_a_java_that_does_not_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    broken = tmp_path / "bin" / "java"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(NotCompletedError, match="does not run"):
        find_java({"JAVA_HOME": str(tmp_path), "PATH": ""}, tmp_path)
