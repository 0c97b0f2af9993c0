"""Sandboxes whose brokers have limited links, in network namespaces of their own."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command

from kadmin.errors import UsageError
from kadmin.sandbox import Sandbox
from kadmin.sandbox.links import Link, why_not

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

needs_links = pytest.mark.skipif(why_not() is not None, reason=f"links: {why_not()}")
COPIED_BYTES = 15_000_000
"""Fewer than the replicas of `sandbox seed` that are copied."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "sandbox"
    command("sandbox", "down", "--dir", tmp_path / "sandbox")


def printed(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def bucket(namespace: str, device: str) -> Mapping[str, Any]:
    """Return the kernel's settings and counts of a token bucket."""
    shown = printed("tc", "-n", namespace, "-s", "-j", "qdisc", "show", "dev", device)
    found: Mapping[str, Any] = json.loads(shown)[0]
    return found


@needs_links
@pytest.mark.live
@pytest.mark.matrix
@pytest.mark.parametrize("mode", [("--kraft",), ()], ids=["kraft", "zookeeper"])
def test_brokers_send_and_receive_through_their_buckets(
    mode: tuple[str, ...], folder: Path, tmp_path: Path
) -> None:
    """Records of `sandbox traffic` pass them, too, and each has its latency in one second."""
    lines = tmp_path / "latencies.jsonl"
    limits = ("--brokers", "3", "--link", "80Mbit", "--queue", "250ms")
    up = command("sandbox", "up", "--dir", folder, *mode, *limits, "-o", "json")
    assert up.status == 0, up.err
    addresses = json.loads(up.out)["bootstrap"]
    assert all(each.startswith(("198.18.", "198.19.")) for each in addresses)
    seeded = command("sandbox", "seed", "--dir", folder)
    assert seeded.status == 0, seeded.err
    network = Sandbox.load(folder).network
    assert network is not None
    switch = f"kadmin{network.number}"
    sent = [bucket(f"{switch}-{broker}", "eth0") for broker in (1, 2, 3)]
    received = [bucket(switch, f"broker{broker}") for broker in (1, 2, 3)]
    for counts in (sent, received):
        assert sum(each["bytes"] for each in counts) > COPIED_BYTES
        assert sum(each["overlimits"] for each in counts) > 0
    traffic = ("--hour", "1s", "--for", "2h", "--rate", "50", "-o", "json")
    ran = command("sandbox", "traffic", "--dir", folder, *traffic, "--latencies", lines)
    assert ran.status == 0, ran.err
    seconds = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [each["second"] for each in seconds] == list(range(1, len(seconds) + 1))
    produced = json.loads(ran.out)["produced"]
    for topic in {each["topic"] for each in produced if each["records"]}:
        told = [each["topics"][topic] for each in seconds if topic in each["topics"]]
        records = sum(each["records"] for each in produced if each["topic"] == topic)
        assert sum(each["producers"]["records"] for each in told) == records
        assert told[-1]["producers"]["waiting"] == 0
    assert command("sandbox", "add-broker", "--dir", folder).status == 0
    assert bucket(switch, "broker4")["options"]["rate"] == 10_000_000
    assert command("sandbox", "down", "--dir", folder).status == 0
    assert switch not in printed("ip", "netns", "list")
    assert switch not in printed("ip", "-br", "link")


@needs_links
def test_what_fails_at_the_start_leaves_no_network(folder: Path) -> None:
    before = printed("ip", "netns", "list")
    wrong = ("--link", "1Gbit", "--config", "log.segment.bytes=nonsense")
    up = command("sandbox", "up", "--dir", folder, "--kraft", "--brokers", "1", *wrong)
    assert up.status == 8, up.err
    assert printed("ip", "netns", "list") == before


def test_without_root_it_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    refused = command("sandbox", "up", "--dir", tmp_path / "sandbox", "--link", "100Mbit")
    assert (refused.status, refused.err) == (
        3,
        ("error: Links cannot be limited here: that needs root.\n  next:  leave out --link\n"),
    )
    assert not (tmp_path / "sandbox").exists()


def test_a_rate_and_a_queue_are_read() -> None:
    assert Link.parse("100Mbit", "300ms") == Link(100_000_000, 300)
    assert Link.parse("10Gbit", "5ms").burst_bytes == 12_500_000
    for rate, queue in (
        ("100MB/s", "300ms"),
        ("10kbit", "300ms"),
        ("1Gbit", "1s"),
        ("0Mbit", "1ms"),
    ):
        with pytest.raises(UsageError, match="write for example"):
            Link.parse(rate, queue)
