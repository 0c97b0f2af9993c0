"""Runs one reassignment beside clients, on three brokers with limited links.

A topic of broker 1 is copied to broker 3. Producers with acks=all use a fifth of each link: those
of `pair` write to broker 1 with the follower 3, those of `control` to broker 1 with the follower 2.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.network.prometheus_server import prometheus_server, samples

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.operations.observers.commit_delays import CommitDelays
from kadmin.plan.commit_delay import watched
from kadmin.plan.pace import LOOK_S
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.sandbox.links import Link
from kadmin.sandbox.seed import create_topics
from kadmin.sandbox.traffic import run_traffic
from kadmin.sandbox.workload import Stream, Workload
from kadmin.waiting import poll
from kadmin.worlds.kafka.brokers import KafkaBrokers
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from support.network.prometheus_server import PrometheusHandler, PrometheusServer

    from kadmin.operations.observers.commit_delays import Delay

QUEUE = "250ms"
WIDE = Link.parse("10Gbit", QUEUE)
PAIR, CONTROL, AWAY, BACK, COPIED = "pair", "control", "away", "back", "copied"
PRODUCED = {PAIR: (1, 3), CONTROL: (1, 2), AWAY: (2, 3), BACK: (3, 1)}
SHARES = {PAIR: 0.1, CONTROL: 0.1, AWAY: 0.05, BACK: 0.05}
"""Bytes of each produced topic, as a share of a link in a second."""
PRODUCERS = {PAIR: 3, CONTROL: 3, AWAY: 1, BACK: 1}
RECORD_BYTES, PARTITIONS = 16_000, 2
CHUNK_BYTES = 20_000_000
BASE_S, AFTER_S, LONGEST_S = 20.0, 5.0, 600.0
SIGNAL = "slowdown"
MORE_AFTER_S = 90.0
"""Seconds from the beginning of the copy until clients write more."""


@dataclass(frozen=True, slots=True)
class Case:
    """A reassignment and its limits: `pair` partitions at once, `rate` as a share of the link.

    `link_s`: the seconds that the link needs for all copied bytes, with nothing else. `most`: the
    highest rate, where `rate` is the lowest. `fetch_bytes`: replica.fetch.max.bytes. `more`: what
    clients write after MORE_AFTER_S, as a multiple of what they wrote before. `busy`: processes
    that use a processor. `signal`: Prometheus answers how many times as long the producers of the
    pair wait as those of the control, and the plan keeps that below two.
    """

    copied: int = 8
    link_s: float = 20
    batch_bytes: int = 16_000
    pair: int | None = None
    rate: float | None = None
    most: float | None = None
    more: int = 1
    signal: bool = False
    busy: int = 0
    fetchers: int = 1
    fetch_bytes: int = 1_048_576
    more_replicas: bool = False
    version: str = "4.4.0"
    link_mbit: int = 80

    @property
    def link_bytes_per_s(self) -> int:
        """Bytes per second of each broker's link, in each direction."""
        return self.link_mbit * 1_000_000 // 8

    @property
    def copied_bytes(self) -> int:
        """The bytes of all copies."""
        return int(self.link_s * self.link_bytes_per_s)

    def share(self, share: float) -> str:
        """Write a share of the link as a rate."""
        return f"{int(share * self.link_bytes_per_s)}B/s"

    @property
    def mode(self) -> str:
        """The mode of the cluster."""
        return "kraft" if self.version.startswith("4.") else "zookeeper"


@dataclass(slots=True)
class Seen:
    """The seconds of one case from the first of the load, and when the copy began and ended.

    `topics` are the latencies of each topic's producers by second; `delays` are commit delays.
    """

    topics: dict[str, dict[int, list[Mapping[str, Any]]]] = field(default_factory=dict)
    delays: list[Delay] = field(default_factory=list)
    load: float = 0.0
    begun: float = 0.0
    ended: float = 0.0
    more: float | None = None
    output: str = ""


def measure(case: Case, folder: Path) -> Seen:
    """Run one case on a cluster of its own."""
    config = {
        "num.replica.fetchers": str(case.fetchers),
        "replica.fetch.max.bytes": str(case.fetch_bytes),
        "auto.leader.rebalance.enable": "false",
    }
    spec = SandboxSpec(
        folder / "sandbox", case.version, broker_config=config, mode=case.mode, link=WIDE
    )
    sandbox = Sandbox.up(spec)
    try:
        fill(sandbox, case)
        for broker in sandbox.broker_ports:
            if sandbox.network is not None:
                sandbox.network.limit(broker, Link.parse(f"{case.link_mbit}Mbit", QUEUE))
        return beside_load(sandbox, case, folder)
    finally:
        sandbox.down()


def fill(sandbox: Sandbox, case: Case) -> None:
    """Make the topics, and fill the one that is copied."""
    produced = {
        name: tuple(dict.fromkeys((*replicas, *((1, 2, 3) if case.more_replicas else ()))))
        for name, replicas in PRODUCED.items()
    }
    if case.more_replicas:  # the control has no replica on the receiver
        produced[CONTROL] = (1, 2)
    topics = {name: dict.fromkeys(range(PARTITIONS), brokers) for name, brokers in produced.items()}
    create_topics(sandbox, {**topics, COPIED: dict.fromkeys(range(case.copied), (1,))})
    left, value = case.copied_bytes // case.copied, b"." * case.batch_bytes
    while left > 0:
        chunk = min(left, CHUNK_BYTES)
        values = [value] * max(1, chunk // case.batch_bytes)
        for number in range(case.copied):
            produce(Servers(sandbox.bootstrap), {TopicPartition(COPIED, number): values})
        left -= chunk


def beside_load(sandbox: Sandbox, case: Case, folder: Path) -> Seen:
    """Begin the load, and the reassignment a little later; return when it has ended."""
    seen = Seen()
    with ExitStack() as stack:
        connection = stack.enter_context(KafkaConnection(Servers(sandbox.bootstrap)))
        lines = stack.enter_context(load(sandbox, folder / "first", case.link_bytes_per_s))
        seen.load = time.monotonic()
        state = read_cluster(connection)
        moving = [each for each in state.states if each.topic == COPIED]
        delays = stack.enter_context(
            closing(CommitDelays(KafkaBrokers(Servers(sandbox.bootstrap))))
        )
        delays.watch(watched(state, {(1, 3)}, moving))
        collect(seen, delays, BASE_S)
        server = stack.enter_context(prometheus_server())
        server.answer = partial(answer_slowdown, seen.load, lines)
        for _ in range(case.busy):
            stack.enter_context(ended_with(subprocess.Popen([sys.executable, "-c", BUSY])))
        with (folder / "output").open("w") as output:
            seen.begun = time.monotonic()
            runner = subprocess.Popen(
                apply_command(case, folder),
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "KADMIN_CONFIG": str(contexts(sandbox, case, server, folder))},
            )
            with ended_with(runner):
                while runner.poll() is None and time.monotonic() < seen.begun + LONGEST_S:
                    collect(seen, delays, 1.0)
                    late = time.monotonic() > seen.begun + MORE_AFTER_S
                    if case.more > 1 and late and seen.more is None:
                        added = load(
                            sandbox,
                            folder / "second",
                            (case.more - 1) * case.link_bytes_per_s,
                        )
                        lines += stack.enter_context(added)
                        seen.more = time.monotonic()
                seen.ended = time.monotonic()
        collect(seen, delays, AFTER_S)
    read_lines(seen, lines)
    seen.output = (folder / "output").read_text()
    return seen


BUSY = "while True: pass"


@contextmanager
def ended_with(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End a process with a block."""
    with process:
        try:
            yield
        finally:
            process.terminate()


def collect(seen: Seen, delays: CommitDelays, for_s: float) -> None:
    """Add the delays of the next seconds."""
    began = time.monotonic()
    for _ in poll(for_s, for_s):
        pass
    seen.delays += delays.since(began)


def read_lines(seen: Seen, lines: Sequence[tuple[str, float, Path]]) -> None:
    """Read the latencies that producers wrote, with their seconds as those of the load."""
    for topic, began, path in lines:
        seconds = seen.topics.setdefault(topic, {})
        for line in path.read_text().splitlines():
            found = json.loads(line)
            second = int(began - seen.load) + found["second"]
            seconds.setdefault(second, []).append(found["topics"].get(topic, {}))


def worst(seen: Seen, topic: str, second: int) -> float:
    """Return the p99 of a second, or the age of the oldest record that waits, if that is more."""
    found = [each.get("producers", {}) for each in seen.topics[topic].get(second, ())]
    values = [each.get(name) for each in found for name in ("p99_ms", "oldest_ms")]
    return max((value for value in values if value is not None), default=inf)


def slowdown(load: float, lines: Sequence[tuple[str, float, Path]]) -> float:
    """Return the p99 of the pair, as a multiple of the control's, in the last look."""
    seen = Seen(load=load)
    read_lines(seen, lines)
    last = int(time.monotonic() - load) - 1  # this second is not over
    seconds = range(last - int(LOOK_S), last)
    pair, control = (
        statistics.median(worst(seen, topic, second) for second in seconds)
        for topic in (PAIR, CONTROL)
    )
    return pair / control


def answer_slowdown(
    load: float, lines: Sequence[tuple[str, float, Path]], request: PrometheusHandler
) -> None:
    """Answer a query of the signal with its value now."""
    samples(slowdown(load, lines))(request)


def contexts(sandbox: Sandbox, case: Case, server: PrometheusServer, folder: Path) -> Path:
    """Write the context `lab`: the address of the cluster, and the signal."""
    at = {"kafka": {"bootstrap_servers": ",".join(sandbox.bootstrap)}}
    if case.mode == "zookeeper":
        at = {"zookeeper": {"connect": sandbox.connect_string}}
    signals = {SIGNAL: {"prometheus": server.origin, "query": SIGNAL}}
    document = {
        "apiVersion": "kadmin/v1",
        "kind": "Contexts",
        "contexts": {"lab": {**at, "signals": signals}},
    }
    written = folder / "contexts.yaml"
    written.write_text(json.dumps(document))
    return written


def apply_command(case: Case, folder: Path) -> Sequence[str]:
    """Return the command that moves the copied topic from broker 1 to 3."""
    throttle: dict[str, Any] = {"rate": "1GB/s" if case.rate is None else case.share(case.rate)}
    if case.rate is not None and case.most is not None:
        throttle["rate"] = {"min": case.share(case.rate), "max": case.share(case.most)}
    if case.pair is not None:
        throttle["pair"] = case.pair
    if case.signal:
        throttle["while"] = {SIGNAL: {"below": 2}}
    partitions = [
        {"topic": COPIED, "partition": number, "replicas": [3]} for number in range(case.copied)
    ]
    document = {
        "apiVersion": "kadmin/v1",
        "kind": "PartitionReassignment",
        "spec": {"throttle": throttle, "partitions": partitions},
    }
    plan = folder / "plan.json"
    plan.write_text(json.dumps(document))
    return [sys.executable, "-m", "kadmin", "apply", str(plan), "--yes", "--context", "lab"]


@contextmanager
def load(
    sandbox: Sandbox, lines: Path, link_bytes_per_s: int
) -> Iterator[list[tuple[str, float, Path]]]:
    """Produce the shares of a link, each producer in its process: one that waits holds no other.

    Gives the topic of each producer, when it began, and the file of its latencies.
    """
    words = [sys.executable, __file__, str(sandbox.spec.directory), str(link_bytes_per_s)]
    with ExitStack() as stack:
        found = []
        for topic, producers in PRODUCERS.items():
            for number in range(producers):
                path = Path(f"{lines}.{topic}.{number}")
                path.touch()
                process = subprocess.Popen([*words, topic, str(path)])
                stack.enter_context(ended_with(process))
                found.append((topic, time.monotonic(), path))
        yield found


def run_load(directory: Path, link_bytes_per_s: int, topic: str, lines: Path) -> None:
    """Produce until this process is ended."""
    bytes_per_s = SHARES[topic] * link_bytes_per_s / PRODUCERS[topic] / PARTITIONS
    streams = {
        TopicPartition(topic, number): Stream(bytes_per_s / RECORD_BYTES * 3600, 0, 0, RECORD_BYTES)
        for number in range(PARTITIONS)
    }
    with lines.open("w", buffering=1) as written:
        run_traffic(
            Sandbox.load(directory),
            Workload(streams, {}),
            1.0,
            3600.0,
            lambda each: print(json.dumps(each), file=written),
        )


if __name__ == "__main__":
    folder_of_sandbox, link_of_broker, produced_topic, latencies = sys.argv[1:]
    run_load(Path(folder_of_sandbox), int(link_of_broker), produced_topic, Path(latencies))
