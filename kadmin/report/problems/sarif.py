"""Problems as SARIF 2.1.0 (OASIS), for code scanning and for viewers in editors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from kadmin.manual import by_name
from kadmin.next_step import command
from kadmin.plan.codes import TABLE
from kadmin.report.problems.fingerprint import fingerprints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.diagnostics import Diagnostic

_PAGE = "urn:kadmin:docs/codes.md"
"""The page in the repository as an absolute URI (SARIF 2.1.0, 3.49.12), as the schemas' `$id`."""
_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def sarif(
    files: Sequence[str], problems: Sequence[Diagnostic], docs_site: str | None = None
) -> str:
    """Return one run with a result per problem; columns count characters.

    `docs_site` is the address of the documentation's site, if there is one.
    """
    rules = sorted({problem.code for problem in problems})
    results = [
        _result(problem, rules.index(problem.code), fingerprint)
        for problem, fingerprint in zip(problems, fingerprints(problems), strict=True)
    ]
    run = {
        "tool": {"driver": {"name": "kadmin", "rules": [_rule(code, docs_site) for code in rules]}},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": _uri(file)}} for file in files],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(code: str, docs_site: str | None) -> dict[str, Any]:
    own_page = by_name()[code.lower()].address
    return {
        "id": code,
        "shortDescription": {"text": _message(TABLE[code].meaning)},
        "help": {"text": f"{command('explain', code)} shows an example of it, and one without it."},
        "helpUri": f"{docs_site}/{own_page}" if docs_site else f"{_PAGE}#{code.lower()}",
    }


def _result(problem: Diagnostic, rule: int, fingerprint: str) -> dict[str, Any]:
    text = (
        problem.message if problem.next_step is None else f"{problem.message} ({problem.next_step})"
    )
    place = {
        "artifactLocation": {"uri": _uri(problem.location.file)},
        "region": {"startLine": problem.location.line, "startColumn": problem.location.column},
    }
    return {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": problem.severity,
        "message": {"text": _message(text)},
        "locations": [
            {"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": problem.path}]}
        ],
        "partialFingerprints": {"kadmin/v1": fingerprint},
    }


def _message(text: str) -> str:
    """Return a message without placeholders: literal braces are doubled (SARIF 2.1.0, 3.11.5)."""
    return text.replace("{", "{{").replace("}", "}}")


def _uri(file: str) -> str:
    return quote(file.encode(errors="surrogateescape"))
