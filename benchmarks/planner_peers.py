"""Runs two planners  from PyPI on kadmin's cluster: kafka-utils 4.1.0 and kafka-tools 0.1.9.

Goals: each as its users run it, as a process of its own, timed from the start of Python to its
plan.
Constraints: each in a virtual environment of its own in kadmin's cache folder, made at the first
run; a real ZooKeeper that holds the cluster's znodes, for both read it from there. kafka-tools asks
each broker for its sizes by ssh, which a script in its place answers, and looks for Kafka's
scripts, which it does not run without --execute. Its `balance -t count` was written for Python 2:
on 3 its divisions leave fractions, with which it moves more than it has to.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from kazoo.client import KazooClient
from support.zookeeper.znode_cluster import seed

from kadmin.java import cache_folder, find_java
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from kadmin.inventory import ClusterInventory

    Assignment = Mapping[str, Mapping[int, tuple[int, ...]]]

PATIENCE_S = 1_800
"""The time limit of a peer."""
_INSTALL_S = 600
_KIB = 1024
_UNLIMITED = "1000000"
_RACK_PARSER = """
from kafka_utils.kafka_cluster_manager.cluster_info.replication_group_parser import (
    ReplicationGroupParser,
)

class Racks(ReplicationGroupParser):
    def get_replication_group(self, broker):
        return None if broker.inactive else broker.metadata.get("rack")
"""


@dataclass(frozen=True, slots=True)
class PeerRun:
    """A peer's result: the assignment after its plan, or why there is none."""

    seconds: float
    after: Assignment | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Peer:
    """A release on PyPI and its planning command.

    `run(ground, znodes)` gives the assignment afterwards; `beside` is what the release needs and
    does not declare.
    """

    package: str
    version: str
    command: str
    run: Callable[[_Ground, str], Assignment]
    beside: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name and version."""
        return f"{self.package} {self.version}"


@dataclass(frozen=True, slots=True)
class _Ground:
    """Where a peer runs: its executables, its folder, and the cluster in its ZooKeeper."""

    bin: Path
    folder: Path
    cluster: ClusterInventory
    before: Assignment

    def call(self, *command: str, path: str = "") -> str:
        """Run a command of the peer and return what it prints."""
        home = str(find_java(os.environ, cache_folder(os.environ)).home)
        environment = {
            **os.environ,
            "JAVA_HOME": home,
            "PATH": f"{path}{os.environ['PATH']}",
            "PYTHONPATH": "",
        }
        done = subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE_S,
        )
        return done.stdout


class Peers:
    """The peers that could be installed, beside one ZooKeeper.

    `failures` says why others could not.
    """

    def __init__(self, folder: Path, connect: str) -> None:
        self._folder = folder
        self._connect = connect
        self._numbers = count()
        self._bins: dict[str, Path] = {}
        self.failures: dict[str, str] = {}
        for peer in PEERS:
            try:
                self._bins[peer.name] = _installed(peer)
            except (OSError, subprocess.SubprocessError) as error:
                self.failures[peer.name] = f"{peer.name} could not be installed: {_words_of(error)}"

    def run(
        self, peer: Peer, cluster: ClusterInventory, assignment: Assignment | None = None
    ) -> PeerRun:
        """Run a peer on a cluster, with another assignment if given.

        A failure is returned, not raised.
        """
        if peer.name in self.failures:
            return PeerRun(0, None, self.failures[peer.name])
        before = assignment or assignment_of(cluster)
        number = next(self._numbers)
        folder = self._folder / f"peer-{number}"
        folder.mkdir()
        ground = _Ground(self._bins[peer.name], folder, cluster, before)
        znodes = self._show(f"/peer-{number}", cluster, before)
        started = time.perf_counter()
        try:
            after = peer.run(ground, znodes)
        except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            return PeerRun(
                time.perf_counter() - started, None, f"{peer.name} made no plan: {_words_of(error)}"
            )
        return PeerRun(time.perf_counter() - started, after)

    def _show(self, chroot: str, cluster: ClusterInventory, assignment: Assignment) -> str:
        client = KazooClient(self._connect)
        client.start()
        client.ensure_path(f"{chroot}/admin")
        client.stop()
        client.close()
        connect = f"{self._connect}{chroot}"
        with Store.connect(connect) as store:
            seed(store, assignment, brokers={row.broker_id: row.rack for row in cluster.brokers})
        return connect


@contextmanager
def peers(folder: Path) -> Iterator[Peers]:
    """Start a ZooKeeper in a new folder and install what is missing."""
    sandbox = Sandbox.up(SandboxSpec(folder / "zookeeper", brokers=0))
    try:
        yield Peers(folder, sandbox.connect_string)
    finally:
        sandbox.down()


def assignment_of(cluster: ClusterInventory) -> Assignment:
    """Return the lists of a cluster by topic and partition."""
    found: dict[str, dict[int, tuple[int, ...]]] = {}
    for row in cluster.partitions:
        found.setdefault(row.topic, {})[row.partition] = row.replicas
    return found


def _installed(peer: Peer) -> Path:
    """Return the folder of a peer's executables; creates its environment if needed."""
    home = cache_folder(os.environ) / "peers" / f"{peer.package}-{peer.version}"
    executables = home / "bin"
    if not (executables / peer.command).exists():
        print(f"... installing {peer.name} into {home}, once", file=sys.stderr, flush=True)
        _quietly(sys.executable, "-m", "venv", "--clear", str(home))
        _quietly(
            str(executables / "pip"),
            "install",
            "--quiet",
            f"{peer.package}=={peer.version}",
            *peer.beside,
        )
    return executables


def _quietly(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=_INSTALL_S)


def _words_of(error: Exception) -> str:
    told = getattr(error, "stderr", None)
    lines = told.strip().splitlines() if isinstance(told, str) else []
    return lines[-1] if lines else str(error)


def _kafka_utils(ground: _Ground, znodes: str) -> Assignment:
    folder = ground.folder
    for name in ("clusters", "parser"):
        (folder / name).mkdir()
    discovery = {"clusters": {"c": {"broker_list": ["127.0.0.1:9092"], "zookeeper": znodes}}}
    (folder / "clusters" / "bench.yaml").write_text(
        json.dumps({**discovery, "local_config": {"cluster": "c"}})
    )
    (folder / "parser" / "racks.py").write_text(_RACK_PARSER)
    ground.call(
        "kafka-cluster-manager",
        *("--cluster-type", "bench", "--discovery-base-path", str(folder / "clusters")),
        *("--group-parser", f"{folder / 'parser'}:racks", "--write-to-file", "plan.json"),
        *("rebalance", "--replication-groups", "--brokers", "--leaders"),
        *("--max-partition-movements", _UNLIMITED, "--max-leader-changes", _UNLIMITED),
    )
    after = {topic: dict(numbers) for topic, numbers in ground.before.items()}
    plan = folder / "plan.json"
    for entry in json.loads(plan.read_text())["partitions"] if plan.exists() else ():
        after[entry["topic"]][entry["partition"]] = tuple(entry["replicas"])
    return after


def _kafka_tools(ground: _Ground, znodes: str) -> Assignment:
    scripts, sizes = ground.folder / "scripts", ground.folder / "sizes"
    sizes.mkdir()
    size = {(row.topic, row.partition): row.size_bytes or 0 for row in ground.cluster.partitions}
    held: dict[int, list[str]] = {row.broker_id: [] for row in ground.cluster.brokers}
    for topic, numbers in ground.before.items():
        for number, replicas in numbers.items():
            for broker in replicas:
                held[broker].append(
                    f"{size[topic, number] // _KIB}\t/mnt/u001/kafka/i001_caches/{topic}-{number}\n"
                )
    for broker, lines in held.items():
        (sizes / f"broker-{broker}").write_text("".join(lines))
    scripts.mkdir()
    for name, text in (("ssh", f'cat "{sizes}/$1"'), ("kafka-reassign-partitions.sh", "exit 1")):
        (scripts / name).write_text(f"#!/bin/sh\n{text}\n")
        (scripts / name).chmod(0o755)
    told = ground.call(
        *(
            "kafka-assigner",
            "-z",
            znodes,
            "--tools-path",
            str(scripts),
            "--skip-ple",
            "--output-json",
        ),
        *("-m", _UNLIMITED, "balance", "-t", "count"),
        path=f"{scripts}{os.pathsep}",
    )
    topics = json.loads(told[told.index("{") :])["after"]["topics"]
    return {
        topic: {
            int(number): tuple(map(int, each["replicas"]))
            for number, each in found["partitions"].items()
        }
        for topic, found in topics.items()
    }


PEERS = (
    Peer("kafka-utils", "4.1.0", "kafka-cluster-manager", _kafka_utils),
    Peer("kafka-tools", "0.1.9", "kafka-assigner", _kafka_tools, ("six==1.17.0",)),
)
