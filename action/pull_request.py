"""The steps of action.yml: validates plans, and shows on the pull request what they would change.

Usage: python pull_request.py validate|changes|comment, in an environment with kadmin. Inputs and
what GitHub gives a step are in variables (action.yml). Text of plans and names of files reach the
log only where no line of them is obeyed.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kadmin.cli.files import find_files, path_of
from kadmin.documents.check import KINDS, read
from kadmin.documents.kinds import kind_name
from kadmin.documents.text import MOST_BYTES
from kadmin.errors import UsageError
from kadmin.inventory.validation import is_applied
from kadmin.plan.model import DeletionPlan, ElectionPlan, ReassignmentPlan
from kadmin.report.markdown import code
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_OF_A_COMMENT = 65_000
"""Bytes: GitHub refuses a comment of more than 65,536 characters."""
MOST_OF_A_SUMMARY = 1_000_000
"""Bytes: GitHub refuses a step's summary of more than one MiB."""
_KADMIN = Path(sys.executable).with_name("kadmin")
"""Not `python -m kadmin`: that would import modules of the pull request, which is the current
folder."""
_WITHOUT_DIFF = set(KINDS) - {
    kind_name(kind) for kind in (ReassignmentPlan, ElectionPlan, DeletionPlan)
}
_TITLE = "## What the plans would change"


@dataclass(frozen=True, slots=True)
class Change:
    """What one plan would change, in Markdown, or the lines with which `kadmin diff` failed."""

    plan: str
    markdown: str
    exit_code: int = 0

    def section(self) -> str:
        """Return the part of the comment that is about this plan."""
        if self.exit_code == 0:
            return self.markdown.strip()
        lines = "\n".join(f"- {code(line)}" for line in self.markdown.splitlines())
        return (
            f"{self._heading()}\n\n`kadmin diff` **failed** with exit code {self.exit_code}:\n\n"
            f"{lines}"
        )

    def pointer(self) -> str:
        """Return the section of a plan whose change is too long."""
        return f"{self._heading()}\n\nThis is too long to be shown here."

    def _heading(self) -> str:
        return f"### kadmin: {code(self.plan)}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where everything is that does not fit.

    An artifact of this run, named after the inputs, and its page. The name also marks the comment:
    it is found by that the next time.
    """

    artifact: str
    page: str

    @classmethod
    def of_inputs(cls, *inputs: str, page: str) -> Place:
        """Return the place for these inputs; two uses of the action on a pull request have two."""
        digest = hashlib.sha256(
            "\n".join(" ".join(each.split()) for each in inputs).encode()
        ).hexdigest()
        return cls(f"kadmin-changes-{digest[:12]}", page)

    @property
    def marker(self) -> str:
        """The first line of the comment, which is not shown."""
        return f"<!-- {self.artifact} -->"


def report(changes: Sequence[Change], place: Place, most: int) -> tuple[str, bool]:
    """Return the changes in at most so many bytes, and whether the artifact alone has some.

    No section is cut in the middle, where a table or a code span would go on to the end of the
    page.
    """
    head = f"{place.marker}\n{_TITLE}\n"
    if not changes:
        return f"{head}\nNone of these documents is a plan that changes a cluster.\n", False
    tail = f"\nThe rest of {{}} is in the artifact [{place.artifact}]({place.page}).\n"
    left = most - _size(head) - _size(tail.format(count(len(changes), "plan")))
    blocks, cut = [head], 0
    for change in changes:
        section, pointer = (f"\n{text}\n" for text in (change.section(), change.pointer()))
        fitting = next((text for text in (section, pointer) if _size(text) <= left), "")
        left -= _size(fitting)
        cut += fitting != section
        blocks.append(fitting)
    if cut:
        blocks.append(tail.format(count(cut, "plan")))
    return "".join(blocks), bool(cut)


def _size(text: str) -> int:
    return len(text.encode())


def validate() -> int:
    """Annotate what is wrong.

    The exit code of `kadmin validate` is an output, that of this step is 0.
    """
    names = _names()
    if not names:
        print(
            "::error title=kadmin::The input plans names no file, glob or folder: nothing was read."
        )
        _output("exit-code", UsageError.exit_code)
        return 0
    done = _kadmin("validate", "--format", "github", *_options("INVENTORY", "POLICY"), "--", *names)
    print(done.stdout, end="")
    _print_unobeyed(done.stderr)
    _output("exit-code", done.returncode)
    return 0


def show_changes() -> int:
    """Write what each plan would change.

    The comment, the summary, and all of it for the artifact.
    """
    found = [_change(name) for name in _plans()]
    variables = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    server, repository, run = (os.environ[name] for name in variables)
    page = f"{server}/{repository}/actions/runs/{run}#artifacts"
    place = Place.of_inputs(os.environ["PLANS"], os.environ["INVENTORY"], page=page)
    comment, comment_cut = report(found, place, MOST_OF_A_COMMENT)
    summary, summary_cut = report(found, place, MOST_OF_A_SUMMARY)
    folder = Path(os.environ["RUNNER_TEMP"])
    everything, body = folder / f"{place.artifact}.md", folder / "kadmin-comment.md"
    everything.write_text(
        "\n\n".join([_TITLE, *(each.section() for each in found)]) + "\n", encoding="utf-8"
    )
    body.write_text(comment, encoding="utf-8")
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
        file.write(summary)
    _output("comment-file", body)
    _output("exit-code", next((each.exit_code for each in found if each.exit_code), 0))
    if comment_cut or summary_cut:
        _output("artifact", place.artifact)
        _output("artifact-file", everything)
    return 0


def write_comment() -> int:
    """Write the comment, or write it anew where this account wrote one with the same marker."""
    body = Path(os.environ["COMMENT"])
    with body.open(encoding="utf-8") as file:
        marker = file.readline().strip()
    number, repository = os.environ["NUMBER"], os.environ["GH_REPO"]
    written = json.loads(_gh("pr", "view", number, "--json", "comments"))["comments"]
    # Anybody may write the marker in a comment of their own.
    own = [
        each["url"]
        for each in written
        if each["viewerDidAuthor"] and each["body"].startswith(marker)
    ]
    if own:
        path = f"repos/{repository}/issues/comments/{own[0].rpartition('issuecomment-')[2]}"
        _gh("api", "--method", "PATCH", path, "--field", f"body=@{body}")
    else:
        _gh("pr", "comment", number, "--body-file", str(body))
    return 0


def _names() -> list[str]:
    """Return what the input `plans` names: words, on one line or on several."""
    return os.environ["PLANS"].split()


def _options(*inputs: str) -> list[str]:
    given = {name.lower(): os.environ[name] for name in inputs}
    return [word for name, value in given.items() if value for word in (f"--{name}", value)]


def _plans() -> Iterator[str]:
    """Yield the documents that `kadmin diff` is for.

    What cannot be read is one of them, and fails there.
    """
    for name, refusal in find_files(_names()):
        if not is_applied(name) and (refusal is not None or _kind(name) not in _WITHOUT_DIFF):
            yield name


def _kind(name: str) -> object:
    try:
        with path_of(name).open("rb") as file:
            value = read(file.read(MOST_BYTES + 1), name).value
    except OSError:
        return None
    return value.get("kind") if isinstance(value, dict) else None


def _change(name: str) -> Change:
    done = _kadmin("diff", "--output", "markdown", *_options("INVENTORY", "POLICY"), "--", name)
    return Change(name, done.stderr if done.returncode else done.stdout, done.returncode)


def _kadmin(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_KADMIN, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def _gh(*arguments: str) -> str:
    done = subprocess.run(["gh", *arguments], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def _output(name: str, value: object) -> None:
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(f"{name}={value}\n")


def _print_unobeyed(text: str) -> None:
    """Print text in which GitHub obeys no line.

    A name may hold `##[`, which is obeyed anywhere in a line.
    """
    if text:
        token = secrets.token_hex(16)
        print(f"::stop-commands::{token}\n{text.rstrip()}\n::{token}::")


if __name__ == "__main__":
    sys.exit(
        {"validate": validate, "changes": show_changes, "comment": write_comment}[sys.argv[1]]()
    )
