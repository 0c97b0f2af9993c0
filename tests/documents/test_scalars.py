from __future__ import annotations

import pytest

from kadmin.documents.scalars import OddNumberError, resolve

STRINGS = """no on yes off y n NO 2024-01-01 12:30:45 1:30 2024-01-01T00:00:00Z orders \
a.b - --1 1-2 -a . .. ... .a +a
e3 1e 0b 1.2.3 nan inf nUll tRue"""
ODD = "0123 010 -010 0x1F 0o17 0b11 1_000 +5 .5 5. 1_0.5 .inf -.Inf .nan 00 -0 01.5 1e400"


@pytest.mark.parametrize("text", [*STRINGS.split(), "1 2"])
def test_strings(text: str) -> None:
    assert resolve(text) == text


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_nulls(text: str) -> None:
    assert resolve(text) is None


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("False", False), ("TRUE", True), ("false", False)]
)
def test_booleans(text: str, value: object) -> None:
    assert resolve(text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("7", 7),
        ("-5", -5),
        ("2147483648", 2**31),
        ("1.0", 1.0),
        ("1e3", 1000.0),
        ("-0.5", -0.5),
    ],
)
def test_numbers(text: str, value: float) -> None:
    found = resolve(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", [*ODD.split(), "9" * 20, "9" * 5000])
def test_odd_numbers_are_refused_with_advice(text: str) -> None:
    with pytest.raises(OddNumberError, match="write it plainly"):
        resolve(text)


def test_advice_shows_how_to_write_it() -> None:
    with pytest.raises(OddNumberError, match=r'write it plainly \(123\), or quote it \("0123"\)'):
        resolve("0123")
    with pytest.raises(OddNumberError, match=r"write it plainly \(1000\)"):
        resolve("1_000")
    for text, plain in (("+5", "5"), ("00", "0"), ("-010", None), ("0x1F", None), ("1_0.5", None)):
        with pytest.raises(OddNumberError) as caught:
            resolve(text)
        shown = "in decimal digits" if plain is None else f"({plain})"
        assert (
            str(caught.value)
            == f'write it plainly {shown}, or quote it ("{text}") where a name is meant'
        )


def test_advice_quotes_the_beginning_of_what_is_long() -> None:
    for digits, shown in (("0" * 40, "0" * 40), ("0" * 41, "0" * 40 + "...")):
        with pytest.raises(OddNumberError) as caught:
            resolve(digits)
        assert f'quote it ("{shown}")' in str(caught.value)
