"""Prints the executor's robustness and cost as one table.

Usage: make bench-executor (about half an hour). Kill points, races and held replies run against the
controller model on a real ZooKeeper. The time from a publish to the controller's first reaction is
measured on real brokers, alternating with a bare create by kazoo.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kazoo.client import KazooClient
from support.cluster.capabilities import NODES
from support.cluster.states import cluster, tp
from support.controller.eras import ERAS
from support.controller.znodes import REASSIGN, TOPICS, reassignment_payload
from support.executor.kill_points import Ground
from support.executor.many_partitions import reassign_many
from support.executor.races import races
from support.executor.runs import Site
from support.network.frame_proxy import Action, Fault, Side
from support.zookeeper.fault_proxy import FaultProxy

from kadmin.documents import dump_json
from kadmin.operations.context import Clock
from kadmin.operations.decide import decide
from kadmin.operations.decide.actions import Memory, Observed, PublishWave
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author, OperationKind, OperationRecord
from kadmin.operations.record.steps import WaveStep
from kadmin.operations.store import OperationStore
from kadmin.plan.model import Elect, PartitionTarget
from kadmin.report.text import table
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.zookeeper.backend import ZooKeeperBackend
from kadmin.worlds.zookeeper.reader import read_cluster
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.values.znodes import ZnodeValues
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.network.frame_proxy import Frame

    from kadmin.cluster.model import Replicas

T = TypeVar("T")
RACES = 1_000
MANY = 10_000
PAIRS = 50
PARTITIONS, WAVE = 100_000, 500
TIMEOUT_S = 3
HELD_AT = (1, 20, 45, 70, 110, 160)
REACTION_S = 30


def kill_points(folder: Path) -> list[list[str]]:
    """Try every request of an apply of three waves, before and after it is forwarded."""
    rows = []
    for words in (True, False):
        spec = SandboxSpec(folder / f"zookeeper-{words}", brokers=0, four_letter_words=words)
        found, tried = with_site(spec, lambda site: try_all(Ground(site, ERAS["2.8.2"])))
        name = f"kill points, {'with' if words else 'without'} four-letter words"
        rows.append([name, f"{tried} tried, {len(found)} violations", "0 violations"])
    return rows


def try_all(ground: Ground) -> tuple[list[str], int]:
    """Return the violations of every kill point, and how many points there are."""
    points = ground.points()
    return [each for point in points for each in ground.violations(point)], len(points)


def race_often(site: Site) -> list[list[str]]:
    """Start two runners at the same moment, RACES times."""
    ended = list(races(site, RACES))
    doubles = sum(each.published != 1 for each in ended)
    problems = sum(each.problem is not None for each in ended)
    return [
        [
            "races of two appliers",
            f"{len(ended)}: {doubles} double, {problems} wrong",
            "0 double publishes",
        ]
    ]


def many(site: Site) -> list[list[str]]:
    """Reassign many partitions through a ZooKeeper with a heap of 256 MB."""
    started = time.monotonic()
    ended = reassign_many(site, MANY)
    found = (
        f"{ended.done:,} in {ended.waves} waves, {time.monotonic() - started:.0f} s; error: "
        f"{ended.error}"
    )
    return [[f"{MANY:,} partitions, ZooKeeper of 256 MB", found, "all, no error"]]


def overdue(site: Site, folder: Path) -> list[list[str]]:
    """Hold every reply from a request on; measure how long after --timeout the command ends."""
    ground = Ground(site, ERAS["2.8.2"])
    plan = folder / "plan.json"
    plan.write_text(dump_json(ground.plan()))
    worst = max(_held(ground, plan, number) for number in HELD_AT)
    return [["longest past --timeout, answers held", f"{worst:.1f} s", "< 2 s"]]


def _held(ground: Ground, plan: Path, number: int) -> float:
    practice = ground.practice()
    with FaultProxy(practice.server) as proxy:
        proxy.faults.append(Fault(Action.HOLD, partial(_from, number), times=sys.maxsize))
        connect = f"{proxy.connect_string}{practice.chroot}"
        command = [sys.executable, "-m", "kadmin", "apply", str(plan), "--yes", "-z", connect]
        command += ["--timeout", str(TIMEOUT_S)]
        started = time.monotonic()
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pause = threading.Event()
        while running.poll() is None:
            practice.model.run()
            pause.wait(0.05)
        return time.monotonic() - started - TIMEOUT_S


def _from(number: int, frame: Frame) -> bool:
    return frame.side is Side.REPLY and frame.number >= number


def reactions(folder: Path) -> list[list[str]]:
    """Publish and create in turn, reorders of one partition, until its topic znode changes."""
    sandbox = Sandbox.up(SandboxSpec(folder / "brokers", brokers=2))
    client = KazooClient(sandbox.connect_string)
    client.start()
    try:
        with Store.connect(sandbox.connect_string) as store:
            pairs = _pairs(store, client)
    finally:
        client.stop()
        client.close()
        sandbox.down()
    ours, bare = (statistics.median(each) * 1000 for each in zip(*pairs, strict=True))
    measured = f"{ours:.1f} - {bare:.1f} = {ours - bare:+.1f} ms"
    return [[f"publish to reaction less bare create, {PAIRS} pairs", measured, "within 10 ms"]]


def _pairs(store: Store, client: KazooClient) -> list[tuple[float, float]]:
    partition, lists = tp("orders-0"), ((1, 2), (2, 1))
    client.create("/config/topics/orders", b'{"version":1,"config":{}}')
    client.create(
        f"{TOPICS}/orders", json.dumps({"version": 1, "partitions": {"0": lists[0]}}).encode()
    )
    _until(lambda: len(read_cluster(store, ["orders"]).states) == 1)
    author = Author("bench", "bench", 0)
    operations, operation_id = (
        OperationStore(ZnodeValues(store, Paths(), Clock()), print),
        "20260101T000000Z-000001",
    )
    lease = operations.lock.take(Holder(author, operation_id, "now", 10.0), 0)
    operations.create(
        OperationRecord(
            operation_id, OperationKind.REASSIGNMENT, "{}", "sha256:0", None, "now", author, {}
        ),
        lease,
        "now",
    )
    backend = ZooKeeperBackend(store, Paths(), Clock())

    def publish(target: Replicas) -> None:
        step = WaveStep(len(operations.steps(operation_id)) + 1, "now", 0)
        state = backend.read(["orders"])
        sent.append(time.perf_counter())
        backend.publish(step, PublishWave(0, (PartitionTarget(partition, target),)), state, lease)

    def create(target: Replicas) -> None:
        payload = reassignment_payload({partition: target})
        sent.append(time.perf_counter())
        client.create(REASSIGN, payload)

    sent: list[float] = []
    return [
        (_reaction(client, sent, publish, lists[1]), _reaction(client, sent, create, lists[0]))
        for _ in range(PAIRS)
    ]


def _reaction(
    client: KazooClient, sent: list[float], send: Callable[[Replicas], None], target: Replicas
) -> float:
    changed_at: list[float] = []
    changed = threading.Event()

    def seen(_event: object) -> None:
        changed_at.append(time.perf_counter())
        changed.set()

    client.get(f"{TOPICS}/orders", watch=seen)
    send(target)
    if not changed.wait(REACTION_S):
        raise TimeoutError
    _until(lambda: client.exists(REASSIGN) is None)
    return changed_at[0] - sent[-1]


def deciding() -> list[list[str]]:
    """Decide on a plan of PARTITIONS partitions, in the middle of its first wave and at its end."""
    names = [f"topic-{number // 100:04d}-{number % 100}" for number in range(PARTITIONS)]
    targets = tuple(PartitionTarget(tp(name), (2, 3), (1, 2)) for name in names)
    waves = tuple(targets[start : start + WAVE] for start in range(0, PARTITIONS, WAVE))
    work = ReassignmentWork(waves, targets, Elect.AT_END)
    before = Observed(cluster(dict.fromkeys(names[:WAVE], (1, 2))), (), NODES)
    after = Observed(cluster(dict.fromkeys(names, (2, 3))), (), NODES)
    rows = []
    for name, observed, wave in (("in a wave", before, 0), ("at the end", after, len(waves))):
        memory = Memory(wave=wave)
        taken = min(_timed(partial(decide, work, observed, memory, 0.0)) for _ in range(3))
        rows.append([f"decide, {PARTITIONS:,} partitions, {name}", f"{taken * 1000:.1f} ms", ""])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [*rows, ["this process, with that plan and cluster", f"{peak:.0f} MiB", ""]]


def _timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def _until(condition: Callable[[], bool]) -> None:
    give_up, pause = time.monotonic() + REACTION_S, threading.Event()
    while not condition():
        if time.monotonic() > give_up:
            raise TimeoutError
        pause.wait(0.005)


def with_site(spec: SandboxSpec, run: Callable[[Site], T]) -> T:
    """Run on a new ZooKeeper."""
    sandbox = Sandbox.up(spec)
    try:
        with Site.on(sandbox) as site:
            return run(site)
    finally:
        sandbox.down()


def main() -> None:
    """Print the table.

    With arguments, only the figures named: decide, reaction, timeout, races, many, kills.
    """
    wanted = set(sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures: dict[str, Callable[[], list[list[str]]]] = {
            "decide": deciding,
            "reaction": lambda: reactions(folder),
            "timeout": lambda: with_site(
                SandboxSpec(folder / "held", brokers=0), lambda site: overdue(site, folder)
            ),
            "races": lambda: with_site(SandboxSpec(folder / "races", brokers=0), race_often),
            "many": lambda: with_site(SandboxSpec(folder / "many", brokers=0), many),
            "kills": lambda: kill_points(folder),
        }
        rows = [
            row
            for figure, measure in figures.items()
            if not wanted or figure in wanted
            for row in measure()
        ]
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    print(table(["figure", "measured", "target"], rows))


if __name__ == "__main__":
    main()
