"""Proposes reassignment plans: one kernel, and two engines to run it, Spark and the local process.

`propose` is for notebooks and jobs; the command line calls the engines themselves.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.next_step import command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.proposal import Proposal

__all__ = ["Proposal", "propose"]

_SCHEMA = "rebalance-request"


def __getattr__(name: str) -> object:
    """Return `Proposal`, whose module needs pyarrow, when it is asked for."""
    if name != "Proposal":
        raise AttributeError(f"module {__name__} has no attribute {name}")
    from kadmin.planner.proposal import Proposal

    return Proposal


def propose(
    request: RebalanceRequest | str | Path,
    inventory: str | Path,
    *,
    session: SparkSession | None = None,
) -> Mapping[str, Proposal]:
    """Propose a plan for each cluster of an inventory, by name.

    The only one of an inventory without names is "". `request` is one, or the path of its YAML;
    `inventory` is the folder of `kadmin snapshot`. With a session, Spark plans on it, and does not
    stop it; otherwise this process plans. The plans are the same, byte for byte, and
    kadmin.documents.dump_yaml writes one as `kadmin propose rebalance` does. Raises a KadminError,
    such as InvalidInputError for a request or an inventory that cannot be read, or InfeasibleError
    where no plan exists.
    """
    from kadmin.planner import local
    from kadmin.planner.proposal import Options

    wanted = _read(Path(request)) if isinstance(request, str | Path) else request
    if session is None:
        return local.propose(wanted, Path(inventory), Options())
    from kadmin.planner import spark

    return spark.propose(wanted, Path(inventory), Options(session=session))


def _read(path: Path) -> RebalanceRequest:
    from kadmin.documents import parse_document
    from kadmin.plan.model import DocumentFile, RebalanceRequest

    try:
        file = DocumentFile(str(path), path.read_bytes())
    except OSError as error:
        raise InvalidInputError(f"Cannot read {path}.", cause=error.strerror) from error
    document = parse_document(file.data, file.name)
    if not isinstance(document, RebalanceRequest):
        raise InvalidInputError(
            f"{path} is not a RebalanceRequest.", next_step=command("schema show", _SCHEMA)
        )
    return replace(document, header=replace(document.header, file=file))
