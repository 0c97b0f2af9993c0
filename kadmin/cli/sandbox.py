"""`kadmin sandbox`: starts, changes and ends real Kafka clusters on this machine."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kadmin.cli import options
from kadmin.cli.deadline import bounded
from kadmin.cli.output import answer
from kadmin.cli.sandbox_answers import answer_sandbox, lines_to, moved_text, moved_value
from kadmin.cli.sandbox_options import (
    BrokersOption,
    ChrootOption,
    ConfigOption,
    DisksOption,
    FourLetterWordsOption,
    KraftOption,
    LatenciesOption,
    LinkOption,
    QueueOption,
    RacksOption,
    TieredOption,
    VersionOption,
    ZooKeepersOption,
)
from kadmin.errors import InvalidInputError, UsageError
from kadmin.next_step import command
from kadmin.wording import count

if TYPE_CHECKING:
    from kadmin.sandbox import Sandbox

sandbox_app = typer.Typer(help="Run Kafka clusters on this machine, for practice.")

DirectoryOption = Annotated[
    Path,
    typer.Option(
        "--dir", envvar="KADMIN_SANDBOX", metavar="DIR", help="The folder that holds the sandbox."
    ),
]
BrokerArgument = Annotated[int, typer.Argument(metavar="ID", help="A broker's id.")]
ControllerArgument = Annotated[
    int, typer.Argument(metavar="ID", help="A controller's id, 101 to 103.")
]
ServerArgument = Annotated[
    int, typer.Argument(metavar="ID", help="A broker's or a controller's id.")
]
DiskArgument = Annotated[
    str, typer.Argument(metavar="DISK", help="A disk of it: its number from 1, or its path.")
]
KillOption = Annotated[bool, typer.Option("--kill", help="Stop it with SIGKILL.")]
DEFAULT_DIRECTORY = Path("sandbox")


class MigrationStep(StrEnum):
    """The steps from ZooKeeper to KRaft mode, and the way back."""

    START = "start"
    BROKERS = "brokers"
    KRAFT = "kraft"
    FINALIZE = "finalize"
    ROLLBACK = "rollback"


@sandbox_app.command(
    help=(
        "Start a cluster, and wait until its brokers are ready. "
        "Jars are downloaded once, then cached."
    )
)
@bounded
def up(
    directory: DirectoryOption = DEFAULT_DIRECTORY,
    *,
    version: VersionOption = None,
    kraft: KraftOption = False,
    brokers: BrokersOption = 3,
    racks: RacksOption = 3,
    zookeepers: ZooKeepersOption = 1,
    chroot: ChrootOption = "",
    four_letter_words: FourLetterWordsOption = True,
    config: ConfigOption = None,
    link: LinkOption = None,
    queue: QueueOption = "300ms",
    disks: DisksOption = None,
    tiered: TieredOption = False,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Start a cluster, and wait until its brokers are ready."""
    from kadmin.sandbox import Sandbox, SandboxSpec
    from kadmin.sandbox.disks import Disks
    from kadmin.sandbox.jars import (
        DEFAULT_KRAFT_VERSION,
        DEFAULT_VERSION,
        require_version,
        runs_zookeeper,
    )
    from kadmin.sandbox.links import Link
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
        None if link is None else Link.parse(link, queue),
        None if disks is None else Disks.parse(disks),
        tiered,
    )
    answer_sandbox(Sandbox.up(spec, report=lambda text: typer.echo(text, err=True)), output)


@sandbox_app.command()
@bounded
def seed(directory: DirectoryOption = DEFAULT_DIRECTORY) -> None:
    """Create topics with records, spread unevenly over brokers."""
    from kadmin.sandbox.seed import seed as fill

    seeded = fill(_load(directory))
    counts = (
        count(seeded.topics, "topic"),
        count(seeded.partitions, "partition"),
        count(seeded.records, "record"),
    )
    typer.echo(", ".join(counts))


@sandbox_app.command()
@bounded
def traffic(
    directory: DirectoryOption = DEFAULT_DIRECTORY,
    *,
    lasting: Annotated[
        str,
        typer.Option(
            "--for", metavar="TIME", help="Duration in the workload's time: 7d is a week."
        ),
    ] = "1d",
    hour: Annotated[
        str,
        typer.Option(
            "--hour", metavar="TIME", help="Duration of an hour of the workload: 1s is fast."
        ),
    ] = "1h",
    rate: Annotated[
        int,
        typer.Option(
            "--rate",
            metavar="N",
            min=1,
            help="Average number of records in an hour of the workload.",
        ),
    ] = 100,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Chooses the workload.")] = 0,
    topics: Annotated[
        list[str] | None,
        typer.Option(
            "--topic", metavar="NAME", help="Use this topic. Repeatable. Default: all but __*."
        ),
    ] = None,
    latencies: LatenciesOption = None,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Produce and consume records with a daily pattern.

    A few topics get most of the records, and each topic has its own busy hours. The consumer groups
    readers-1 and readers-2 read some of the topics. The same seed gives the same records.
    """
    from kadmin.cli.inputs import read_duration
    from kadmin.sandbox.traffic import run_traffic, topics_of
    from kadmin.sandbox.workload import Workload

    hours, hour_s = read_duration("--for", lasting) / 3600, read_duration("--hour", hour)
    sandbox = _load(directory)
    workload = Workload.of(topics_of(sandbox, topics or ()), rate, seed)
    with lines_to(latencies) as report:
        moved = run_traffic(sandbox, workload, hours, hour_s, report)
    answer(output, lambda: moved_text(moved), lambda: moved_value(moved))


@sandbox_app.command()
@bounded
def status(
    directory: DirectoryOption = DEFAULT_DIRECTORY,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Show the sandbox's addresses and which of its servers run."""
    answer_sandbox(_load(directory), output)


@sandbox_app.command()
@bounded
def stop_broker(
    broker_id: BrokerArgument,
    directory: DirectoryOption = DEFAULT_DIRECTORY,
    *,
    kill: KillOption = False,
) -> None:
    """Stop a broker; its data is kept."""
    _load(directory).stop_broker(broker_id, kill=kill)
    typer.echo(f"broker {broker_id} is stopped")


@sandbox_app.command()
@bounded
def start_broker(broker_id: BrokerArgument, directory: DirectoryOption = DEFAULT_DIRECTORY) -> None:
    """Start a stopped broker again, on its old port and data."""
    _load(directory).start_broker(broker_id)
    typer.echo(f"broker {broker_id} runs")


@sandbox_app.command()
@bounded
def add_broker(
    directory: DirectoryOption = DEFAULT_DIRECTORY,
    *,
    rack: Annotated[
        str | None,
        typer.Option("--rack", metavar="RACK", help="Its rack.", show_default="the next in turn"),
    ] = None,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Add a broker without data.

    It gets the next id. It has no replicas until a plan assigns some: practise the expansion of a
    cluster.
    """
    answer_sandbox(_load(directory).add_broker(rack), output)


@sandbox_app.command()
@bounded
def fail_disk(
    broker_id: BrokerArgument,
    disk: DiskArgument,
    directory: DirectoryOption = DEFAULT_DIRECTORY,
) -> None:
    """Let a disk fail, until it is repaired.

    Its broker cannot write to it from now on, nor read it when it starts.
    """
    sandbox = _load(directory)
    folder = sandbox.disk(broker_id, disk)
    runs = sandbox.fail_disk(broker_id, folder)
    so = "runs" if runs else "does not run"
    typer.echo(f"{folder} has failed; broker {broker_id} {so}")


@sandbox_app.command()
@bounded
def repair_disk(
    broker_id: BrokerArgument,
    disk: DiskArgument,
    directory: DirectoryOption = DEFAULT_DIRECTORY,
) -> None:
    """Repair a disk that failed, and restart its broker.

    A broker reads a failed disk again only when it starts. One that is stopped stays so.
    """
    sandbox = _load(directory)
    folder = sandbox.disk(broker_id, disk)
    if sandbox.repair_disk(broker_id, folder):
        typer.echo(f"{folder} is repaired, and broker {broker_id} was restarted to read it")
        return
    start = command("sandbox start-broker", broker_id, "--dir", directory)
    typer.echo(f"{folder} is repaired; broker {broker_id} does not run: {start}")


@sandbox_app.command()
@bounded
def stop_controller(
    controller_id: ControllerArgument,
    directory: DirectoryOption = DEFAULT_DIRECTORY,
    *,
    kill: KillOption = False,
) -> None:
    """Stop a controller (KRaft mode); its data is kept."""
    _load(directory).stop_controller(controller_id, kill=kill)
    typer.echo(f"controller {controller_id} is stopped")


@sandbox_app.command()
@bounded
def start_controller(
    controller_id: ControllerArgument, directory: DirectoryOption = DEFAULT_DIRECTORY
) -> None:
    """Start a stopped controller on its old port and data."""
    _load(directory).start_controller(controller_id)
    typer.echo(f"controller {controller_id} runs")


@sandbox_app.command()
@bounded
def freeze(server_id: ServerArgument, directory: DirectoryOption = DEFAULT_DIRECTORY) -> None:
    """Suspend a broker or a controller until it is thawed.

    Its connections stay open, but it answers no request.
    """
    _load(directory).freeze(server_id)
    typer.echo(f"server {server_id} is frozen")


@sandbox_app.command()
@bounded
def thaw(server_id: ServerArgument, directory: DirectoryOption = DEFAULT_DIRECTORY) -> None:
    """Resume a frozen broker or controller."""
    _load(directory).thaw(server_id)
    typer.echo(f"server {server_id} runs")


@sandbox_app.command()
@bounded
def migrate(
    step: Annotated[
        MigrationStep, typer.Argument(help="The step; take them in this order.", show_default=False)
    ],
    directory: DirectoryOption = DEFAULT_DIRECTORY,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Migrate a cluster from ZooKeeper to KRaft mode.

    For Kafka 3.4 to 3.9. start: start three controllers, which wait. brokers: restart the brokers,
    so that metadata is written to both sides. kraft: restart the brokers in KRaft mode. finalize:
    restart the controllers without ZooKeeper. rollback: return to ZooKeeper mode, from any step but
    finalize.
    """
    from kadmin.sandbox import migration

    steps = {
        MigrationStep.START: migration.start,
        MigrationStep.BROKERS: migration.brokers,
        MigrationStep.KRAFT: migration.kraft,
        MigrationStep.FINALIZE: migration.finalize,
        MigrationStep.ROLLBACK: migration.rollback,
    }
    answer_sandbox(steps[step](_load(directory)), output)


@sandbox_app.command()
@bounded
def down(directory: DirectoryOption = DEFAULT_DIRECTORY) -> None:
    """Stop all servers of the sandbox, and remove its folder."""
    try:
        _load(directory).down()
    except InvalidInputError as absent:
        typer.echo(absent.message)
        return
    typer.echo("the sandbox is removed")


def _load(directory: Path) -> Sandbox:
    from kadmin.sandbox import Sandbox

    return Sandbox.load(directory.absolute())


def _setting(given: str) -> tuple[str, str]:
    key, separator, value = given.partition("=")
    if not (key and separator):
        raise UsageError(f"--config {given}: not KEY=VALUE.")
    return key, value
