"""Measures clients beside a reassignment on brokers with limited links.

Usage: make bench-pace CASES="one four" (as root on Linux). Three brokers with links of 80 Mbit/s;
producers with acks=all use a fifth of each. A topic of broker 1 is copied to broker 3: producers
whose leader is broker 1 and whose follower is broker 3 are the pair, those with follower 2 the
control. Every second has its percentiles, of the same second for both.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.operations.observers.commit_delays import CommitDelays
from kadmin.plan.commit_delay import watched
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

LINK, WIDE = Link.parse("80Mbit", "250ms"), Link.parse("10Gbit", "250ms")
LINK_BYTES_PER_S = 10_000_000
PAIR, CONTROL, AWAY, BACK, COPIED = "pair", "control", "away", "back", "copied"
PRODUCED = {PAIR: (1, 3), CONTROL: (1, 2), AWAY: (2, 3), BACK: (3, 1)}
SHARES = {PAIR: 0.1, CONTROL: 0.1, AWAY: 0.05, BACK: 0.05}
"""Bytes of each produced topic, as a share of a link in a second."""
RECORD_BYTES, PARTITIONS = 8_000, 2
CHUNK_BYTES = 20_000_000
BASE_S = 15.0
LONGEST_S = 240.0
ROUND_S = 10.0


@dataclass(frozen=True, slots=True)
class Case:
    """A reassignment and its limits: `pair` partitions at once, `rate` as a share of the link."""

    copied: int = 8
    copied_bytes: int = 400_000_000
    batch_bytes: int = 16_000
    pair: int | None = None
    rate: float | None = None
    fetchers: int = 1
    more_replicas: bool = False
    version: str = "4.4.0"

    @property
    def mode(self) -> str:
        """The mode of the cluster."""
        return "kraft" if self.version.startswith("4.") else "zookeeper"


CASES = {
    "small": Case(copied=8, copied_bytes=160_000_000),
    "small-one": Case(copied=8, copied_bytes=160_000_000, pair=1),
    "small-one-25": Case(copied=8, copied_bytes=100_000_000, pair=1, rate=0.25),
    "all": Case(),
    "four": Case(pair=4),
    "two": Case(pair=2),
    "one": Case(pair=1),
    "all-50": Case(rate=0.5),
    "all-25": Case(rate=0.25),
    "four-50": Case(pair=4, rate=0.5),
    "two-50": Case(pair=2, rate=0.5),
    "one-50": Case(pair=1, rate=0.5),
    "one-25": Case(pair=1, rate=0.25),
    "one-75": Case(pair=1, rate=0.75),
    "large": Case(batch_bytes=900_000),
    "one-large": Case(batch_bytes=900_000, pair=1),
    "fetchers-2": Case(fetchers=2),
    "fetchers-4": Case(fetchers=4),
    "one-fetchers-4": Case(fetchers=4, pair=1),
    "three": Case(more_replicas=True),
    "one-three": Case(more_replicas=True, pair=1),
}


@dataclass(slots=True)
class Seen:
    """The seconds of one case, from the first second of load, and when the copy began and ended."""

    seconds: list[Mapping[str, Any]] = field(default_factory=list)
    delays: list[tuple[float, str, float, bool]] = field(default_factory=list)
    begun: float = 0.0
    ended: float = 0.0
    load: float = 0.0


def measure(case: Case, folder: Path) -> Seen:
    """Run one case on a cluster of its own."""
    config = {"num.replica.fetchers": str(case.fetchers), "auto.leader.rebalance.enable": "false"}
    spec = SandboxSpec(
        folder / "sandbox", case.version, broker_config=config, mode=case.mode, link=WIDE
    )
    sandbox = Sandbox.up(spec)
    try:
        fill(sandbox, case)
        for broker in sandbox.broker_ports:
            limited(sandbox, broker)
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


def limited(sandbox: Sandbox, broker: int) -> None:
    """Limit the link of a broker as the figures say."""
    network = sandbox.network
    assert network is not None
    network.limit(broker, LINK)


def beside_load(sandbox: Sandbox, case: Case, folder: Path) -> Seen:
    """Begin the load, and the reassignment a little later; return when it has ended."""
    seen, lines = Seen(), folder / "latencies.jsonl"
    with load(sandbox, lines), KafkaConnection(Servers(sandbox.bootstrap)) as connection:
        seen.load = time.monotonic()
        state = read_cluster(connection)
        moving = [each for each in state.states if each.topic == COPIED]
        with closing(CommitDelays(KafkaBrokers(Servers(sandbox.bootstrap)))) as delays:
            delays.watch(watched(state, {(1, 3)}, moving))
            collect(seen, delays, BASE_S)
            command = apply_command(sandbox, case, folder)
            seen.begun = time.monotonic()
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as runner:
                while runner.poll() is None and time.monotonic() < seen.begun + LONGEST_S:
                    collect(seen, delays, 1.0)
                seen.ended = time.monotonic()
                runner.terminate()
            collect(seen, delays, 2.0)
    by_topic = [Path(f"{lines}.{topic}").read_text().splitlines() for topic in PRODUCED]
    for second in zip(*by_topic, strict=False):
        found = [json.loads(each) for each in second]
        topics = {name: figures for each in found for name, figures in each["topics"].items()}
        seen.seconds.append({"second": found[0]["second"], "topics": topics})
    return seen


def collect(seen: Seen, delays: CommitDelays, for_s: float) -> None:
    """Add the delays of the next seconds."""
    began = time.monotonic()
    for _ in poll(for_s, 1.0):
        pass
    for each in delays.since(began):
        group = each.partition.topic
        seen.delays.append((each.at - seen.load, group, each.seconds, each.is_over))


def apply_command(sandbox: Sandbox, case: Case, folder: Path) -> Sequence[str]:
    """Return the command that moves the copied topic from broker 1 to 3."""
    rate = "1GB/s" if case.rate is None else f"{int(case.rate * LINK_BYTES_PER_S)}B/s"
    throttle = {"rate": rate} | ({} if case.pair is None else {"pair": case.pair})
    partitions = [
        {"topic": COPIED, "partition": number, "replicas": [3]} for number in range(case.copied)
    ]
    plan = folder / "plan.json"
    document = {
        "apiVersion": "kadmin/v1",
        "kind": "PartitionReassignment",
        "spec": {
            "throttle": throttle,
            "partitions": partitions,
        },
    }
    plan.write_text(json.dumps(document))
    at = (
        ["-b", ",".join(sandbox.bootstrap)]
        if case.mode == "kraft"
        else ["-z", sandbox.connect_string]
    )
    return [sys.executable, "-m", "kadmin", "apply", str(plan), "--yes", *at]


@contextmanager
def load(sandbox: Sandbox, lines: Path) -> Iterator[None]:
    """Produce to each topic in a process of its own: one that waits holds up no other."""
    words = [sys.executable, __file__, "--load", str(sandbox.spec.directory)]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(subprocess.Popen([*words, topic, f"{lines}.{topic}"]))
            for topic in PRODUCED
        ]
        try:
            yield
        finally:
            for process in processes:
                process.terminate()


def run_load(directory: Path, topic: str, lines: Path) -> None:
    """Produce until this process is ended."""
    per_hour = SHARES[topic] * LINK_BYTES_PER_S / PARTITIONS / RECORD_BYTES * 3600
    streams = {
        TopicPartition(topic, number): Stream(per_hour, 0, 0, RECORD_BYTES)
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


def summary(seen: Seen, case: Case) -> Mapping[str, Any]:
    """Return the figures of a case; latencies are medians and maxima over its seconds, in ms."""
    begun, ended = seen.begun - seen.load, seen.ended - seen.load
    base = [each for each in seen.seconds if 5 < each["second"] < begun]
    during = [each for each in seen.seconds if begun + 1 < each["second"] <= ended]
    pairs = [(worst(each, PAIR), worst(each, CONTROL)) for each in during]
    kept = [pair <= max(2 * control, control + 10) for pair, control in pairs]
    return {
        **asdict(case),
        "copy_s": round(seen.ended - seen.begun, 1),
        "mb_per_s": round(case.copied_bytes / 1e6 / (seen.ended - seen.begun), 2),
        "base_pair_p99": middle(worst(each, PAIR) for each in base),
        "base_control_p99": middle(worst(each, CONTROL) for each in base),
        "pair_p50": middle(produced(each, PAIR, "p50_ms") for each in during),
        "pair_p99": middle(pair for pair, _ in pairs),
        "pair_max": max((pair for pair, _ in pairs), default=0),
        "control_p50": middle(produced(each, CONTROL, "p50_ms") for each in during),
        "control_p99": middle(control for _, control in pairs),
        "control_max": max((control for _, control in pairs), default=0),
        "kept": round(sum(kept) / len(kept), 2) if kept else None,
        "rule": rule(seen, begun, ended),
    }


def produced(second: Mapping[str, Any], topic: str, name: str) -> float:
    found = second["topics"].get(topic, {}).get("producers", {}).get(name)
    return float(found or 0)


def worst(second: Mapping[str, Any], topic: str) -> float:
    """Return the p99 of a second, or the age of the oldest record that waits, if that is more."""
    return max(produced(second, topic, "p99_ms"), produced(second, topic, "oldest_ms"))


def middle(values: Any) -> float:
    found = list(values)
    return round(statistics.median(found), 1) if found else 0.0


def p90(values: Sequence[float]) -> float:
    """Return the nearest-rank percentile, 0 of none."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * 9 // 10) - 1] if ordered else 0.0


def rule(seen: Seen, begun: float, ended: float) -> Sequence[Mapping[str, float]]:
    """Return the commit delays of each ten seconds, p90 in ms, beside the producers' p99."""
    rounds = []
    start = begun - ROUND_S
    while start < ended:
        end = start + ROUND_S
        within = [each for each in seen.delays if start <= each[0] < end]
        of = {
            topic: [
                s * 1000 for _, group, s, over in within if group == topic and (over or s > 0.5)
            ]
            for topic in PRODUCED
        }
        seconds = [each for each in seen.seconds if start <= each["second"] < end]
        rounds.append(
            {
                "at": round(start - begun),
                "pair": round(p90(of[PAIR]), 1),
                "control": round(p90(of[CONTROL]), 1),
                "samples": len(of[PAIR]),
                "pair_p99": middle(worst(each, PAIR) for each in seconds),
                "control_p99": middle(worst(each, CONTROL) for each in seconds),
            }
        )
        start = end
    return rounds


def main() -> None:
    """Print one line of JSON for each case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--load", nargs=3)
    parser.add_argument("--version", default="4.4.0")
    given = parser.parse_args()
    if given.load:
        directory, topic, lines = given.load
        run_load(Path(directory), topic, Path(lines))
        return
    for name in given.cases or CASES:
        case = replace(CASES[name], version=given.version)
        with tempfile.TemporaryDirectory() as folder:
            found = summary(measure(case, Path(folder)), case)
        load_average = round(os.getloadavg()[0], 1)
        print(json.dumps({"case": name, "load": load_average, **found}), flush=True)


if __name__ == "__main__":
    main()
