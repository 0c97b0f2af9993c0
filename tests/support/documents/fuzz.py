"""Runs a coverage-guided fuzzer on the loader and the validators. Usage: make fuzz [SECONDS=1800].

A failing input is kept in the folder; add it to tests/support/documents/bad_documents.py. The
corpus is kept too: the next run continues from it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from support.documents.bad_documents import BAD

ROOT = Path(__file__).parents[3]
MOST_BYTES = 4096


def lay_out_seeds(folder: Path, sources: int) -> None:
    """Write what the fuzzer begins with: the example plans, and bad input of every row, each under
    every name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = [(path.name, path.read_bytes()) for path in (ROOT / "plans").glob("*.yaml")]
    found += [(name, data) for name, (_, data) in BAD.items() if len(data) < MOST_BYTES]
    for name, data in found:
        for first in range(sources):
            (folder / f"{name}-{first}").write_bytes(bytes([first]) + data)


def main() -> None:
    """Run the fuzzer, which ends the process with a status of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=1800)
    parser.add_argument("--folder", type=Path, default=Path(".fuzz"))
    options = parser.parse_args()
    try:
        import atheris
    except ImportError:
        sys.exit("the fuzzer atheris is to be had for Linux on x86-64 and Python 3.11 to 3.13")
    with atheris.instrument_imports(include=["kadmin"]):
        from support.documents.invariants import SOURCES, check_invariants, render

    def one_input(data: bytes) -> None:
        render(check_invariants(data[1:], SOURCES[(data[0] if data else 0) % len(SOURCES)]))

    corpus = options.folder / "corpus"
    lay_out_seeds(corpus, len(SOURCES))
    limits = [
        f"-max_total_time={options.seconds}",
        f"-max_len={MOST_BYTES}",
        "-timeout=20",
        "-print_final_stats=1",
    ]
    atheris.Setup(
        [sys.argv[0], *limits, f"-artifact_prefix={options.folder}/", str(corpus)], one_input
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
