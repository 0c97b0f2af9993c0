"""docs/bad-input.md: input that is wrong, what kadmin says to it, and the golden files that show it.

A golden file belongs to a row when its name begins with the row's number. Write the page anew with
`PYTHONPATH=tests python -m support.pages.bad_input`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[2]
PAGE = TESTS.parent / "docs" / "bad-input.md"
GOLDEN_FOLDERS = (TESTS / "documents" / "golden", TESTS / "bad_input" / "golden")

_HEAD = """# When the input is wrong

Nothing connects to anything before its input is sound. Every problem of every file is told at once, with its place, a
code ([codes.md](codes.md)) and a way out; the exit code is 3, or 4 where only the live cluster could know. Written by
`PYTHONPATH=tests python -m support.pages.bad_input`; the files named in the last column hold what is printed, word for
word.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of bad input in operators' words."""

    number: str
    wrong: str
    outcome: str


ROWS = (
    Row("B01", "a key twice in one mapping, at any depth, in YAML or JSON", "both places are shown"),
    Row(
        "B02",
        "anchors, aliases, merge keys, tags, directives; a document that contains itself or laughs a billion times",
        "each is named; nothing is followed, so a file costs no more than its own bytes",
    ),
    Row(
        "B03",
        "10 000 levels, more than 64 MiB, NUL and other control characters, UTF-16, what is not UTF-8",
        "told with line and column. A UTF-8 byte order mark and Windows line ends are accepted",
    ),
    Row(
        "B04",
        "names and numbers that readers of YAML understand differently: `no`, `1e3`, `0123`, `~`, `12:30:45`",
        "read as YAML 1.2: `no`, dates and times are text; else `quote it` or `write it plainly`",
    ),
    Row(
        "B05",
        "topic names that Kafka does not allow",
        "told; escape sequences are never printed as they are",
    ),
    Row("B06", "replicas that are no list of different broker ids", "each entry is told"),
    Row(
        "B07",
        "partition numbers that are none; one twice, in one file or in two",
        "each is told, with the other",
    ),
    Row("B08", "fields missing, unknown or of another kind; no document, or two", "told, with what is allowed"),
    Row("B09", "topics, partitions and brokers that the cluster does not have", "all of them, 3; on a live cluster 4"),
    Row(
        "B10",
        "a replication factor that changes without the waiver; a reassignment that changes nothing",
        "refused; skipped with a warning",
    ),
    Row("B11", "two topics that differ only in `.` and `_`", "a warning; an error where the second would be made"),
    Row("B12", "schemas of one's own that are none, or lead to elsewhere", "told with the file; nothing is fetched"),
    Row(
        "B13",
        "ZooKeeper addresses without a port, with two chroots or blanks, a bare IPv6",
        "told, with the form",
    ),
    Row(
        "B14",
        "deletions by pattern, of too many topics, of internal or protected ones",
        "each needs its own waiver, then the topics typed by hand or `--yes`",
    ),
    Row(
        "B15",
        "inventory rows: null, negative, mixed, NaN, duplicate",
        "each column with the number of rows",
    ),
)


def shown_by() -> dict[str, tuple[str, ...]]:
    """Return the golden files of each row."""
    found: dict[str, list[str]] = defaultdict(list)
    for folder in GOLDEN_FOLDERS:
        for path in sorted(folder.glob("b[0-9][0-9]-*.txt")):
            found[path.name[:3].upper()].append(path.stem)
    return {number: tuple(names) for number, names in found.items()}


def page() -> str:
    """Return the page."""
    named = shown_by()
    lines = [_HEAD, "| | what is wrong | what kadmin says | shown by |", "|---|---|---|---|"]
    for row in ROWS:
        shown = "<br>".join(f"`{name}`" for name in named[row.number])
        lines.append(f"| {row.number} | {row.wrong} | {row.outcome} | {shown} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
