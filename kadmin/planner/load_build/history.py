"""Keeps hourly roll-ups of samples and the hours of partitions in a folder.

They are kept by day, with their source files.

    hourly/index.json             the sample files that are in, and the folders of each day:
                                  replaced as the last step
    hourly/000003/day=2026-03-02  Parquet files of one day: its roll-ups, or the hours of
                                  partitions made of them
    hourly/lock                   held with flock by the run that writes

A run that ends before it has replaced the index leaves folders that no index names; the next run
removes them. The next run also makes the hours of days that have none yet.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kadmin.errors import BusyError, InvalidInputError, NotCompletedError
from kadmin.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from kadmin.planner.load_build.sample_files import SampleFile

INDEX = "index.json"


@dataclass(frozen=True, slots=True)
class Day:
    """A day of samples: the folder of roll-ups, the folder of hourly partition rates, and figures.

    Folders are relative to `hourly`; `hours` is None until it is written. `samples` counts samples,
    `sparse` roll-ups that cover little of their hour. `fleet`: samples name their cluster.
    Hours count from 1970.
    """

    roll_ups: str
    samples: int
    sparse: int
    fleet: bool
    first_hour: int
    last_hour: int
    hours: str | None = None

    @property
    def number(self) -> int:
        """Return the days from 1970 to this one."""
        return self.first_hour // 24


@dataclass(frozen=True, slots=True)
class History:
    """The sample files, by name, and the days of the folder.

    `made` says how the tables in the folder above were made of just these days; None where they
    were not.
    """

    files: Mapping[str, SampleFile] = field(default_factory=dict)
    days: Mapping[str, Day] = field(default_factory=dict)
    made: str | None = None

    def with_run(self, files: Mapping[str, SampleFile], days: Mapping[str, Day]) -> History:
        """Return the history after a run that read these files and rolled up these days.

        Sparse hours are bounded by samples of the hours beside them: those of the days beside are
        to be made anew.
        """
        bounded = neighbouring_days(days.values())
        kept = {
            name: replace(day, hours=None) if day.sparse and day.number in bounded else day
            for name, day in self.days.items()
        }
        return History({**self.files, **files}, {**kept, **days})

    def with_hours(self, folders: Mapping[str, str]) -> History:
        """Return the history after the hours of days were made, in these folders."""
        made = {name: replace(self.days[name], hours=folder) for name, folder in folders.items()}
        return replace(self, days={**self.days, **made})


def neighbouring_days(days: Iterable[Day]) -> set[int]:
    """Return the numbers of the days before and after each of these."""
    return {day.number + step for day in days for step in (-1, 1)}


@dataclass(frozen=True, slots=True)
class NewSamples:
    """The input of a run: sample files (None: all of the source), and the days whose rows it reads.

    `days` are ranges of days, first and last, outside of which rows are skipped; empty for no
    limit. `merges` are days whose roll-ups are kept and get the new rows.
    """

    files: tuple[str, ...] | None
    days: tuple[tuple[str, str], ...] = ()
    merges: tuple[str, ...] = ()


def to_read(history: History, files: Mapping[str, SampleFile]) -> NewSamples | None:
    """Return the samples that are new since the last run, or None for none.

    New files merge with the days that they touch. A file that changed has its days made anew, from
    every file that has rows of them. Files that are gone stay in the roll-ups.
    """
    fresh = {name: each for name, each in files.items() if history.files.get(name) != each}
    if not fresh:
        return None
    if not fresh.keys() & history.files.keys():
        touched = [day for day in history.days if any(each.has(day) for each in fresh.values())]
        return NewSamples(
            None if fresh.keys() == files.keys() else tuple(sorted(fresh)),
            (),
            tuple(sorted(touched)),
        )
    spans = {(each.first_day, each.last_day) for each in fresh.values()}
    spans |= {
        (history.files[name].first_day, history.files[name].last_day)
        for name in fresh
        if name in history.files
    }
    needed = [name for name, each in files.items() if any(each.meets(*span) for span in spans)]
    return NewSamples(tuple(sorted(needed)), tuple(sorted(spans)))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder of roll-ups; raises BusyError where another run has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        raise NotCompletedError(
            f"Cannot write {folder}.", cause=error.strerror or str(error)
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError(
                f"Another process builds the load in {folder.parent}.",
                next_step="run the command again when it has ended",
            ) from error
        yield


def read_history(folder: Path) -> History:
    """Return the history of a folder of roll-ups, empty where there is none."""
    from kadmin.planner.load_build.sample_files import SampleFile

    path = folder / INDEX
    if not path.exists():
        return History()
    try:
        value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        files = {name: SampleFile(*each) for name, each in value["files"].items()}
        return History(
            files, {name: Day(**each) for name, each in value["days"].items()}, value.get("made")
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError(
            f"{path} was not written by kadmin.", cause=str(error), next_step=f"rm -r {folder}"
        ) from error


def write_history(folder: Path, history: History) -> None:
    """Replace the index, and remove every folder that it does not name."""
    files = {name: list(each.fields()) for name, each in sorted(history.files.items())}
    days = {name: asdict(day) for name, day in sorted(history.days.items())}
    index = {"files": files, "days": days, "made": history.made}
    write_whole(folder / INDEX, json.dumps(index))
    remove_leftovers(folder, history)


def remove_leftovers(folder: Path, history: History) -> None:
    """Remove the folders of runs that ended early, and days that later runs replaced."""
    named = {folder for day in history.days.values() for folder in (day.roll_ups, day.hours)}
    for run in (each for each in folder.iterdir() if each.is_dir()):
        for day in run.iterdir():
            if f"{run.name}/{day.name}" not in named:
                _remove(day)
        if not any(run.iterdir()):
            run.rmdir()


def next_run(folder: Path) -> str:
    """Return the name of a folder that no run has used."""
    last = max((int(each.name) for each in folder.iterdir() if each.name.isdigit()), default=0)
    return f"{last + 1:06d}"


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
