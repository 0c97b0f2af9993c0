from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from kadmin.errors import InvalidInputError, NotCompletedError
from kadmin.java import cache_folder, find_java
from kadmin.sandbox.jars import class_path, read_lock, require_version

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.java import JavaRuntime


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> JavaRuntime:
    return find_java(os.environ, tmp_path_factory.mktemp("java"))


@pytest.fixture
def cache(java: JavaRuntime, tmp_path: Path) -> Path:
    """A copy of the machine's jars of one version, to be damaged."""
    own = cache_folder(os.environ)
    own.mkdir(parents=True, exist_ok=True)
    class_path("2.8.2", java, own)
    for jar in require_version("2.8.2"):
        (tmp_path / "jars").mkdir(exist_ok=True)
        shutil.copy(own / "jars" / jar.name, tmp_path / "jars" / jar.name)
    return tmp_path


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Ivy with a settings file that knows only an empty folder, from when the cache is filled."""
    settings = cache / "ivysettings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="none"/><resolvers><filesystem name="none">'
        "<artifact "
        f'pattern="{cache}/nowhere/[artifact]-[revision].[ext]"/></filesystem></resolvers></ivysettings>'
    )
    monkeypatch.setenv("KADMIN_IVY_SETTINGS", str(settings))


def test_every_row_of_the_lock_names_a_jar_whole() -> None:
    for version, jars in read_lock().items():
        assert any(
            jar.name.startswith("kafka_2.") and jar.name.endswith(f"-{version}.jar") for jar in jars
        )
        assert len({jar.name for jar in jars}) == len(jars)
        for jar in jars:
            organisation, artifact, revision, classifier = jar.coordinates
            suffix = f"-{classifier}" if classifier else ""
            folder = f"{organisation.replace('.', '/')}/{artifact}/{revision}"
            path = f"{folder}/{artifact}-{revision}{suffix}.jar"
            assert path == jar.repository_path
            assert len(jar.sha256) == 64
            assert jar.size_bytes > 0


@pytest.mark.usefixtures("offline")
def test_a_warm_cache_needs_no_network(cache: Path, java: JavaRuntime) -> None:
    paths = class_path("2.8.2", java, cache).split(os.pathsep)
    assert len(paths) == len(require_version("2.8.2"))


@pytest.mark.usefixtures("offline")
def test_a_damaged_jar_is_refused_by_name_with_both_ways_out(
    cache: Path, java: JavaRuntime
) -> None:
    jar = cache / "jars" / require_version("2.8.2")[3].name
    data = bytearray(jar.read_bytes())
    data[100] ^= 0xFF
    jar.write_bytes(data)
    with pytest.raises(NotCompletedError, match=jar.name) as refused:
        class_path("2.8.2", java, cache)
    assert "KADMIN_IVY_SETTINGS" in (refused.value.next_command or "")
    assert "copy" in (refused.value.next_command or "")


def test_a_damaged_jar_is_fetched_again(cache: Path, java: JavaRuntime) -> None:
    damaged, missing = require_version("2.8.2")[0], require_version("2.8.2")[1]
    (cache / "jars" / damaged.name).write_bytes(b"x")
    (cache / "jars" / missing.name).unlink()
    class_path("2.8.2", java, cache)
    assert (cache / "jars" / damaged.name).stat().st_size == damaged.size_bytes
    assert (cache / "jars" / missing.name).stat().st_size == missing.size_bytes
    assert not list(cache.glob("fetch-*"))


def test_an_unknown_version_names_those_there_are() -> None:
    with pytest.raises(InvalidInputError, match=r"9\.9\.9") as refused:
        require_version("9.9.9")
    assert "2.8.2" in (refused.value.next_command or "")


def test_the_cache_lies_where_the_environment_says() -> None:
    assert str(cache_folder({"KADMIN_CACHE": "/c"})) == "/c"
    assert str(cache_folder({"XDG_CACHE_HOME": "/x"})) == "/x/kadmin"
    assert cache_folder({}).parts[-2:] == (".cache", "kadmin")
