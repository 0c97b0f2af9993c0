"""Rules on the disks of a RebalanceRequest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kadmin.diagnostics import Field
    from kadmin.plan.model import RebalanceRequest

_DISKS = ("spec", "disks")


def named_disks(request: RebalanceRequest) -> Iterator[tuple[Field, int, str]]:
    """Yield every log directory that a request names: its field, broker and path."""
    for name, by_broker in request.disks.named.items():
        for broker, paths in sorted(by_broker.items()):
            for index, path in enumerate(paths):
                place = path if name == "weights" else index
                yield (*_DISKS, name, str(broker), place), broker, path


def unknown_disks(
    request: RebalanceRequest, brokers: Collection[int], disks: Mapping[int, Collection[str]]
) -> Iterator[Diagnostic]:
    """Yield the log directories that the inventory does not have of the brokers that it has."""
    for field, broker, path in named_disks(request):
        if broker in brokers and path not in disks.get(broker, ()):
            message = f"the inventory has no log directory {path} of broker {broker}"
            known = name_some(sorted(disks.get(broker, ())), most=10)
            next_step = (
                f"its log directories are {known}" if known else "take a snapshot with its disks"
            )
            yield Diagnostic(codes.NO_SUCH_LOG_DIR, message, next_step, broker=broker, field=field)
