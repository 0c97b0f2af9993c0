"""Runs every command of docs/planner.md on the inventory that the page shows."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

from kadmin.documents import parse_document
from kadmin.plan.model import ReassignmentPlan

PAGE = (Path(__file__).parents[2] / "docs" / "planner.md").read_text(encoding="utf-8")
FILES = dict(
    re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)```", PAGE, flags=re.MULTILINE | re.DOTALL)
)
COMMANDS = re.findall(r"^\$ kadmin (.*)\n(?:# exit code (\d+)\n)?", PAGE, flags=re.MULTILINE)
RUN_ALL = """
import json, sys
from kadmin.cli import main
codes = []
for command in json.loads(sys.argv[1]):
    sys.argv = ["kadmin", *command]
    try:
        main()
    except SystemExit as ended:
        codes.append(ended.code or 0)
print(json.dumps(codes))
"""


def test_every_request_of_the_page_has_its_command() -> None:
    requests = {name for name in FILES if name.endswith(".yaml")}
    assert requests == {shlex.split(command)[2] for command, _ in COMMANDS}
    fields = (
        "drain substitute no_receive never_lead weights topics replication_factor broker_sets "
        "pins racks limits disks no_receive disk_moves disk_bytes failed only"
    )
    assert all(
        f"{field}:" in PAGE
        for field in (*fields.split(), "leaders_only", "free", "max_order_changes")
    )


def test_the_command_of_each_request_does_what_it_says(tmp_path: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    commands = [
        [*shlex.split(command), "--figures", f"figures-{at}.json"]
        for at, (command, _) in enumerate(COMMANDS)
    ]
    run = [sys.executable, "-c", RUN_ALL, json.dumps(commands)]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [int(code or 0) for _, code in COMMANDS], (
        done.stderr
    )
    assert "RF 4 over 3 racks: topics orders" in done.stderr
    for at, command in enumerate(commands):
        out = tmp_path / command[6]
        if out.exists():
            plan = parse_document(out.read_bytes(), str(out))
            assert isinstance(plan, ReassignmentPlan)
            assert plan.reassignments, "every request of the page has an effect"
            (told,) = json.loads((tmp_path / f"figures-{at}.json").read_text())["clusters"]
            assert told["after"]["rack_violations"] == 0
            assert (
                told["moves_bound"] is None
                if told["left_out"]
                else told["moves"] >= told["moves_bound"]
            )
    assert sum((tmp_path / command[6]).exists() for command in commands) == len(commands) - 1
