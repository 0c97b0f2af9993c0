"""Names of codes and troubles in text are links; other words are not."""

from __future__ import annotations

from kadmin.report.links import linked


def address_of(name: str) -> str | None:
    return f"u:{name}" if name in {"KA044", "lock-held"} else None


def link(name: str) -> str:
    return f"\x1b]8;;u:{name}\x1b\\{name}\x1b]8;;\x1b\\"


def test_codes_and_numbered_findings_are_links() -> None:
    text = "plan.yaml:3:7: error KA044: m\n1. lock-held (stops an apply): a\n2. lock-held: b"
    assert linked(text, address_of) == text.replace("KA044", link("KA044")).replace(
        "lock-held", link("lock-held")
    )


def test_names_without_an_address_and_within_words_are_none() -> None:
    text = "KA999 KA0440 xKA044 topic lock-held 3. lock-holder: x\n"
    assert linked(text, address_of) == text
