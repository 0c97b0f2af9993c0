"""Reads the transaction log of a ZooKeeper server: every committed write in order.

A file is a header of 16 bytes (magic ZKLG, version, database id) and records: checksum (8), length
(4), then a transaction header (session 8, cxid 4, zxid 8, time 8, type 4), a body, and an end mark
(1). The file is padded with zeros. A multi is one record that holds the others; one that was
refused is in the log too, with an error among them. What a transaction checks and does not write is
not in it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

CREATE, DELETE, SET_DATA, MULTI = 1, 2, 5, 14
_CREATES = {CREATE, 15, 19, 21}
_ERROR = -1
_FILE_HEADER = 16
_RECORD = struct.Struct("!qi")
_HEADER = struct.Struct("!qiqqi")


@dataclass(frozen=True, slots=True)
class Write:
    """One write: by which session, in which transaction, `op` one of CREATE, SET_DATA, DELETE;
    deletes have no data.
    """

    session_id: int
    zxid: int
    op: int
    path: str
    data: bytes | None


class TransactionLog:
    """Reads the log of one server from where it stood; what a client had an answer to is in it."""

    def __init__(self, folder: Path) -> None:
        """Start at the end of what there is; `folder` holds the server's data."""
        self._folder = folder
        self._file: Path | None = None
        self._position = _FILE_HEADER
        self.new_writes()

    def new_writes(self, below: str = "") -> list[Write]:
        """Return the writes at or below a path since the last call, in order."""
        found: list[Write] = []
        for file in self._files():
            if file != self._file:
                self._file, self._position = file, _FILE_HEADER
            with file.open("rb") as log:
                found += self._records(log)
        return [
            write for write in found if write.path == below or write.path.startswith(f"{below}/")
        ]

    def _files(self) -> list[Path]:
        files = sorted(
            self._folder.glob("zookeeper-*/**/log.*"), key=lambda each: int(each.suffix[1:], 16)
        )
        return files[files.index(self._file) :] if self._file is not None else files

    def _records(self, log: BinaryIO) -> Iterator[Write]:
        log.seek(self._position)
        while len(head := log.read(_RECORD.size)) == _RECORD.size:
            _, length = _RECORD.unpack(head)
            record = log.read(length + 1)
            if length <= 0 or len(record) <= length:
                return
            session_id, _, zxid, _, kind = _HEADER.unpack_from(record)
            yield from _decode(record[_HEADER.size : length], kind, session_id, zxid)
            self._position = log.tell()


def _decode(body: bytes, kind: int, session_id: int, zxid: int) -> Iterator[Write]:
    if kind == MULTI:
        parts = list(_parts(body))
        if all(inner != _ERROR for inner, _ in parts):
            for inner, part in parts:
                yield from _decode(part, inner, session_id, zxid)
    elif kind in {*_CREATES, DELETE, SET_DATA}:
        path, offset = _string(body)
        data = None if kind == DELETE else _buffer(body, offset)
        yield Write(session_id, zxid, CREATE if kind in _CREATES else kind, path, data)


def _parts(body: bytes) -> Iterator[tuple[int, bytes]]:
    (count,), offset = struct.unpack_from("!i", body), 4
    for _ in range(count):
        inner, length = struct.unpack_from("!ii", body, offset)
        yield inner, body[offset + 8 : offset + 8 + length]
        offset += 8 + length


def _string(body: bytes) -> tuple[str, int]:
    (length,) = struct.unpack_from("!i", body)
    return body[4 : 4 + length].decode(), 4 + length


def _buffer(body: bytes, offset: int) -> bytes | None:
    (length,) = struct.unpack_from("!i", body, offset)
    return None if length < 0 else body[offset + 4 : offset + 4 + length]
