"""Configuration files of sandbox servers: settings that make real ZooKeeper and Kafka small, quick and quiet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

JVM_OPTIONS = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true")

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
"""Nothing happens on its own: no topic creation, no leader rebalance, no cleaning."""

LOG4J = """log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


def zookeeper_config(
    folder: Path, client_port: int, ensemble: Sequence[tuple[int, int]], *, four_letter_words: bool
) -> str:
    """Return zoo.cfg; `ensemble` holds (quorum port, election port) per server, empty for a single one."""
    lines = [
        f"dataDir={folder}",
        f"clientPort={client_port}",
        "clientPortAddress=127.0.0.1",
        "maxClientCnxns=0",
        "admin.enableServer=false",
        f"4lw.commands.whitelist={'*' if four_letter_words else 'srvr'}",
        "tickTime=800",
        "initLimit=10",
        "syncLimit=5",
    ]
    lines += [f"server.{n}=127.0.0.1:{quorum}:{vote}" for n, (quorum, vote) in enumerate(ensemble, start=1)]
    return "".join(f"{_escaped(line)}\n" for line in lines)


def _escaped(text: str) -> str:
    # Java reads properties as ISO 8859-1 with escapes of its own.
    return "".join(
        character if " " <= character <= "~" and character != "\\" else _unicode_escape(character) for character in text
    )


def _unicode_escape(character: str) -> str:
    utf16 = character.encode("utf-16-be")
    return "".join(f"\\u{utf16[index]:02x}{utf16[index + 1]:02x}" for index in range(0, len(utf16), 2))


def broker_config(
    broker_id: int, rack: str, port: int, connect: str, folder: Path, overrides: Mapping[str, str]
) -> str:
    """Return the server.properties of a broker in ZooKeeper mode."""
    values = {
        "broker.id": str(broker_id),
        "broker.rack": rack,
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "log.dirs": str(folder),
        "zookeeper.connect": connect,
        "zookeeper.session.timeout.ms": "6000",
        "zookeeper.connection.timeout.ms": "30000",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "controlled.shutdown.enable": "false",
        **_QUIET,
        **overrides,
    }
    return _properties(values)


def kraft_controller_config(
    controller_id: int, voters: Mapping[int, int], folders: Sequence[Path], overrides: Mapping[str, str]
) -> str:
    """Return the server.properties of a controller; `voters` holds the port of every controller by id."""
    values = {
        **_kraft("controller", controller_id, voters),
        "listeners": f"CONTROLLER://127.0.0.1:{voters[controller_id]}",
        "log.dirs": ",".join(str(folder) for folder in folders),
        "broker.session.timeout.ms": "6000",
        **_QUIET,
        **overrides,
    }
    return _properties(values)


def kraft_broker_config(
    broker_id: int,
    listener: tuple[str, int],
    brokers: int,
    voters: Mapping[int, int],
    folder: Path,
    overrides: Mapping[str, str],
) -> str:
    """Return the server.properties of a broker in KRaft mode.

    `listener` is its rack and its port; `brokers` is their number, and `voters` the port of every controller by id.
    """
    rack, port = listener
    copies = min(3, brokers)
    values = {
        **_kraft("broker", broker_id, voters),
        "broker.rack": rack,
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "log.dirs": str(folder),
        "broker.heartbeat.interval.ms": "1000",
        "offsets.topic.replication.factor": str(copies),
        "offsets.topic.num.partitions": "3",
        "transaction.state.log.replication.factor": str(copies),
        "transaction.state.log.min.isr": str(min(2, copies)),
        "transaction.state.log.num.partitions": "3",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        **_QUIET,
        **overrides,
    }
    return _properties(values)


def _kraft(role: str, node_id: int, voters: Mapping[int, int]) -> dict[str, str]:
    return {
        "process.roles": role,
        "node.id": str(node_id),
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": ",".join(f"{voter}@127.0.0.1:{port}" for voter, port in voters.items()),
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    }


def _properties(values: Mapping[str, str]) -> str:
    return "".join(f"{key}={_escaped(value)}\n" for key, value in values.items())
