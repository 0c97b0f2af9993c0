"""Documents out: one canonical text per value, as YAML or JSON, and a digest that both share."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from kadmin.documents.kinds import to_value
from kadmin.documents.scalars import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.plan.model import Document

_WIDTH = 120
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*", re.ASCII)
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def dump_json(document: Document) -> str:
    """Return the canonical JSON text; the same value gives the same bytes."""
    return _escaped(_json_lines(to_value(document), 0)) + "\n"


def dump_yaml(document: Document) -> str:
    """Return the canonical YAML text; `parse_document` reads the same value from it."""
    return "".join(_yaml_lines(to_value(document), 0))


def plan_digest(document: Document) -> str:
    """Return `sha256:` and the digest of the value.

    It is the same for YAML, JSON and any layout of one plan.
    """
    text = json.dumps(to_value(document), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _json_lines(value: Any, indent: int) -> str:  # noqa: ANN401 - any JSON value
    """Lay JSON out: the outer three levels one item a line, everything below on one line."""
    if not isinstance(value, dict | list) or not value or indent > _DEEPEST:
        return _COMPACT.encode(value)
    inner, outer = "  " * (indent + 1), "  " * indent
    if isinstance(value, dict):
        items = (
            f"{inner}{_COMPACT.encode(key)}: {_json_lines(part, indent + 1)}"
            for key, part in value.items()
        )
        return "{\n" + ",\n".join(items) + f"\n{outer}}}"
    return (
        "[\n"
        + ",\n".join(f"{inner}{_json_lines(part, indent + 1)}" for part in value)
        + f"\n{outer}]"
    )


_DEEPEST = 2
_COMPACT = json.JSONEncoder(ensure_ascii=False)


def _yaml_lines(value: dict[str, Any], indent: int) -> Iterator[str]:
    """Lay YAML out.

    Mappings and long lists in block style, values that fit on a line of 120 in flow style. PyYAML's
    dumper with the same layout needs as much code, and 4 s for a plan of 50,000 partitions (11 s
    without libyaml) instead of 1 s.
    """
    for key, part in value.items():
        start = f"{'  ' * indent}{yaml_scalar(key)}:"
        block = bool(part) and (isinstance(part, dict) if indent == 0 else _is_table(part))
        line = start if block else f"{start} {_yaml_flow(part)}"
        if not isinstance(part, dict | list) or (not block and len(line) <= _WIDTH):
            yield f"{line}\n"
            continue
        yield f"{start}\n"
        if isinstance(part, dict):
            yield from _yaml_lines(part, indent + 1)
        else:
            yield from (f"{'  ' * indent}  - {_yaml_flow(item)}\n" for item in part)


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _yaml_flow(value: Any) -> str:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{yaml_scalar(key)}: {_yaml_flow(part)}" for key, part in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_yaml_flow, value)) + "]"
    return yaml_scalar(value)


def yaml_scalar(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return a scalar of YAML that every reader takes for this value."""
    if not isinstance(value, str):
        return json.dumps(value)
    plain = (_PLAIN.fullmatch(value) and _is_string(value)) or _AMOUNT.fullmatch(value)
    return value if plain else _quote(value)


_AMOUNT = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[kKMGT]i?B|B)(?:/s)?|[0-9]+(?:\.[0-9]+)?%", re.ASCII)
_OF_OTHER_READERS = frozenset({"y", "n", "yes", "no", "on", "off"})


def _is_string(text: str) -> bool:
    """Whether every reader of YAML, 1.1 too, takes the plain text for a string."""
    return isinstance(resolve(text), str) and text.lower() not in _OF_OTHER_READERS


def _quote(text: str) -> str:
    return _escaped(_COMPACT.encode(text))


def _escaped(text: str) -> str:
    """Return JSON with escapes for characters that a reader may take for a line's end.

    Invisible characters are escaped, too.
    """
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
