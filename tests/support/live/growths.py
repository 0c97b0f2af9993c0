"""Growths through the command line, on the brokers of either mode: whole, and killed at a write."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from support.cli.in_process import command
from support.documents.plans import document
from support.kafka.broker_proxy import BrokerProxy
from support.kafka.processes import KadminProcess
from support.kafka.writes import points_of
from support.live.waiting import wait_until
from support.live.write_points import MultiPoint
from support.network.frame_proxy import Action, Side
from support.zookeeper.fault_proxy import MULTI, FaultProxy

from kadmin.cluster.connect_string import parse_connect_string
from kadmin.sandbox.seed import create_topics

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from support.cli.in_process import Answer
    from support.live.write_points import Point

    from kadmin.cluster.model import Replicas
    from kadmin.sandbox import Sandbox

BEFORE: Mapping[int, Replicas] = {0: (1, 2), 1: (2, 3)}
AFTER = {0: [1, 2], 1: [2, 3], 2: [3, 4], 3: [4, 1]}
NEW = [AFTER[2], AFTER[3]]
_NUMBERS = itertools.count()


class Growths:
    """Topics of two partitions that get two more, each test with topics of its own."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self._sandbox = sandbox
        self._folder = folder
        self._kraft = sandbox.spec.kraft

    @property
    def _environment(self) -> dict[str, str]:
        if self._kraft:
            return {"KADMIN_BOOTSTRAP_SERVER": ",".join(self._sandbox.bootstrap)}
        return {"KADMIN_ZOOKEEPER": self._sandbox.connect_string}

    def kadmin(self, *arguments: str | Path) -> Answer:
        """Run kadmin on the cluster, in this process."""
        return command(*arguments, environment=self._environment)

    def topics(self, number: int = 1) -> list[str]:
        """Make topics, and wait until they are in sync."""
        names = [f"growing-{next(_NUMBERS)}" for _ in range(number)]
        create_topics(self._sandbox, dict.fromkeys(names, BEFORE))
        return names

    def plan(self, *topics: str, **spec: Any) -> Path:  # noqa: ANN401 - fields of a document
        """Write a plan that gives each topic the partitions NEW."""
        grown = [{"topic": each, "current": 2, "new_partitions": NEW} for each in topics]
        value = {"kind": "PartitionGrowth", "spec": {"topics": grown, **spec}}
        return document(self._folder / f"{topics[0]}.yaml", value)

    def lists(self, topic: str) -> dict[int, list[int]]:
        """Return the replicas of a topic's partitions; each has to be led by one of them."""
        found = json.loads(self.kadmin("inspect", "partitions", "-o", "json").out)
        rows = [each for each in found["partitions"] if each["topic"] == topic]
        assert all(each["leader"] in each["replicas"] for each in rows), rows
        return {each["partition"]: each["replicas"] for each in rows}

    def operations(self) -> list[dict[str, Any]]:
        """Return the operations on record, oldest first."""
        found: list[dict[str, Any]] = json.loads(self.kadmin("history", "-o", "json").out)[
            "operations"
        ]
        return found

    def points(self) -> list[Point]:
        """Return every write of an undisturbed run, before and after it is forwarded."""
        with self._proxy() as proxy:
            ended = self._begin(proxy, self.plan(*self.topics(2))).answer()
            assert ended.status == 0, ended.err
            if self._kraft:
                return [*points_of(proxy.frames)]
            writes = [each for each in proxy.frames if each.side is Side.REQUEST]
            number = sum(each.op == MULTI for each in writes)
        return [MultiPoint(each, late) for each in range(1, number + 1) for late in (False, True)]

    def kill(self, plan: Path, point: Point) -> None:
        """Apply a plan in a process that is killed at a write, and wait until its lock expired."""
        with self._proxy() as proxy:
            runner = self._begin(proxy, plan)
            proxy.faults.append(point.fault(Action.CUT_BEFORE, runner.kill))
            wait_until(lambda: runner.ended)
            runner.end()
        wait_until(lambda: self.kadmin("lock", "show").out.strip() == "the lock is free")

    def resumed(self, point: Point) -> list[str]:
        """Kill a growth of two topics at a write, go on with it, and say what is wrong."""
        topics = self.topics(2)
        plan = self.plan(*topics)
        self.kill(plan, point)
        after = self.kadmin("resume", "--yes")
        again = self.kadmin("apply", plan, "--yes")
        found = [f"applied again: {again.err}"] if again.status else []
        found += [f"{each} has {self.lists(each)}" for each in topics if self.lists(each) != AFTER]
        if self.kadmin("verify", plan).status:
            found.append("verify says that it is not done")
        return [f"killed {point}: {each}; {after.err}" for each in (*found, *self._open())]

    def cancelled(self, point: Point) -> list[str]:
        """Kill a growth at a write, cancel it, and say what is wrong."""
        topics = self.topics(2)
        self.kill(self.plan(*topics), point)
        after = self.kadmin("cancel", "--yes")
        lists = [self.lists(each) for each in topics]
        before = {number: list(replicas) for number, replicas in BEFORE.items()}
        found = [f"{each}" for each in lists if each not in (AFTER, before)]
        if lists[1] == AFTER != lists[0]:
            found.append("the second topic grew before the first")
        return [f"killed {point}: {each}; {after.err}" for each in (*found, *self._open())]

    def _open(self) -> list[str]:
        operations = json.loads(self.kadmin("status", "-o", "json").out)["operations"]
        return [f"unfinished: {operations}"] if operations else []

    def _begin(self, proxy: BrokerProxy | FaultProxy, plan: Path) -> KadminProcess:
        line = ("apply", str(plan), "--yes")
        if isinstance(proxy, BrokerProxy):
            return KadminProcess(proxy.bootstrap, *line)
        chroot = parse_connect_string(self._sandbox.connect_string).chroot
        return KadminProcess((), *line, "-z", f"{proxy.connect_string}{chroot}")

    def _proxy(self) -> BrokerProxy | FaultProxy:
        if self._kraft:
            return BrokerProxy(self._sandbox)
        return FaultProxy(parse_connect_string(self._sandbox.connect_string).servers[0])
