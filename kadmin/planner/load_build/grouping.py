"""Groups rows of Arrow tables by their columns, in numpy: a group is a range of sorted rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[Any]

Table: TypeAlias = Any  # pyarrow ships no type information

MOST_NUMBERS = 2**31


@dataclass(frozen=True, slots=True)
class Key:
    """A column as numbers from 0 up to `span`, in the order of its values, and the way back."""

    numbers: Numbers
    span: int
    values: Callable[[Numbers], Any]

    def taken(self, rows: Numbers) -> Key:
        """Return the key of these rows alone."""
        return replace(self, numbers=self.numbers[rows])

    @property
    def column(self) -> Any:  # noqa: ANN401 - pyarrow ships no type information
        """The column as it was."""
        return self.values(self.numbers)

    @property
    def each(self) -> list[Any]:
        """The value of each number."""
        found: list[Any] = self.values(np.arange(self.span)).to_pylist()
        return found


@dataclass(frozen=True)
class RowGroups:
    """Rows in an order in which those of each group are beside each other.

    `number` is that of each row's group, not in this order.
    """

    number: Numbers
    order: Numbers

    @cached_property
    def begins(self) -> Numbers:
        """The place of each group's first row in the order."""
        return np.flatnonzero(np.diff(self.number[self.order], prepend=-1))

    @cached_property
    def ends(self) -> Numbers:
        """The place of each group's last row in the order."""
        return np.append(self.begins[1:], len(self.order))[: len(self.begins)] - 1

    @cached_property
    def of_row(self) -> Numbers:
        """The place of each row's group."""
        found = np.empty(len(self.order), np.int64)
        found[self.order] = np.repeat(np.arange(len(self.begins)), self.ends - self.begins + 1)
        return found

    @property
    def first(self) -> Numbers:
        """The first row of each group."""
        return self.order[self.begins]

    @property
    def last(self) -> Numbers:
        """The last row of each group."""
        return self.order[self.ends]

    def reduced(self, by: np.ufunc, values: Numbers) -> Numbers:
        """Reduce the values of each group."""
        in_order = values[self.order]
        found: Numbers = by.reduceat(in_order, self.begins) if len(self.begins) else in_order
        return found


@dataclass(frozen=True, slots=True)
class Known:
    """Numbers, and which of them are known."""

    values: Numbers
    known: Numbers

    @classmethod
    def of(cls, column: Any) -> Known:  # noqa: ANN401 - see Table
        """Return a column's numbers; null is not known."""
        return cls(filled(column, 0), np.asarray(column.is_valid()))

    @property
    def column(self) -> Any:  # noqa: ANN401 - see Table
        """The column that is null where they are not known."""
        return pa.array(self.values, mask=~self.known)

    @property
    def or_zero(self) -> Numbers:
        """The numbers, 0 where they are not known."""
        return np.where(self.known, self.values, 0)

    def over(self, groups: RowGroups, by: np.ufunc = np.add) -> Known:
        """Reduce those of each group that are known."""
        least = np.iinfo(np.int64).min if by is np.maximum else 0
        return Known(
            groups.reduced(by, np.where(self.known, self.values, least)),
            groups.reduced(np.logical_or, self.known),
        )

    def where(self, wanted: Numbers) -> Known:
        """Return them with others unknown."""
        return Known(self.values, self.known & wanted)

    def at(self, rows: Numbers) -> Known:
        """Return those of these rows."""
        return Known(self.values[rows], self.known[rows])

    def times(self, other: Known) -> Known:
        """Multiply them by others."""
        return Known(self.values * other.values, self.known & other.known)

    def per(self, other: Known) -> Known:
        """Divide them by others; by 0 it is not known."""
        known = self.known & other.known & (other.values != 0)
        return Known(self.values / np.where(known, other.values, 1), known)

    def or_else(self, other: Known) -> Known:
        """Return them, and others where they are not known."""
        return Known(np.where(self.known, self.values, other.values), self.known | other.known)

    def thousandths(self) -> Known:
        """Return them as whole numbers of thousandths: sums do not depend on the order."""
        return Known(half_up(np.where(self.known, self.values, 0.0) * 1000), self.known)

    def quantile(self, groups: RowGroups, part: float) -> Known:
        """Return the quantile of each group's known ones, between two of them in proportion."""
        order = np.lexsort((np.where(self.known, self.values, np.inf), groups.number))
        in_order, count = self.values[order], groups.reduced(np.add, self.known.astype(np.int64))
        place = np.maximum(count - 1, 0) * part
        below, above = (
            groups.begins + ends.astype(np.int64) for ends in (np.floor(place), np.ceil(place))
        )
        low, high = in_order[below], in_order[above]
        between = (np.ceil(place) - place) * low + (place - np.floor(place)) * high
        return Known(np.where((below == above) | (low == high), low, between), count > 0)


def grouped(keys: Sequence[Key]) -> RowGroups:
    """Return the groups of equal rows, in the order of their keys."""
    number = numbered(keys)
    return RowGroups(number, np.argsort(number, stable=True))


def numbered(keys: Sequence[Key]) -> Numbers:
    """Return a number below 2^31 for each row, equal for equal rows, in the order of the rows."""
    number, span = np.zeros(len(keys[0].numbers), np.int64), 1
    for each in keys:
        number, span = number * each.span + each.numbers, span * each.span
        if span > MOST_NUMBERS:
            number, span = np.unique(number, return_inverse=True)[1], len(number)
    return number


def names(column: Any) -> Key:  # noqa: ANN401 - see Table
    """Return a column of names as a key; no name is the empty one."""
    if not pa.types.is_dictionary(column.type):
        column = pc.dictionary_encode(column)
    column = column.unify_dictionaries().combine_chunks()
    given = column.dictionary.cast(pa.string())
    found = pc.unique(pa.concat_arrays([pa.array([""]), given]))
    found = found.take(pc.sort_indices(found))
    places = np.append(np.asarray(pc.index_in(given, found), np.int64), 0)

    def values(picked: Numbers) -> Any:  # noqa: ANN401 - as above
        return pa.DictionaryArray.from_arrays(pa.array(picked, pa.int32()), found)

    return Key(places[filled(column.indices, -1)], len(found), values)


def integers(column: Any, missing: int) -> Key:  # noqa: ANN401 - see Table
    """Return a column of integers of 32 bits as a key, with `missing` in place of null."""
    given = filled(column, missing).astype(np.int64)
    lowest, highest = (int(given.min()), int(given.max())) if len(given) else (0, 0)

    def values(picked: Numbers) -> Any:  # noqa: ANN401 - as above
        return pa.array(picked + lowest, pa.int32())

    return Key(given - lowest, highest - lowest + 1, values)


def flags(column: Any) -> Key:  # noqa: ANN401 - see Table
    """Return a column of true and false as a key."""
    return Key(np.asarray(column).astype(np.int64), 2, lambda picked: pa.array(picked != 0))


def filled(column: Any, missing: float) -> Numbers:  # noqa: ANN401 - see Table
    """Return a column's numbers, with `missing` in place of null."""
    return np.asarray(column.fill_null(missing) if column.null_count else column)


def is_one_of(key: Key, wanted: Sequence[str]) -> Numbers:
    """Whether each row has one of these values."""
    return np.isin(key.each, wanted)[key.numbers]


def half_up(values: Numbers) -> Numbers:
    """Round numbers that are not negative to the nearest integer, halves up."""
    whole = np.trunc(values)
    return (whole + (values - whole >= 0.5)).astype(np.int64)  # noqa: PLR2004 - a half
