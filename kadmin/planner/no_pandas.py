"""Prevents pyarrow from importing pandas, which the local engine does not use."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> None:
        del path, target
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)


def leave_pandas_out() -> None:
    """Let pyarrow look for pandas now, and not find it.

    pyarrow looks once per process, when it converts the first values to a column; importing pandas takes a quarter of
    the time of a small proposal. Other code may still import pandas afterwards.
    """
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(finder)
