"""Times suites, and writes the times into the table of CONTRIBUTING.md.

Run it with nothing else running: `make bench-suites SUITES="lint test"`; without SUITES, all that
.ci/run runs.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"


def suites_of_ci() -> list[str]:
    """Return the targets that .ci/run makes, in their order."""
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    lines = re.findall(r"^make (.*)$", text, re.MULTILINE)
    words = (word for line in lines for word in line.split())
    return [word for word in words if not word.startswith("-") and "=" not in word]


def with_time(page: str, target: str, seconds: float) -> str:
    """Return the page with the time of a suite in the last column of its row.

    Raises ValueError if there is no row.
    """
    minutes, rest = divmod(round(seconds), 60)
    found, rows = re.subn(
        rf"^(\| `make {target}` \| .* \| )[^|]*( \|)$",
        rf"\g<1>{minutes}:{rest:02}\2",
        page,
        flags=re.MULTILINE,
    )
    if rows != 1:
        raise ValueError(f"{PAGE.name} has {rows} rows of make {target}")
    return found


def main(targets: list[str]) -> None:
    """Time each target and keep its time at once."""
    for target in targets or suites_of_ci():
        begun = time.monotonic()
        subprocess.run(["make", target], cwd=ROOT, check=True)
        PAGE.write_text(
            with_time(PAGE.read_text(encoding="utf-8"), target, time.monotonic() - begun),
            encoding="utf-8",
        )


if __name__ == "__main__":
    main(sys.argv[1:])
