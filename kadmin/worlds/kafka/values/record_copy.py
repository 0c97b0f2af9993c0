"""A copy of this machine's writes to the topic of the record, in the layout of `--records`.

It outlives the topic.
"""

from __future__ import annotations

from contextlib import suppress
from typing import IO, TYPE_CHECKING

from platformdirs import user_state_path

from kadmin.cluster.names import RECORD_TOPIC
from kadmin.errors import BusyError, UnknownOutcomeError
from kadmin.next_step import command
from kadmin.operations import events
from kadmin.operations.record.codec import UndecodableError, decode_listing, decode_status, decoding
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.keys import OPERATIONS, is_asked
from kadmin.wording import name_some
from kadmin.worlds.kafka.values.lock_file import SHARED, lock_file, sign
from kadmin.worlds.kafka.values.value_files import ValueFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from kadmin.operations.events import EventSink
    from kadmin.operations.record.record import Listing


class LostRecordError(UnknownOutcomeError):
    """The topic of the record lacks values that were on record."""


class RecordCopy:
    """The operations of cluster `cluster_id` that this machine ran, below the folder `records`."""

    def __init__(self, records: Path, cluster_id: str, tell: EventSink) -> None:
        self._records = records
        self._files = ValueFiles(records / cluster_id)
        self._tell = tell
        self._told = False
        self._lock: IO[str] | None = None

    def hold(self) -> None:
        """Share the lock of the folder until `let_go`.

        Raises BusyError while a runner with `--records` holds it.
        """
        try:
            lock = lock_file(self._files.folder, SHARED)
        except OSError as error:
            self._warn(error)
            return
        if isinstance(lock, Holder):
            raise BusyError(
                f"The lock is held by {lock} for operation {lock.operation_id}, with --records "
                f"{self._records}.",
                next_step=command("status", "--records", self._records),
            )
        self._lock = lock

    def sign(self, holder: Holder) -> None:
        """Write the holder of the topic's lock into the locked file."""
        if self._lock is not None:
            sign(self._lock, holder)

    def let_go(self) -> None:
        """Share the lock no more."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.close()

    def keep(
        self, written: Mapping[str, bytes | None], values_of: Callable[[str], Mapping[str, bytes]]
    ) -> None:
        """Write the values that were written to the topic.

        Write also all values of an operation whose copy is not whole. Where one cannot be written,
        its status is removed: no copy has a gap, and the next call writes it whole.
        """
        for operation in sorted(
            {_operation(key) for key in written if key.startswith(f"{OPERATIONS}/")}
        ):
            values = {key: value for key, value in written.items() if _operation(key) == operation}
            status = f"{operation}/status"
            try:
                if (
                    any(value is not None for value in values.values())
                    and self._files.get(status) is None
                ):
                    values = {**values_of(operation), **values}
                if status in values:  # comes last
                    values[status] = values.pop(status)
                self._files.put(values.items())
            except OSError as error:
                self._warn(error)
                with suppress(OSError):
                    self._files.put([(status, None)])

    def check(self, on_record: Mapping[str, bytes]) -> None:
        """Compare with the topic.

        Raise LostRecordError where it lacks a value of an unfinished operation. A status that
        another machine has changed is copied.
        """
        try:
            for name in self._unfinished():
                operation = f"{OPERATIONS}/{name}"
                if not {*self._keys(operation)} <= on_record.keys():
                    raise self.lost(f"operation {name} is not on record there")
                self._files.put([(f"{operation}/status", on_record[f"{operation}/status"])])
        except OSError as error:
            self._warn(error)

    def lost(self, cause: str) -> LostRecordError:
        """Return the error that names this copy and the commands that continue with it."""
        unfinished = self._unfinished()
        again = ("--records", self._records)
        ended = (
            "an operation that has ended on another machine: remove its folder below "
            f"{self._files.folder / OPERATIONS}"
        )
        return LostRecordError(
            f"The topic {RECORD_TOPIC} has lost records of operations.",
            cause=(
                f"{cause}; this machine has a copy of the record of "
                f"{name_some(unfinished) or 'no operation'}"
            ),
            next_step=command("resume", *again) + ", or " + command("cancel", *again) + f"; {ended}"
            if unfinished
            else command("inspect admin") + ", then " + command("throttle audit"),
        )

    def _unfinished(self) -> list[str]:
        found = []
        for name, status in self._files.below(OPERATIONS, "/status").items():
            try:
                with decoding(str(self._files.folder / OPERATIONS / name / "status")):
                    finished = decode_status(status).state.finished
            except UndecodableError as error:
                self._warn(error)
            else:
                found += [] if finished else [name]
        return found

    def _warn(self, error: OSError | UndecodableError) -> None:
        if not self._told:
            self._told = True
            self._tell(events.Note(f"warning: this machine keeps no copy of the record: {error}"))

    def _keys(self, operation: str) -> Iterator[str]:
        for name in self._files.names(operation):
            if name == "steps":
                yield from (
                    f"{operation}/steps/{step}" for step in self._files.names(f"{operation}/steps")
                )
            elif not is_asked(f"{operation}/{name}"):
                yield f"{operation}/{name}"


def copies_folder() -> Path:
    """Return the folder for copies of this machine's writes to records of KRaft clusters."""
    return user_state_path("kadmin", appauthor=False)


def operations_in(records: Path, cluster_id: str | None) -> tuple[Listing, ...]:
    """Return the operations on record below a folder, of one cluster or of all, oldest first.

    Those that cannot be decoded are left out.
    """
    found = []
    for each in _clusters(records) if cluster_id is None else (cluster_id,):
        for name, status in ValueFiles(records / each).below(OPERATIONS, "/status").items():
            with suppress(UndecodableError), decoding(name):
                found.append(decode_listing(name, status))
    return tuple(sorted(found, key=lambda listing: listing.operation_id))


def _clusters(records: Path) -> Iterator[str]:
    if records.is_dir():
        yield from (each.name for each in records.iterdir())


def _operation(key: str) -> str:
    return "/".join(key.split("/")[:2])
