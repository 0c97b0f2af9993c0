"""Lists the files of samples in a folder, with the days that each one has rows of."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import parquet

from kadmin.errors import InvalidInputError
from kadmin.inventory.columns import CLUSTER, ColumnKind
from kadmin.inventory.parquet_tables import arrow_types
from kadmin.inventory.samples import SAMPLE_COLUMNS, TIME
from kadmin.next_step import command

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PARQUET = ".parquet"
_PLAIN = {
    **{kind: [each] for kind, each in arrow_types(pa).items()},
    ColumnKind.TIME: [pa.timestamp("us"), pa.timestamp("us", "UTC")],
}
_ANY_DAY = ("0001-01-01", "9999-12-31")


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A file's size and time when it was read, and its first and last day in UTC.

    The widest range where unknown. `plain`: its columns are of the types that kadmin writes.
    """

    size_bytes: int
    modified_ns: int
    first_day: str
    last_day: str
    plain: bool = False

    def has(self, day: str) -> bool:
        """Whether the file may have rows of a day."""
        return self.first_day <= day <= self.last_day

    def meets(self, first_day: str, last_day: str) -> bool:
        """Whether the file may have rows of one of these days."""
        return self.first_day <= last_day and first_day <= self.last_day

    def fields(self) -> tuple[int | str, ...]:
        """Return the values, in their order."""
        return astuple(self)


def sample_files(
    source: Path, endings: tuple[str, ...], recorded: Mapping[str, SampleFile]
) -> dict[str, SampleFile]:
    """Return the files below a folder with one of the endings, or the one file, by relative name.

    Files whose name starts with a dot or an underscore are still being written. Only files that are
    not `recorded` with the same size and time are opened. Raises InvalidInputError for a folder
    without samples, and for a file that is no sample.
    """
    root = source if source.is_dir() else source.parent
    paths = sorted(source.rglob("*")) if source.is_dir() else [source]
    found = {}
    for path in paths:
        name = str(path.relative_to(root))
        if (
            path.is_file()
            and (path == source or path.name.endswith(endings))
            and not path.name.startswith((".", "_"))
        ):
            found[name] = _described(path, recorded.get(name))
    if not found:
        raise InvalidInputError(
            f"There are no samples in {source}.",
            cause=f"it has no file {' or '.join(endings)}"
            if source.exists()
            else "it does not exist",
            next_step=command("sample", "--once", "--out", source),
        )
    return found


def _described(path: Path, recorded: SampleFile | None) -> SampleFile:
    status = path.stat()
    if recorded is not None and (recorded.size_bytes, recorded.modified_ns) == (
        status.st_size,
        status.st_mtime_ns,
    ):
        return recorded
    if path.suffix != PARQUET:
        return SampleFile(status.st_size, status.st_mtime_ns, *_ANY_DAY)
    try:
        footer = parquet.read_metadata(path)
    except pa.ArrowInvalid as error:
        raise InvalidInputError(f"{path} is not a Parquet file.", cause=str(error)) from error
    if TIME not in footer.schema.names:
        raise InvalidInputError(f"{path} holds no samples.", cause=f"it has no column {TIME}")
    return SampleFile(status.st_size, status.st_mtime_ns, *_days(footer), _is_plain(footer))


def _is_plain(footer: Any) -> bool:  # noqa: ANN401 - pyarrow ships no type information
    schema = footer.schema.to_arrow_schema()
    required = {each.name for each in SAMPLE_COLUMNS if each.required}
    return required <= {*schema.names} and all(
        schema.field(each.name).type in _PLAIN[each.kind]
        for each in (CLUSTER, *SAMPLE_COLUMNS)
        if each.name in schema.names
    )


def _days(footer: Any) -> tuple[str, str]:  # noqa: ANN401 - pyarrow ships no type information
    column = footer.schema.names.index(TIME)
    groups = [
        footer.row_group(number).column(column).statistics
        for number in range(footer.num_row_groups)
    ]
    if not groups or any(
        each is None or not each.has_min_max or not isinstance(each.min, datetime)
        for each in groups
    ):
        return _ANY_DAY
    ends = [(each.min, each.max) for each in groups]
    return min(str(first)[:10] for first, _ in ends), max(str(last)[:10] for _, last in ends)
