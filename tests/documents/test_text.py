"""Bytes to text: what is refused, in which words and at which place; what is shown of it."""

from __future__ import annotations

import pytest

from kadmin.documents.text import MOST_BYTES, Mark, UnreadableTextError, decode, printable
from kadmin.next_step import text_of
from kadmin.plan import codes


def refused(data: bytes) -> tuple[str, str, Mark, str | None]:
    with pytest.raises(UnreadableTextError) as caught:
        decode(data, "plan.yaml")
    found = caught.value.diagnostic
    assert (str(caught.value), found.location.file) == (found.message, "plan.yaml")
    return (
        found.code,
        found.message,
        Mark(found.location.line, found.location.column),
        text_of(found.next_step),
    )


def test_the_largest_file_is_read_and_a_larger_one_told() -> None:
    data = b"#" * (MOST_BYTES + 1)
    assert len(decode(data[1:], "plan.yaml")) == MOST_BYTES
    said = ("the file has more than 64MiB", Mark(1, 1), "divide the plan into several files")
    assert refused(data) == (codes.TOO_LARGE, *said)


@pytest.mark.parametrize(
    ("data", "message", "mark"),
    [
        (b"a\n\xffb", "byte 2 (0xff) is not UTF-8", Mark(2, 1)),
        (b"\xef\xbb\xbfa\n\xff", "byte 5 (0xff) is not UTF-8", Mark(2, 1)),
        (b"\xef\xbb\xbf\xff", "byte 3 (0xff) is not UTF-8", Mark(1, 1)),
        ("é\r\ncafé ".encode() + b"\xe9", "byte 10 (0xe9) is not UTF-8", Mark(2, 6)),
        (b"abc\xef\xbb\xbf\xff", "byte 6 (0xff) is not UTF-8", Mark(1, 5)),
    ],
)
def test_what_is_not_utf_8_is_told_with_its_byte_and_place(
    data: bytes, message: str, mark: Mark
) -> None:
    assert refused(data) == (codes.UNREADABLE, message, mark, "save it as UTF-8")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_another_encoding_is_named(encoding: str) -> None:
    message = f"the file is {encoding[:6].upper()}, not UTF-8"
    data = "\ufeffkind: x".encode(encoding)
    assert refused(data) == (codes.UNREADABLE, message, Mark(1, 1), "save it as UTF-8")


def test_what_no_document_may_hold_is_told_by_its_number() -> None:
    nul, escape = refused(b"a: \x00"), refused(b"a\rb\x1b")
    assert nul[1:] == (
        "character U+0000 is not allowed in a document",
        Mark(1, 4),
        "a NUL byte: is this a binary or UTF-16 file?",
    )
    hint = "remove it; in a quoted description it can be written as an escape"
    assert escape[1:] == ("character U+001B is not allowed in a document", Mark(2, 2), hint)


def test_what_a_terminal_would_act_on_is_replaced_sign_by_sign() -> None:
    assert printable("a\tb\x1b[31mé\u202e\n") == "a\N{RIGHTWARDS ARROW}b\ufffd[31mé\ufffd\ufffd"
