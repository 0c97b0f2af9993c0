"""docs/first-look.svg shows docs/first-look.cast, which `tests/live/test_recording.py` makes."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from support.pages.recording import CAST, PICTURE, ROWS, cast_text, outputs_of, picture, shown

CAST_TEXT = CAST.read_text(encoding="utf-8")


def test_the_picture_is_drawn_from_the_recording() -> None:
    """Draw it anew with: PYTHONPATH=tests python -m support.pages.recording"""
    assert PICTURE.read_text(encoding="utf-8") == picture(CAST_TEXT)


def test_the_recording_is_asciinemas_text() -> None:
    title = "kadmin on Kafka 4.4: an apply that is killed, resumed and undone"
    assert cast_text(title, outputs_of(CAST_TEXT)) == CAST_TEXT


def test_without_movement_the_end_stands_there() -> None:
    root = ET.fromstring(picture(CAST_TEXT))
    lines = [
        "".join(group.itertext())
        for group in root.iter("{http://www.w3.org/2000/svg}g")
        if group.get("class") == "last"
    ]
    texts = [row.text for row in shown(CAST_TEXT).rows if row.text.strip()]
    assert lines == texts
    assert len(texts) > ROWS
    assert not any("href" in element.attrib for element in root.iter())
