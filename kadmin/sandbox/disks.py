"""Several log directories of a broker, each a disk: with sizes, failures and repairs.

A disk with a size is a tmpfs of its own, which needs root on Linux. A disk that fails refuses the
next write to it, and what its broker reads of it at a start: a folder lies in the place of each of
these files. That needs no right on the machine. Sources: tmpfs(5), CheckpointFile.java,
MetaPropertiesEnsemble.java.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from kadmin.errors import InvalidInputError, UsageError
from kadmin.plan.units import format_size, parse_size
from kadmin.sandbox.processes import lacking, require

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

META = "meta.properties"
"""The file of ids that a broker reads from each log directory when it starts."""
_KEPT = f"{META}.kept"
_WRITTEN = ("replication-offset-checkpoint.tmp", "recovery-point-offset-checkpoint.tmp")
"""Files that a broker writes to a log directory again and again."""
_MOST = 99
_SMALLEST_BYTES = 8_000_000
_CANNOT = "Cannot mount or unmount a disk of the sandbox."


@dataclass(frozen=True, slots=True)
class Disks:
    """The number of disks of each broker, and the bytes of each; None: those of the machine's."""

    number: int
    size_bytes: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2` or `2:64MB`; raises UsageError."""
        number, separator, size = text.partition(":")
        if not (number.isascii() and number.isdecimal() and 1 <= int(number) <= _MOST):
            raise UsageError(f"--disks {text}: write for example 2, or 2:64MB.")
        try:
            size_bytes = parse_size(size) if separator else None
        except ValueError as error:
            raise UsageError(f"--disks {text}: {error}.") from error
        if size_bytes is not None and size_bytes < _SMALLEST_BYTES:
            raise UsageError(f"--disks {text}: at least {format_size(_SMALLEST_BYTES)}.")
        return cls(int(number), size_bytes)

    def folders(self, broker: Path) -> tuple[Path, ...]:
        """Return the log directories of the broker in a folder."""
        return tuple(broker / f"disk-{number}" for number in range(1, self.number + 1))

    def make(self, folders: Iterable[Path]) -> None:
        """Make log directories, mounted where they have a size; raises NotCompletedError."""
        for folder in folders:
            folder.mkdir(parents=True)
            if self.size_bytes is not None:
                size = f"size={self.size_bytes}"
                require(["mount", "-t", "tmpfs", "-o", size, "kadmin", str(folder)], _CANNOT)


def settings(folders: Sequence[Path]) -> dict[str, str]:
    """Return a broker's settings of its disks; it writes to each every second."""
    return {
        "log.dirs": ",".join(map(str, folders)),
        "log.initial.task.delay.ms": "1000",
        "log.flush.offset.checkpoint.interval.ms": "1000",
        "replica.high.watermark.checkpoint.interval.ms": "1000",
    }


def unmount(folders: Iterable[Path]) -> None:
    """Unmount log directories; those that are not mounted do not matter."""
    for folder in folders:
        if folder.is_mount():
            require(["umount", "--lazy", str(folder)], _CANNOT)


def fail(folder: Path) -> None:
    """Make a log directory fail, now and at each start of its broker."""
    if not (folder / META).is_dir():
        if (folder / META).exists():
            (folder / META).rename(folder / _KEPT)
        (folder / META).mkdir()
    for file in (folder / name for name in _WRITTEN):
        while not file.is_dir():
            with suppress(FileExistsError):  # the broker was writing it
                file.unlink(missing_ok=True)
                file.mkdir()


def repair(folder: Path) -> None:
    """Take back what `fail` did; the broker reads the directory again when it starts."""
    for name in (*_WRITTEN, META):
        if (folder / name).is_dir():
            (folder / name).rmdir()
    if (folder / _KEPT).exists():
        (folder / _KEPT).rename(folder / META)


def require_mounts() -> None:
    """Raise InvalidInputError where this machine cannot give disks a size."""
    if (reason := why_not()) is not None:
        raise InvalidInputError(
            f"Disks cannot have a size here: {reason}.",
            next_step="name their number alone, as --disks 2",
        )


def why_not() -> str | None:
    """Return the reason that this machine cannot give disks a size, None where it can."""
    return lacking("mount", "umount", package="util-linux")
