"""Runs inside the build of an image: installs kadmin into /opt/kadmin, and adds the user kadmin.

What kadmin needs is taken from the folder's wheels if it has them, else from the package index;
both are pinned by the folder's runtime.lock.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CONTEXT, HOME = Path("/context"), Path("/home/kadmin")
USER = f"kadmin:x:65532:65532:kadmin:{HOME}:/none\n"


def main() -> None:
    """Install, with a pip of its own that stays behind in this stage."""
    for options in (["/pip"], ["--without-pip", "/opt/kadmin"]):
        subprocess.run([sys.executable, "-m", "venv", *options], check=True)
    pip = [
        "/pip/bin/python",
        "-m",
        "pip",
        "--python",
        "/opt/kadmin/bin/python",
        "install",
        "--no-deps",
        "--no-cache-dir",
    ]
    (wheel,) = CONTEXT.glob("kadmin_kafka-*.whl")
    wheels = sorted(str(path) for path in (CONTEXT / "wheels").glob("*.whl"))
    source = (
        ["--no-index", *wheels]
        if wheels
        else ["--require-hashes", "--requirement", str(CONTEXT / "runtime.lock")]
    )
    for what in (source, ["--no-index", str(wheel)]):
        subprocess.run([*pip, *what], check=True)
    with Path("/etc/passwd").open("a", encoding="utf-8") as passwd:
        passwd.write(USER)
    # Whatever user a container runs as may write there: Spark and the sandbox keep files in it.
    HOME.mkdir(parents=True)
    HOME.chmod(0o1777)


if __name__ == "__main__":
    main()
