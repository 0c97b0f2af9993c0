"""Joins the rows of a load history to an inventory's partitions, and merges weeks by hour."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kadmin.errors import InvalidInputError
from kadmin.planner.load.columns import (
    BYTES_IN,
    BYTES_OUT,
    HOURS,
    PARTITION,
    REQUESTS,
    START,
    TOPIC,
    WEEKS,
)
from kadmin.planner.load.profiles import complete
from kadmin.planner.load.reading import BUILD_BY_WEEK, as_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.planner.cluster_arrays import ArrowTable, ClusterArrays
    from kadmin.planner.kernel.placement_problem import Ints
    from kadmin.planner.load.profiles import Rates

_NUMBERS = 2**31
"""More than the highest number of a partition."""


@dataclass(frozen=True, slots=True, eq=False)
class HourlyRates:
    """The rates of each partition in each hour of the week, [P, HOURS], none unknown.

    `bytes_out` are the bytes that consumers read. None: unknown of every partition.
    """

    bytes_in: Rates
    bytes_out: Rates | None
    requests: Rates | None


@dataclass(frozen=True, slots=True, eq=False)
class LoadHistory:
    """The load history of the partitions of one cluster.

    `start` is the Monday on which it begins, `held_out_start` that of the week that `held_out` is
    of; ISO 8601 in UTC. `coverage` is the part of all partitions' hours whose bytes in are known.
    `without` counts the partitions of which none is known, `gone` those of the history that the
    cluster does not have. `noise` is the mean change of each resource's worst hour from week to
    week, by its name; empty where it is not asked for, or not known.
    """

    rates: HourlyRates
    held_out: HourlyRates | None
    start: str
    held_out_start: str | None
    coverage: float
    without: int
    gone: int
    noise: Mapping[str, float] = field(default_factory=dict)


def join_history(rows: ArrowTable, cluster: ClusterArrays, *, hold_out: bool) -> LoadHistory | None:
    """Return the history of a cluster from valid rows.

    None where they are of none of the cluster's partitions. With `hold_out` the last week is kept
    apart; raises InvalidInputError where the history has no two weeks.
    """
    at, gone = _positions(rows, cluster)
    kept = np.flatnonzero(at >= 0)
    starts = _numbers(rows.column(START).cast(pa.int64()))[kept]
    if not len(kept):
        return None
    last = int(starts.max())
    if hold_out and (
        last == starts.min() or (_numbers(rows.column(WEEKS))[kept][starts == last] > 1).any()
    ):
        raise InvalidInputError(
            "The load history has no week that could be held out.",
            cause=(
                "--holdout needs a history of two or more weeks with a row for each partition and "
                "week"
            ),
            next_step=BUILD_BY_WEEK,
        )
    planned = kept[starts < last] if hold_out else kept
    merged = _Merged(rows, at, planned, len(cluster.topic))
    bytes_in = merged.rates(BYTES_IN)
    if bytes_in is None:
        return None
    missing = np.isnan(bytes_in)
    return LoadHistory(
        rates=_completed(merged, cluster, bytes_in),
        held_out=_held_out(_Merged(rows, at, kept[starts == last], len(cluster.topic)), cluster)
        if hold_out
        else None,
        start=_iso(int(starts[starts < last].min() if hold_out else starts.min())),
        held_out_start=_iso(last) if hold_out else None,
        coverage=float(1 - missing.mean()),
        without=int(missing.all(axis=1).sum()),
        gone=gone,
    )


def weeks_of(rows: ArrowTable, cluster: ClusterArrays, *, hold_out: bool) -> Iterator[HourlyRates]:
    """Yield the rates of each week of which the history has rows of its own, in their order.

    With `hold_out` the last week is left out.
    """
    at, _ = _positions(rows, cluster)
    kept = np.flatnonzero((at >= 0) & (_numbers(rows.column(WEEKS)) == 1))
    starts = _numbers(rows.column(START).cast(pa.int64()))[kept]
    found = np.unique(starts)
    for start in found[: len(found) - hold_out].tolist():
        merged = _Merged(rows, at, kept[starts == start], len(cluster.topic))
        bytes_in = merged.rates(BYTES_IN)
        if bytes_in is not None:
            yield _completed(merged, cluster, bytes_in)


class _Merged:
    """Rates of the partitions [P] by the mean of the weeks.

    The weeks are those in which an hour is known, each row counted by its weeks.
    """

    def __init__(self, rows: ArrowTable, at: Ints, used: Ints, partitions: int) -> None:
        self._rows, self._used, self._partitions = rows, used, partitions
        starts = _numbers(rows.column(START).cast(pa.int64()))[used]
        weeks = _numbers(rows.column(WEEKS))[used]
        self._batches = [
            (np.flatnonzero(starts == start), at[used[starts == start]], weeks[starts == start])
            for start in np.unique(starts).tolist()
        ]

    def rates(self, column: str) -> Rates | None:
        """Return a column's rates [P, HOURS], NaN where unknown; None where all are."""
        lists = self._rows.column(column)
        listed = _matrix(
            lists if len(self._used) == len(lists) else lists.take(pa.array(self._used))
        )
        if listed is None:
            return None
        if len(self._batches) == 1:
            ((rows, at, _),) = self._batches
            found = np.full((self._partitions, HOURS), np.nan, np.float32)
            found[at] = listed[rows]
            return found
        total = np.zeros((self._partitions, HOURS), np.float32)
        weight = np.zeros((self._partitions, HOURS), np.float32)
        for (
            rows,
            at,
            weeks,
        ) in self._batches:  # one row of each partition at a time, in the order of weeks
            measured = ~np.isnan(listed[rows])
            total[at] += np.where(measured, listed[rows], 0) * weeks[:, None].astype(np.float32)
            weight[at] += measured * weeks[:, None].astype(np.float32)
        with np.errstate(invalid="ignore"):
            return np.asarray(total / weight, np.float32)


def _completed(merged: _Merged, cluster: ClusterArrays, bytes_in: Rates) -> HourlyRates:
    bytes_out, requests = merged.rates(BYTES_OUT), merged.rates(REQUESTS)
    _, topic = np.unique(cluster.topic, return_inverse=True)
    return HourlyRates(
        complete(bytes_in, topic, cluster.size),
        None if bytes_out is None else complete(bytes_out, topic, cluster.size),
        None if requests is None else complete(requests, topic, cluster.size),
    )


def _held_out(merged: _Merged, cluster: ClusterArrays) -> HourlyRates | None:
    bytes_in = merged.rates(BYTES_IN)
    return None if bytes_in is None else _completed(merged, cluster, bytes_in)


def _positions(rows: ArrowTable, cluster: ClusterArrays) -> tuple[Ints, int]:
    """Return the index of each row's partition, -1 where the cluster has none.

    Also return how many partitions those are.
    """
    encoded = rows.column(TOPIC).combine_chunks().dictionary_encode()
    rank = {name: at for at, name in enumerate(cluster.topics)}
    of_word = np.array(
        [rank.get(word, -1) for word in encoded.dictionary.to_pylist()] or [-1], np.int64
    )
    word, number = _numbers(encoded.indices), _numbers(rows.column(PARTITION))
    keys = cluster.topic * _NUMBERS + cluster.partition
    wanted = of_word[word] * _NUMBERS + number
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    found = (
        (of_word[word] >= 0) & (keys[at] == wanted) if len(keys) else np.zeros(len(word), np.bool_)
    )
    return np.where(found, at, -1), len(np.unique((word * _NUMBERS + number)[~found]))


def _matrix(lists: Any) -> Rates | None:  # noqa: ANN401 - pyarrow ships no type information
    """Return a column of lists as [N, HOURS], NaN where null; None where nothing is known."""
    array = as_array(lists)
    flat = array.flatten()
    if flat.null_count == len(flat):
        return None
    listed = np.asarray(flat.to_numpy(zero_copy_only=False), np.float32).reshape(-1, HOURS)
    if not array.null_count:
        return listed
    found = np.full((len(array), HOURS), np.nan, np.float32)
    found[np.asarray(pc.is_valid(array), np.bool_)] = listed
    return found


def _numbers(column: Any) -> Ints:  # noqa: ANN401 - pyarrow ships no type information
    return np.asarray(column.to_numpy(), np.int64)


def _iso(microseconds: int) -> str:
    return f"{np.datetime64(microseconds, 'us').astype('datetime64[s]')}Z"
