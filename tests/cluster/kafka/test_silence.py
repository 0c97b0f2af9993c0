"""The Kafka client writes nothing of its own between the lines of a command."""

from __future__ import annotations

import subprocess
import sys


def test_no_line_of_the_client_reaches_standard_error() -> None:
    """Logging that nobody has set up prints warnings on standard error, its last resort."""
    warn = (
        "import logging\n"
        "import kadmin.worlds.kafka.wire.connection\n"
        "for name in ('kafka', 'kafka.net.selector', 'kafka.producer'):\n"
        "    logging.getLogger(name).error('slow task')\n"
    )
    done = subprocess.run([sys.executable, "-c", warn], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
