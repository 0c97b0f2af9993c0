"""All operations on record by their statuses.

One that cannot be decoded is left out, with a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.record.codec import UndecodableError, decode_listing, decoding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from kadmin.operations.record.record import Listing

    Statuses: TypeAlias = Iterable[tuple[str, str, bytes]]


class Listings:
    """Decodes statuses, oldest operation first.

    They are tuples of operation id, location for messages, and value. `note` is called once for
    each operation that is left out.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._left_out: set[str] = set()

    def all(self, statuses: Statuses) -> tuple[Listing, ...]:
        """Return every operation; one whose status cannot be decoded is left out, with a note."""
        found, undecodable = _decoded(statuses)
        for name in sorted(undecodable.keys() - self._left_out):
            self._note(f"operation {name} is left out: {undecodable[name].message}")
        self._left_out |= undecodable.keys()
        return found

    def unfinished(self, statuses: Statuses) -> tuple[Listing, ...]:
        """Return the operations that are not finished.

        An undecodable one may be one of them, and raises.
        """
        found, undecodable = _decoded(statuses)
        for error in undecodable.values():
            raise error
        return tuple(each for each in found if not each.status.state.finished)


def _decoded(statuses: Statuses) -> tuple[tuple[Listing, ...], dict[str, UndecodableError]]:
    found: list[Listing] = []
    undecodable: dict[str, UndecodableError] = {}
    for name, place, data in statuses:
        try:
            with decoding(place):
                found.append(decode_listing(name, data))
        except UndecodableError as error:
            undecodable[name] = error
    return tuple(found), undecodable
