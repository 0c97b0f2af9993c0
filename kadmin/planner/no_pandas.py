"""Keeps pandas out of a process that has no use for it."""

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

    It looks once in a process, with the first values it makes a column of, for they might be of pandas; where pandas is
    installed, this imports it: a quarter of the time of a small proposal. Others may still import pandas afterwards.
    """
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(finder)
