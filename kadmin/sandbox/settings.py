"""Configuration files of sandbox servers.

Their settings make real ZooKeeper and Kafka small, quick and quiet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import MIGRATION_SETTING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LOOPBACK = "127.0.0.1"

JVM_OPTIONS = (
    "-Xms64m",
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.awt.headless=true",
)

MANAGED_SETTINGS = frozenset(
    {
        "broker.id",
        "broker.rack",
        "listeners",
        "advertised.listeners",
        "log.dirs",
        "zookeeper.connect",
        "node.id",
        "process.roles",
        "controller.listener.names",
        "controller.quorum.voters",
        "listener.security.protocol.map",
    }
)
"""Settings of the sandbox itself; any other may be overridden."""

_QUIET = {
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "delete.topic.enable": "true",
    "unclean.leader.election.enable": "false",
    "log.cleaner.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "num.network.threads": "1",
    "num.io.threads": "2",
}
"""Settings that disable automatic work: topic creation, leader rebalance, cleaning."""

MIGRATING = {MIGRATION_SETTING: "true"}
"""The setting of every server while metadata is both in ZooKeeper and with the controllers."""

TIERED = {"remote.log.storage.system.enable": "true"}
"""The setting of every server where topics may be tiered."""

LOG4J = """log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


def zookeeper_config(
    folder: Path,
    client_port: int,
    ensemble: Sequence[tuple[int, int]],
    *,
    four_letter_words: bool,
    host: str = LOOPBACK,
) -> str:
    """Return zoo.cfg.

    `ensemble` holds (quorum port, election port) per server, empty for a single one.
    """
    lines = [
        f"dataDir={folder}",
        f"clientPort={client_port}",
        f"clientPortAddress={host}",
        "maxClientCnxns=0",
        "admin.enableServer=false",
        f"4lw.commands.whitelist={'*' if four_letter_words else 'srvr'}",
        "tickTime=800",
        "initLimit=10",
        "syncLimit=5",
    ]
    lines += [
        f"server.{n}={host}:{quorum}:{vote}" for n, (quorum, vote) in enumerate(ensemble, start=1)
    ]
    return "".join(f"{_escaped(line)}\n" for line in lines)


def _escaped(text: str) -> str:
    # Java reads properties as ISO 8859-1 with \u escapes.
    return "".join(
        character if " " <= character <= "~" and character != "\\" else _unicode_escape(character)
        for character in text
    )


def _unicode_escape(character: str) -> str:
    utf16 = character.encode("utf-16-be")
    return "".join(
        f"\\u{utf16[index]:02x}{utf16[index + 1]:02x}" for index in range(0, len(utf16), 2)
    )


def broker_config(
    broker_id: int,
    rack: str,
    address: str,
    connect: str,
    folder: Path,
    overrides: Mapping[str, str],
) -> str:
    """Return the server.properties of a broker in ZooKeeper mode."""
    values = {
        "broker.id": str(broker_id),
        **broker_place(rack, address, folder),
        "zookeeper.connect": connect,
        # On a busy machine a server waits for the processor for seconds. Its session must not end:
        # a controller that lost its session may go on beside its successor.
        "zookeeper.session.timeout.ms": "12000",
        "zookeeper.connection.timeout.ms": "30000",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "controlled.shutdown.enable": "false",
    }
    return server_properties(values, overrides)


def broker_place(rack: str, address: str, folder: Path) -> dict[str, str]:
    """Return a broker's settings of its rack, listener and log directory."""
    listener = f"PLAINTEXT://{address}"
    return {
        "broker.rack": rack,
        "listeners": listener,
        "advertised.listeners": listener,
        "log.dirs": str(folder),
    }


def tier_settings(jar: Path, folder: Path, copies: int) -> dict[str, str]:
    """Return a broker's settings of Kafka's own tier, LocalTieredStorage, in a folder.

    A closed segment is copied, and local ones are removed, within a second or two. `copies` is the
    replication factor of the topic that is the tier's index.
    """
    return {
        **TIERED,
        "remote.log.storage.manager.class.name": (
            "org.apache.kafka.server.log.remote.storage.LocalTieredStorage"
        ),
        "remote.log.storage.manager.class.path": str(jar),
        "rsm.config.dir": str(folder),
        "remote.log.metadata.manager.listener.name": "PLAINTEXT",
        "rlmm.config.remote.log.metadata.topic.num.partitions": "3",
        "rlmm.config.remote.log.metadata.topic.replication.factor": str(copies),
        "remote.log.manager.task.interval.ms": "500",
        "log.initial.task.delay.ms": "1000",
        "log.retention.check.interval.ms": "1000",
    }


def controller_settings(host: str, ports: Mapping[int, int]) -> dict[str, str]:
    """Return the settings by which servers find the KRaft controllers at ports of a host."""
    return {
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": ",".join(
            f"{voter}@{host}:{port}" for voter, port in ports.items()
        ),
        # A controller that waits for the processor for seconds stays the leader; Kafka's 2 s would
        # elect another one.
        "controller.quorum.fetch.timeout.ms": "6000",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    }


def server_properties(values: Mapping[str, str], overrides: Mapping[str, str]) -> str:
    """Return the server.properties with these settings, those of every server, and the user's."""
    return "".join(
        f"{key}={_escaped(value)}\n" for key, value in {**values, **_QUIET, **overrides}.items()
    )
