"""The end of a suite: live tests that failed are run once more, and what took the time is listed.

With `--once-more`, each live test that failed is run again, alone, when the others have ended. If
it passes, it is listed as unsteady with its first failure. A run fails by a test that fails twice,
by a failure of a test that needs no server, by more than five unsteady tests that have no mark
`unsteady` with a reason, and by what is no test's: coverage under its floor.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
from support.suites.selection import OWN_SUITES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _pytest.terminal import TerminalReporter

MOST_UNSTEADY = 5
SLOWEST = 10
ONCE_MORE_S = 900
WITH_SERVERS = {"live", "zookeeper", *OWN_SUITES} - {"release"}
"""Marks of tests that run servers, or talk to some."""
_GROUP = re.compile(r"@[^@\[\]]+$")


class Closing:
    """Reads the reports of a session, and closes it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the seconds of a test, those of the fixtures that it starts and stops included."""
        self._seconds[node_id(report)] += report.duration

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Run what failed once more; workers and their servers have ended by now."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if (
            reporter is None
            or exitstatus != pytest.ExitCode.TESTS_FAILED
            or not self._config.getoption("once_more")
        ):
            return
        failed = [report for kind in ("failed", "error") for report in reporter.stats.get(kind, ())]
        again = [report for report in failed if may_run_again(report)]
        # More would fail the run, whatever comes of them.
        if (
            len({node_id(report) for report in again if "unsteady" not in report.keywords})
            > MOST_UNSTEADY
        ):
            return
        passed = {node for node in sorted({*map(node_id, again)}) if self._passes_alone(node)}
        unsteady = [report for report in failed if node_id(report) in passed]
        for kind in ("failed", "error"):
            reporter.stats[kind] = [
                report for report in reporter.stats.get(kind, ()) if report not in unsteady
            ]
        reporter.stats["unsteady"] = unsteady
        # A floor of coverage that is not reached is a failure as well, and no test's.
        if len(unsteady) == session.testsfailed:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Print the unsteady tests, the slowest ones, and the seconds by folder."""
        for report in terminalreporter.stats.get("unsteady", ()):
            terminalreporter.section(f"unsteady: {node_id(report)}", yellow=True)
            terminalreporter.write_line(report.longreprtext)
        terminalreporter.section(f"{SLOWEST} slowest, seconds with their fixtures")
        for node, seconds in longest_first(self._seconds)[:SLOWEST]:
            terminalreporter.write_line(f"{seconds:7.1f}  {node}")
        terminalreporter.section("seconds by folder")
        for folder, seconds in longest_first(by_folder(self._seconds)):
            terminalreporter.write_line(f"{seconds:7.0f}  {folder}")

    def _passes_alone(self, node: str) -> bool:
        suite = self._config.getoption("suite")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "--suite",
            suite,
            "-p",
            "no:cacheprovider",
            "-q",
            "--no-cov",
            node,
        ]
        done = subprocess.run(command, cwd=self._config.rootpath, timeout=ONCE_MORE_S, check=False)
        return done.returncode == 0


def node_id(report: pytest.TestReport) -> str:
    """Return a test's id without the group by which workers share tests out."""
    return _GROUP.sub("", report.nodeid)


def may_run_again(report: pytest.TestReport) -> bool:
    """Whether a test uses servers: any other one gives the same result each time."""
    return not WITH_SERVERS.isdisjoint(report.keywords)


def by_folder(seconds: Mapping[str, float]) -> Mapping[str, float]:
    """Add up seconds by folder of tests."""
    found: defaultdict[str, float] = defaultdict(float)
    for node, each in seconds.items():
        found["/".join(node.partition("::")[0].split("/")[:2])] += each
    return found


def longest_first(seconds: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return names and seconds, most seconds first."""
    return sorted(seconds.items(), key=lambda each: -each[1])
