"""sandbox: real ZooKeeper and real Kafka brokers on this machine, to practise on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kadmin.cli.deadline import bounded
from kadmin.cli.options import OutputFormat, OutputOption
from kadmin.errors import InvalidInputError, UsageError

if TYPE_CHECKING:
    from kadmin.sandbox import Sandbox

sandbox_app = typer.Typer(help="Run ZooKeeper and Kafka brokers on this machine, to practise on.")

DirectoryOption = Annotated[
    Path, typer.Option("--dir", envvar="KADMIN_SANDBOX", metavar="DIR", help="The folder that holds the sandbox.")
]
BrokerArgument = Annotated[int, typer.Argument(metavar="ID", help="A broker's id.")]
DEFAULT_DIRECTORY = Path("sandbox")


@sandbox_app.command()
@bounded
def up(
    directory: DirectoryOption = DEFAULT_DIRECTORY,
    *,
    version: Annotated[str, typer.Option("--version", help="Kafka version.")] = "2.8.2",
    brokers: Annotated[int, typer.Option("--brokers", min=1, help="Brokers, with ids from 1.")] = 3,
    racks: Annotated[int, typer.Option("--racks", min=1, help="Racks r1, r2, ... in turn.")] = 3,
    zookeepers: Annotated[int, typer.Option("--zookeepers", help="ZooKeeper servers, 1 or 3.")] = 1,
    chroot: Annotated[str, typer.Option("--chroot", metavar="/PATH", help="Chroot of the cluster.")] = "",
    four_letter_words: Annotated[
        bool, typer.Option("--four-letter-words/--no-four-letter-words", help="Whether ZooKeeper answers them.")
    ] = True,
    config: Annotated[list[str] | None, typer.Option("--config", metavar="KEY=VALUE", help="Broker setting.")] = None,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Start ZooKeeper and brokers, and wait until they serve. Jars are fetched once, then kept."""
    from kadmin.sandbox import Sandbox, SandboxSpec

    spec = SandboxSpec(
        directory.absolute(),
        version,
        brokers,
        min(racks, brokers),
        zookeepers,
        chroot,
        four_letter_words,
        dict(_setting(each) for each in config or ()),
    )
    typer.echo(f"starting Kafka {version}: brokers 1 to {brokers}, {zookeepers} ZooKeeper", err=True)
    _answer(Sandbox.up(spec, tell=lambda text: typer.echo(text, err=True)), output)


@sandbox_app.command()
@bounded
def seed(directory: DirectoryOption = DEFAULT_DIRECTORY) -> None:
    """Create unevenly spread topics with real records."""
    from kadmin.sandbox import Sandbox
    from kadmin.sandbox.seed import seed as fill

    seeded = fill(Sandbox.load(directory.absolute()))
    typer.echo(f"{seeded.topics} topics, {seeded.partitions} partitions, {seeded.records} records")


@sandbox_app.command()
@bounded
def status(directory: DirectoryOption = DEFAULT_DIRECTORY, output: OutputOption = OutputFormat.HUMAN) -> None:
    """Show the sandbox's address and which of its processes run."""
    from kadmin.sandbox import Sandbox

    _answer(Sandbox.load(directory.absolute()), output)


@sandbox_app.command("stop-broker")
@bounded
def stop_broker(
    broker_id: BrokerArgument,
    directory: DirectoryOption = DEFAULT_DIRECTORY,
    *,
    kill: Annotated[bool, typer.Option("--kill", help="End it the hard way.")] = False,
) -> None:
    """End one broker; its data stays."""
    from kadmin.sandbox import Sandbox

    Sandbox.load(directory.absolute()).stop_broker(broker_id, kill=kill)
    typer.echo(f"broker {broker_id} is stopped")


@sandbox_app.command("start-broker")
@bounded
def start_broker(broker_id: BrokerArgument, directory: DirectoryOption = DEFAULT_DIRECTORY) -> None:
    """Start a stopped broker again, on its old port and data."""
    from kadmin.sandbox import Sandbox

    Sandbox.load(directory.absolute()).start_broker(broker_id)
    typer.echo(f"broker {broker_id} runs")


@sandbox_app.command()
@bounded
def down(directory: DirectoryOption = DEFAULT_DIRECTORY) -> None:
    """End exactly what `up` started, and remove the folder."""
    from kadmin.sandbox import Sandbox

    try:
        Sandbox.load(directory.absolute()).down()
    except InvalidInputError as absent:
        typer.echo(absent.message)
        return
    typer.echo("the sandbox is gone")


def _answer(sandbox: Sandbox, output: OutputFormat) -> None:
    from kadmin.cli.output import answer

    answer(output, lambda: _text(sandbox), lambda: _value(sandbox))


def _text(sandbox: Sandbox) -> str:
    from kadmin.report.text import table

    rows = [
        [broker["broker_id"], broker["rack"], broker["address"], "runs" if broker["alive"] else "stopped"]
        for broker in _value(sandbox)["brokers"]
    ]
    return f"Kafka {sandbox.spec.version} at {sandbox.connect_string}\n" + table(
        ["broker", "rack", "address", ""], rows
    )


def _value(sandbox: Sandbox) -> dict[str, Any]:
    running = sandbox.brokers
    return {
        "version": sandbox.spec.version,
        "connect": sandbox.connect_string,
        "bootstrap": list(sandbox.bootstrap),
        "zookeepers": [
            {"port": port, "alive": process.alive}
            for port, process in zip(sandbox.zookeeper_ports, sandbox.zookeepers.values(), strict=True)
        ],
        "brokers": [
            {
                "broker_id": broker,
                "rack": sandbox.spec.rack(broker),
                "address": f"127.0.0.1:{port}",
                "alive": broker in running and running[broker].alive,
            }
            for broker, port in sorted(sandbox.broker_ports.items())
        ],
    }


def _setting(given: str) -> tuple[str, str]:
    key, separator, value = given.partition("=")
    if not (key and separator):
        raise UsageError(f"--config {given}: not KEY=VALUE.")
    return key, value
