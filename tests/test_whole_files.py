"""Files that kadmin replaces: whole or not at all, and never through a link that somebody else
made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kadmin.cli.inputs import replace_file
from kadmin.inventory.model import SINGLE_CLUSTER, ClusterInventory, Inventory
from kadmin.inventory.writing import write_inventory
from kadmin.whole_files import created, replaced, write_whole
from kadmin.worlds.kafka.values.value_files import ValueFiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _write_inventory(path: Path) -> None:
    write_inventory(
        Inventory("2026-03-01T12:00:00Z", {SINGLE_CLUSTER: ClusterInventory("id", (), ())}),
        path.parent,
        "csv",
    )


WRITERS: dict[str, Callable[[Path], object]] = {
    "plan.yaml": lambda path: replace_file(path, "new"),
    "load.json": lambda path: write_whole(path, "new"),
    "partitions.csv": _write_inventory,
    "fence": lambda path: ValueFiles(path.parent).put([(path.name, b"new")]),
}


@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_written_through_a_link_that_lies_beside_a_file(
    name: str, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "shared"
    folder.mkdir()
    links = [folder / f".{name}.partial", folder / f"{name}.tmp"]
    for link in links:
        link.symlink_to(victim)
    WRITERS[name](folder / name)
    assert victim.read_text() == "precious"
    assert (folder / name).is_file()
    assert not (folder / name).is_symlink()
    assert all(link.is_symlink() for link in links)


def test_after_an_error_the_old_file_is_there_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("old")
    with pytest.raises(TypeError), replaced(path) as file:
        file.writelines(["half of the n"])  # type: ignore[list-item]
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"plan.yaml": "old"}


def test_no_two_writers_share_a_file_and_its_permissions_are_those_of_any_new_file(
    tmp_path: Path,
) -> None:
    path, plain = tmp_path / "plan.yaml", tmp_path / "plain"
    plain.touch()
    with replaced(path) as one, replaced(path) as other:
        assert one.name != other.name
        other.write(b"other")
        one.write(b"one")
    assert path.read_bytes() == b"one"
    assert path.stat().st_mode == plain.stat().st_mode


def test_a_file_that_is_created_replaces_none(tmp_path: Path) -> None:
    path = tmp_path / "sample"
    with created(path) as file:
        with pytest.raises(FileExistsError), created(path):
            pass
        file.write(b"first")
    with pytest.raises(FileExistsError), created(path):
        pass
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"sample": "first"}
