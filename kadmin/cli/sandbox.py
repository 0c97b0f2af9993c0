"""sandbox: real Kafka clusters on this machine, in ZooKeeper or KRaft mode, to practise on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kadmin.cli.deadline import bounded
from kadmin.cli.options import OutputFormat, OutputOption
from kadmin.errors import InvalidInputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.sandbox import Sandbox
    from kadmin.sandbox.processes import Process

sandbox_app = typer.Typer(help="Run Kafka clusters on this machine, to practise on.")

DirectoryOption = Annotated[
    Path, typer.Option("--dir", envvar="KADMIN_SANDBOX", metavar="DIR", help="The folder that holds the sandbox.")
]
BrokerArgument = Annotated[int, typer.Argument(metavar="ID", help="A broker's id.")]
ControllerArgument = Annotated[int, typer.Argument(metavar="ID", help="A controller's id, 101 to 103.")]
ServerArgument = Annotated[int, typer.Argument(metavar="ID", help="A broker's or a controller's id.")]
KillOption = Annotated[bool, typer.Option("--kill", help="End it by SIGKILL.")]
DEFAULT_DIRECTORY = Path("sandbox")


@sandbox_app.command()
@bounded
def up(
    directory: DirectoryOption = DEFAULT_DIRECTORY,
    *,
    version: Annotated[
        str | None, typer.Option("--version", help="Kafka version.", show_default="2.8.2, with --kraft 4.4.0")
    ] = None,
    kraft: Annotated[
        bool, typer.Option("--kraft", help="KRaft mode: three controllers, no ZooKeeper. Implied from 4.0 on.")
    ] = False,
    brokers: Annotated[int, typer.Option("--brokers", min=1, help="Brokers, with ids from 1.")] = 3,
    racks: Annotated[int, typer.Option("--racks", min=1, help="Racks r1, r2, ... in turn.")] = 3,
    zookeepers: Annotated[int, typer.Option("--zookeepers", help="ZooKeeper servers, 1 or 3.")] = 1,
    chroot: Annotated[str, typer.Option("--chroot", metavar="/PATH", help="Chroot of the cluster.")] = "",
    four_letter_words: Annotated[
        bool, typer.Option("--four-letter-words/--no-four-letter-words", help="Whether ZooKeeper answers them.")
    ] = True,
    config: Annotated[
        list[str] | None,
        typer.Option("--config", metavar="KEY=VALUE", help="Setting of every broker, and of every controller."),
    ] = None,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Start a cluster and wait until its brokers serve. Jars are fetched once, then kept."""
    from kadmin.sandbox import Sandbox, SandboxSpec
    from kadmin.sandbox.jars import DEFAULT_KRAFT_VERSION, DEFAULT_VERSION, require_version, runs_zookeeper
    from kadmin.sandbox.spec import KRAFT, ZOOKEEPER

    version = version or (DEFAULT_KRAFT_VERSION if kraft else DEFAULT_VERSION)
    require_version(version)
    mode = KRAFT if kraft or not runs_zookeeper(version) else ZOOKEEPER
    spec = SandboxSpec(
        directory.absolute(),
        version,
        brokers,
        min(racks, brokers),
        zookeepers,
        chroot,
        four_letter_words,
        dict(_setting(each) for each in config or ()),
        mode,
    )
    quorum = "controllers 101 to 103" if spec.kraft else f"{zookeepers} ZooKeeper"
    typer.echo(f"starting Kafka {version}: brokers 1 to {brokers}, {quorum}", err=True)
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
    """Show the sandbox's addresses and which of its servers run."""
    from kadmin.sandbox import Sandbox

    _answer(Sandbox.load(directory.absolute()), output)


@sandbox_app.command("stop-broker")
@bounded
def stop_broker(
    broker_id: BrokerArgument,
    directory: DirectoryOption = DEFAULT_DIRECTORY,
    *,
    kill: KillOption = False,
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


@sandbox_app.command("stop-controller")
@bounded
def stop_controller(
    controller_id: ControllerArgument, directory: DirectoryOption = DEFAULT_DIRECTORY, *, kill: KillOption = False
) -> None:
    """End one controller (KRaft mode); its data stays."""
    from kadmin.sandbox import Sandbox

    Sandbox.load(directory.absolute()).stop_controller(controller_id, kill=kill)
    typer.echo(f"controller {controller_id} is stopped")


@sandbox_app.command("start-controller")
@bounded
def start_controller(controller_id: ControllerArgument, directory: DirectoryOption = DEFAULT_DIRECTORY) -> None:
    """Start a stopped controller again, on its old port and data."""
    from kadmin.sandbox import Sandbox

    Sandbox.load(directory.absolute()).start_controller(controller_id)
    typer.echo(f"controller {controller_id} runs")


@sandbox_app.command()
@bounded
def freeze(server_id: ServerArgument, directory: DirectoryOption = DEFAULT_DIRECTORY) -> None:
    """Suspend a broker or a controller.

    Its connections stay open, and it answers nothing until it is thawed.
    """
    from kadmin.sandbox import Sandbox

    Sandbox.load(directory.absolute()).freeze(server_id)
    typer.echo(f"server {server_id} is frozen")


@sandbox_app.command()
@bounded
def thaw(server_id: ServerArgument, directory: DirectoryOption = DEFAULT_DIRECTORY) -> None:
    """Let a frozen broker or controller go on."""
    from kadmin.sandbox import Sandbox

    Sandbox.load(directory.absolute()).thaw(server_id)
    typer.echo(f"server {server_id} runs")


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

    value = _value(sandbox)
    rows = [
        [server_id, server.get("rack", ""), server["address"], "runs" if server["alive"] else "stopped"]
        for kind in ("controller", "broker")
        for server in value[f"{kind}s"]
        for server_id in [f"{kind} {server[f'{kind}_id']}"]
    ]
    address = ",".join(sandbox.bootstrap) if sandbox.spec.kraft else sandbox.connect_string
    return f"Kafka {sandbox.spec.version} at {address}\n" + table(["server", "rack", "address", ""], rows)


def _value(sandbox: Sandbox) -> dict[str, Any]:
    spec, controllers, brokers = sandbox.spec, sandbox.controllers, sandbox.brokers
    return {
        "version": spec.version,
        "mode": spec.mode,
        "connect": None if spec.kraft else sandbox.connect_string,
        "bootstrap": list(sandbox.bootstrap),
        "zookeepers": [
            {"port": port, "alive": process.alive}
            for port, process in zip(sandbox.zookeeper_ports, sandbox.zookeepers.values(), strict=True)
        ],
        "controllers": [
            {"controller_id": controller, **_seen(controller, port, controllers)}
            for controller, port in sorted(sandbox.controller_ports.items())
        ],
        "brokers": [
            {"broker_id": broker, "rack": spec.rack(broker), **_seen(broker, port, brokers)}
            for broker, port in sorted(sandbox.broker_ports.items())
        ],
    }


def _seen(server_id: int, port: int, running: Mapping[int, Process]) -> dict[str, Any]:
    return {"address": f"127.0.0.1:{port}", "alive": server_id in running and running[server_id].alive}


def _setting(given: str) -> tuple[str, str]:
    key, separator, value = given.partition("=")
    if not (key and separator):
        raise UsageError(f"--config {given}: not KEY=VALUE.")
    return key, value
