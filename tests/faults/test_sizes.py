"""Payloads of every size, and a server that takes less than others."""

from __future__ import annotations

import json
import os
import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command
from support.controller.simple_controller import SimpleController
from support.documents.plans import document, reassignment
from support.live.waiting import wait_until
from support.zookeeper.fault_proxy import MULTI, PUBLISH

from kadmin.cluster.connect_string import parse_connect_string
from kadmin.java import cache_folder, find_java
from kadmin.sandbox.jars import DEFAULT_VERSION, class_path
from kadmin.sandbox.processes import free_ports, start
from kadmin.sandbox.settings import JVM_OPTIONS, zookeeper_config
from kadmin.worlds.zookeeper.wire.four_letter import ask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.zookeeper.fault_proxy import FaultProxy

pytestmark = pytest.mark.zookeeper

CUT_AT_BYTES = 1_048_575
BROKERS = 120
TARGET = list(range(1, 101))
ENTRY_BYTES = len(
    json.dumps({"topic": "t" * 249, "partition": 100, "replicas": TARGET}, separators=(",", ":"))
)
PER_TOPIC = 500


def wide_topics(cluster: SimpleController, payload_bytes: int) -> list[dict[str, Any]]:
    """Create topics, and return the entries of a plan, that make a payload a little larger than
    asked for.
    """
    entries: list[dict[str, Any]] = []
    count = payload_bytes // ENTRY_BYTES + 10
    for first in range(0, count, PER_TOPIC):
        numbers = range(min(PER_TOPIC, count - first))
        topic = cluster.create_topic(f"{first:t>249}", {number: [1, 2] for number in numbers})
        entries += [{"topic": topic, "partition": number, "replicas": TARGET} for number in numbers]
    return entries


def plan_of(path: Path, entries: list[dict[str, Any]], max_payload: int) -> Path:
    waves = {"max_partitions": len(entries), "max_payload": f"{max_payload}B"}
    allow = {"replication_factor_change": True}
    value = reassignment("", {}, waves=waves, allow=allow)
    value["spec"]["partitions"] = entries
    return document(path, value)


@pytest.fixture
def wide(chroot: str) -> Iterator[SimpleController]:
    with SimpleController(chroot, brokers=BROKERS) as found:
        yield found


@pytest.mark.parametrize(
    ("payload", "waves"),
    [
        (65_536, 2),
        pytest.param(524_288, 2, marks=pytest.mark.executor),
        pytest.param(1_000_000, 2, marks=pytest.mark.executor),
        pytest.param(1_048_500, 2, marks=pytest.mark.matrix),
        pytest.param(2_000_000, 3, marks=pytest.mark.executor),
    ],
    ids=["F22-64KiB", "F22-512KiB", "F22-1000000", "F22-1048500", "F22-2MB"],
)
def test_a_payload_is_split_before_it_is_too_large(
    wide: SimpleController, proxy: FaultProxy, broken: str, tmp_path: Path, payload: int, waves: int
) -> None:
    """The plan is a little larger than the limit that it asks for; ZooKeeper never cuts the
    connection.
    """
    plan = plan_of(tmp_path / "plan.json", wide_topics(wide, payload), payload)
    applied = command("apply", plan, "--yes", "-z", broken, "--timeout", "300")
    assert applied.status == 0, applied.err
    published = [frame for frame in proxy.requests(MULTI) if PUBLISH(frame)]
    assert len(published) == waves
    assert all(len(frame.body) < CUT_AT_BYTES for frame in published)
    assert wide.get("/admin/reassign_partitions") is None


def test_f22_an_entry_that_alone_breaks_the_limit_is_refused_with_its_size(
    cluster: SimpleController, tmp_path: Path
) -> None:
    topic = cluster.create_topic("t" * 249, {0: [1, 2]})
    plan = plan_of(
        tmp_path / "plan.json", [{"topic": topic, "partition": 0, "replicas": [2, 3]}], 200
    )
    before = cluster.fingerprint()
    refused = command("apply", plan, "--yes", "-z", cluster.connect, "--timeout", "30")
    assert refused.status == 3, refused.err
    assert re.search(r"payload alone has 3\d\d B, above waves.max_payload 200B", refused.err)
    assert cluster.fingerprint() == before


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that takes packets of at most 100 KB."""
    folder, (port,) = tmp_path_factory.mktemp("narrow"), free_ports(1)
    cache = cache_folder(os.environ)
    java = find_java(os.environ, cache)
    config = folder / "zoo.cfg"
    config.write_text(zookeeper_config(folder, port, [], four_letter_words=True))
    main = [
        "-cp",
        class_path(DEFAULT_VERSION, java, cache),
        "org.apache.zookeeper.server.quorum.QuorumPeerMain",
    ]
    command_line = [
        str(java.executable),
        *JVM_OPTIONS,
        "-Djute.maxbuffer=102400",
        *main,
        str(config),
    ]
    process = start(command_line, folder / "server.log", folder / "process.json")
    server = parse_connect_string(f"127.0.0.1:{port}").servers[0]
    wait_until(lambda: "Mode: " in (ask(server, "srvr") or ""), 60)
    yield f"127.0.0.1:{port}"
    process.stop(kill=True)


def test_f23_a_server_with_a_lower_limit_is_named_as_the_cause(narrow: str, tmp_path: Path) -> None:
    with SimpleController(narrow, brokers=BROKERS) as cluster:
        plan = plan_of(tmp_path / "plan.json", wide_topics(cluster, 200_000), 300_000)
        started = time.monotonic()
        refused = command("apply", plan, "--yes", "-z", narrow, "--timeout", "60")
        assert time.monotonic() - started < 30
        assert refused.status == 6, refused.err
        assert "jute.maxbuffer" in refused.err
        assert "max_payload" in refused.err
        assert cluster.steps("wave") == []
        assert cluster.get("/admin/reassign_partitions") is None
