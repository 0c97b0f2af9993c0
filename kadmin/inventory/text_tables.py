"""Reads and writes CSV and JSON lines, with the standard library alone.

CSV follows RFC 4180, in UTF-8 with a header line. An empty cell is null; a list of integers is
`1;2;3`, the empty list `;`. JSON lines have one object per line; an absent key is null.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any

from kadmin.errors import InvalidInputError
from kadmin.inventory.columns import ColumnKind, Misread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kadmin.inventory.columns import Column, Columns, InventoryTable

_INTEGER = "-?[0-9]{1,19}"
EMPTY_LIST = ";"
CSV_CELLS = {
    ColumnKind.INT: re.compile(_INTEGER),
    ColumnKind.LONG: re.compile(_INTEGER),
    ColumnKind.DOUBLE: re.compile(
        r"-?(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?|[nN][aA][nN]|[iI][nN][fF])"
    ),
    ColumnKind.BOOL: re.compile("[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]"),
    ColumnKind.INTS: re.compile(f"{EMPTY_LIST}|{_INTEGER}(?:{EMPTY_LIST}{_INTEGER})*"),
    ColumnKind.STRING: re.compile("(?s:.*)"),
}
"""The grammar of cells that are not empty, by kind of column; valid as RE2's regular expressions
too, for Arrow."""


def read_csv(text: str, table: InventoryTable, name: str) -> dict[str, list[Any]]:
    """Decode a CSV table; raises InvalidInputError for a malformed file.

    Cells of a wrong type become Misread.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        # Blank lines are skipped.
        rows = (row for row in reader if len(row) > 1 or "".join(row).strip())
        header = next(rows, None)
        if header is None:
            raise InvalidInputError(f"{name} is empty; it needs a header line.")
        cells = _csv_columns(header, rows, name)
    except csv.Error as error:
        raise InvalidInputError(
            f"{name} is not CSV: line {reader.line_num}.", cause=str(error)
        ) from error
    if len(set(header)) < len(header):
        raise InvalidInputError(f"{name} names a column twice: {', '.join(header)}.")
    kinds = {column.name: column.kind for column in table.columns}
    return {
        column: _csv_cells(values, kinds.get(column, ColumnKind.STRING))
        for column, values in zip(header, cells, strict=True)
    }


def _csv_columns(header: Sequence[str], rows: Iterable[list[str]], name: str) -> list[list[str]]:
    """Return the cells below each name of the header."""
    columns: list[list[str]] = [[] for _ in header]
    # Most cells occur many times: each text is kept once.
    kept: list[dict[str, str]] = [{} for _ in header]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise InvalidInputError(
                f"{name} row {number} has {len(row)} cells, the header has {len(header)}."
            )
        for column, texts, cell in zip(columns, kept, row, strict=True):
            column.append(texts.setdefault(cell, cell))
    return columns


def read_jsonl(text: str, table: InventoryTable, name: str) -> dict[str, list[Any]]:
    """Decode JSON lines; raises InvalidInputError for a malformed line.

    Values of a wrong type become Misread.
    """
    kinds = {column.name: column.kind for column in table.columns}
    rows = [_json_row(line, number, name) for number, line in enumerate(_lines(text), start=1)]
    seen = dict.fromkeys(key for row in rows for key in row)
    names = list(seen) if rows else [column.name for column in table.columns]
    return {
        key: [json_cell(row.get(key), kinds.get(key, ColumnKind.STRING)) for row in rows]
        for key in names
    }


def write_csv(columns: Columns, table: InventoryTable) -> str:
    """Encode a CSV table with the table's columns in order."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows(
        zip(*(_csv_texts(column, columns[column.name]) for column in table.columns), strict=True)
    )
    return out.getvalue()


def write_jsonl(columns: Columns, table: InventoryTable) -> str:
    """Encode JSON lines without null values."""
    names = [column.name for column in table.columns]
    rows = zip(*(columns[name] for name in names), strict=True)
    return "".join(
        json.dumps(
            {name: value for name, value in zip(names, row, strict=True) if value is not None},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        + "\n"
        for row in rows
    )


def json_cell(value: object, kind: ColumnKind) -> object:
    """Convert a decoded JSON value to its column's type: lists to tuples, DOUBLE to float."""
    if value is None:
        return None
    if kind in (ColumnKind.INT, ColumnKind.LONG):
        return value if _is_int(value) else Misread()
    if kind is ColumnKind.DOUBLE:
        return (
            float(value)
            if isinstance(value, int | float) and not isinstance(value, bool)
            else Misread()
        )
    if kind is ColumnKind.BOOL:
        return value if isinstance(value, bool) else Misread()
    if kind is ColumnKind.STRING:
        return value if isinstance(value, str) else Misread()
    whole = isinstance(value, list) and all(each is None or _is_int(each) for each in value)
    return tuple(value) if isinstance(value, list) and whole else Misread()


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _lines(text: str) -> Iterable[str]:
    return (line for line in text.split("\n") if line.strip())


def _json_row(line: str, number: int, name: str) -> dict[str, Any]:
    try:
        row = json.loads(line, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{name} row {number} is not JSON.", cause=str(error)) from error
    if not isinstance(row, dict):
        raise InvalidInputError(f"{name} row {number} is not a JSON object.")
    return row


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        raise ValueError("a key occurs twice in the object")
    return keys


def _csv_cells(cells: Sequence[str], kind: ColumnKind) -> list[object]:
    decoded = {cell: _csv_cell(cell, kind) for cell in set(cells)}
    return [decoded[cell] for cell in cells]


def _csv_cell(cell: str, kind: ColumnKind) -> object:
    if not cell:
        return None
    return _DECODED[kind](cell) if CSV_CELLS[kind].fullmatch(cell) else Misread()


def _csv_ints(cell: str) -> tuple[int, ...]:
    return () if cell == EMPTY_LIST else tuple(map(int, cell.split(EMPTY_LIST)))


_DECODED: dict[ColumnKind, Callable[[str], object]] = {
    ColumnKind.INT: int,
    ColumnKind.LONG: int,
    ColumnKind.DOUBLE: float,
    ColumnKind.BOOL: lambda cell: cell.lower() == "true",
    ColumnKind.STRING: str,
    ColumnKind.INTS: _csv_ints,
}


def _csv_texts(column: Column, values: Sequence[Any]) -> list[str]:
    if column.kind is ColumnKind.BOOL:
        return ["" if value is None else str(value).lower() for value in values]
    if column.kind is ColumnKind.INTS:
        return ["" if ids is None else ";".join(map(str, ids)) or EMPTY_LIST for ids in values]
    if column.kind is ColumnKind.DOUBLE:
        return ["" if value is None else repr(float(value)) for value in values]
    return ["" if value is None else str(value) for value in values]
