"""Says of what was built from which commit: in-toto statements with SLSA provenance, as JSON.

Sources: in-toto Attestation Framework, Statement v1; SLSA v1.0, Provenance. The statements are not
signed: whoever publishes them signs them with a key of their own.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from typing import TYPE_CHECKING

from locked import ROOT

from kadmin import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

UNNAMED_BUILDER = "urn:kadmin:builder:unnamed"


def sha256(path: Path) -> str:
    """Return the digest of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def revision(tree: Path = ROOT) -> str:
    """Return the commit of a tree, with `-dirty` where files differ from it."""
    described = ["describe", "--always", "--abbrev=40", "--dirty", "--match", ""]
    command = ["git", "-C", str(tree), *described]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


def write_provenance(out: Path, command: str, subjects: Mapping[str, str]) -> None:
    """Write the statement of what a command built here.

    `subjects` are SHA-256 digests by name. The environment names the builder, as a URI: BUILDER.
    """
    commit = revision()
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": of}} for name, of in subjects.items()],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"urn:kadmin:{command.replace(' ', ':')}",
                "externalParameters": {"command": command, "version": __version__},
                "internalParameters": {"revision": commit},
                "resolvedDependencies": [
                    {"name": "source", "digest": {"gitCommit": commit.removesuffix("-dirty")}},
                    {
                        "name": "requirements.lock",
                        "digest": {"sha256": sha256(ROOT / "requirements.lock")},
                    },
                ],
            },
            "runDetails": {"builder": {"id": os.environ.get("BUILDER") or UNNAMED_BUILDER}},
        },
    }
    out.write_text(json.dumps(statement, indent=2) + "\n", encoding="utf-8")
