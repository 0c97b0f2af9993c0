"""The recording of the README: an apply that is killed, resumed by its cluster's address alone, and
undone.

KADMIN_WRITE_GOLDEN=1 records it anew; `tests/docs/test_recording.py` compares the picture.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.pages.recording import (
    CAST,
    PICTURE,
    Typed,
    cast_text,
    picture,
    record,
    shown,
)
from support.pages.typed import ROOT, workplace_in

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.matrix]

TITLE = "kadmin on Kafka 4.4: an apply that is killed, resumed and undone"
COMMANDS = (
    Typed("kadmin apply plan.yaml --throttle 250kB/s --yes", killed_at="MB/s"),
    Typed("kadmin status"),
    Typed("kadmin resume --yes"),
    Typed("kadmin verify plan.yaml"),
    Typed("kadmin rollback --throttle 5MB/s --yes"),
)


def outcomes(cast: str) -> dict[str, str]:
    """The last line of each command without ids and numbers; that of status depends on the
    moment.
    """
    text = "\n".join(row.text.rstrip() for row in shown(cast).rows)
    found = {}
    for answer in text.split("$ kadmin ")[1:]:
        lines = answer.strip().splitlines()
        found[lines[0]] = re.sub(r"\d{8}T\d{6}Z-\w+|\d\w*", "0", lines[-1])
    return {line: last for line, last in found.items() if line != "status"}


def test_the_recording_is_what_happens(kraft: Sandbox, tmp_path: Path) -> None:
    brokers = ",".join(kraft.bootstrap)
    assert command("sandbox", "seed", "--dir", kraft.spec.directory).status == 0
    snapshot = ("snapshot", "--out", tmp_path / "inventory", "-b", brokers)
    assert command(*snapshot).status == 0
    propose = ("propose", "rebalance", ROOT / "plans" / "rebalance.yaml", "--engine", "local")
    planned = ("--inventory", tmp_path / "inventory", "--out", tmp_path / "plan.yaml")
    assert command(*propose, *planned).status == 0
    with workplace_in(tmp_path) as workplace:
        environment = {
            **os.environ,
            "PATH": f"{workplace / '.venv' / 'bin'}:{os.environ['PATH']}",
            "KADMIN_BOOTSTRAP_SERVER": brokers,
        }
        cast = cast_text(TITLE, record(COMMANDS, workplace, environment))
    if os.environ.get("KADMIN_WRITE_GOLDEN"):
        CAST.write_text(cast, encoding="utf-8")
        PICTURE.write_text(picture(cast), encoding="utf-8")
    assert outcomes(cast) == outcomes(CAST.read_text(encoding="utf-8"))
