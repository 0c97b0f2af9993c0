"""`kadmin load build`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.deadline import bounded
from kadmin.cli.inputs import make_folder
from kadmin.cli.output import answer
from kadmin.cli.propose import (
    ConfOption,
    MasterOption,
    RemoteOption,
    require_libraries,
    spark_libraries,
    spark_options,
    stages,
)
from kadmin.errors import UsageError
from kadmin.inventory.samples import PROMETHEUS

if TYPE_CHECKING:
    from collections.abc import Mapping

load_app = typer.Typer(help="Build a history of load by hour of the week.")


@load_app.callback()
def load() -> None:
    """Build a history of load by hour of the week."""


OutOption: TypeAlias = Annotated[
    Path,
    typer.Option("--out", metavar="DIR", help="The folder to write; existing files are updated."),
]
SamplesOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--samples", metavar="PATH", help="A folder of samples, a file, or a URL."),
]
TableOption: TypeAlias = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="Name of a Spark table of samples.")
]
FormatOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--format", metavar="FORMAT", help="parquet, csv, json, prometheus, or another of Spark's."
    ),
]
NamesOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--names", metavar="FILE", help="Additional Prometheus series; they take precedence."
    ),
]
ReaderOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="An option of the format's reader."),
]


MeanOption: TypeAlias = Annotated[
    bool, typer.Option("--mean", help="The mean of each hour over the weeks. The default.")
]
MaxOption: TypeAlias = Annotated[
    bool, typer.Option("--max", help="The highest of each hour over the weeks.")
]
P95Option: TypeAlias = Annotated[
    bool, typer.Option("--p95", help="The 95th percentile of each hour over the weeks.")
]
PerWeekOption: TypeAlias = Annotated[
    bool, typer.Option("--per-week", help="Keep a row for each week.")
]
ExplainOption: TypeAlias = Annotated[
    bool, typer.Option("--explain", help="Also show Spark's execution plans.")
]


@load_app.command()
@bounded
def build(
    *,
    out: OutOption,
    samples: SamplesOption = None,
    table: TableOption = None,
    format_: FormatOption = "parquet",
    reader: ReaderOption = None,
    names: NamesOption = None,
    mean: MeanOption = False,
    max_: MaxOption = False,
    p95: P95Option = False,
    per_week: PerWeekOption = False,
    master: MasterOption = None,
    remote: RemoteOption = None,
    conf: ConfOption = None,
    explain: ExplainOption = False,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Build the load of each hour of the week from samples, on Spark.

    A file of samples is aggregated by hour once; the next run reads only new files. Writes
    partition_load.parquet, which a request names in spec.load, and broker_load.parquet, which
    compares the load with the brokers' own figures.
    """
    if (samples is None) == (table is None):
        raise UsageError("Give either --samples or --table.")
    if names is not None and format_ != PROMETHEUS:
        raise UsageError(f"--names goes with --format {PROMETHEUS}.")
    merge = _merge({"mean": mean, "max": max_, "p95": p95, "per-week": per_week})
    require_libraries(spark_libraries(remote))
    settings = spark_options(master, remote, conf or [])
    from kadmin.planner.load_build.job import LoadTask, build_load
    from kadmin.planner.load_build.prometheus_names import prometheus_names
    from kadmin.planner.load_build.sources import SampleSource
    from kadmin.planner.load_build.weeks import WeekMerge
    from kadmin.report.load import load_text

    series = prometheus_names(names) if format_ == PROMETHEUS else None
    source = SampleSource(
        samples or table or "", format_, _reader_options(reader or []), table is not None, series
    )
    make_folder(out)
    task = LoadTask(source, out, None if merge == "per-week" else WeekMerge(merge), explain)
    with stages() as show:
        report = build_load(task, settings, show)
    plans = {"plans": dict(report.plans)} if explain else {}
    answer(
        output, lambda: load_text(report.figures, report.plans), lambda: {**report.figures, **plans}
    )


def _merge(given: Mapping[str, bool]) -> str:
    """Return the name of the flag that merges weeks; raises UsageError for several."""
    chosen = [name for name, is_given in given.items() if is_given]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other.")
    return chosen[0] if chosen else "mean"


def _reader_options(given: list[str]) -> dict[str, str]:
    pairs = [setting.partition("=") for setting in given]
    if wrong := [key for key, equals, _ in pairs if not equals]:
        raise UsageError(f"--option {wrong[0]} is not KEY=VALUE.")
    return {key: value for key, _, value in pairs}
