"""Every format of `validate`, read back by a reader that is not ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator, FormatChecker
from markdown_it import MarkdownIt
from support.documents.bad_documents import BAD

from kadmin.diagnostics import Diagnostic, Location
from kadmin.documents.check import examine
from kadmin.plan.codes import TABLE
from kadmin.report.markdown import cell
from kadmin.report.problems.github import annotation_lines, step_summary
from kadmin.report.problems.gitlab import code_quality
from kadmin.report.problems.junit import junit
from kadmin.report.problems.sarif import sarif

if TYPE_CHECKING:
    from collections.abc import Sequence

OFFICIAL = Path(__file__).parent / "official" / "sarif-schema-2.1.0.json"
SARIF_SCHEMA = Draft4Validator(
    json.loads(OFFICIAL.read_text(encoding="utf-8")), format_checker=FormatChecker()
)
WORKFLOW_COMMAND = re.compile(
    r"::(error|warning) file=(.*),line=([0-9]+),col=([0-9]+),title=(.*?)::(.*)"
)

odd_text = st.text(
    st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("%\n:,|`<&\"'{}[]()@"),
    min_size=1,
    max_size=30,
)
problems = st.lists(
    st.builds(
        Diagnostic,
        code=st.sampled_from(sorted(TABLE)),
        message=odd_text,
        location=st.builds(
            Location,
            file=st.sampled_from(
                [
                    "plans/a b.yaml",
                    "-",
                    "é%,:.json",
                    "bad\udcff.yaml",
                    "tab\there.yml",
                    "a`|``<b>@all|.yml",
                ]
            ),
            line=st.integers(1, 10**6),
            column=st.integers(1, 10**6),
        ),
        field=st.sampled_from([(), ("spec", "a:b,c", 0)]),
        next_step=st.none() | odd_text,
        severity=st.sampled_from(["error", "warning"]),
    ),
    max_size=6,
)


def files_of(found: Sequence[Diagnostic]) -> list[str]:
    return list(dict.fromkeys(problem.location.file for problem in found)) or ["plan.yaml"]


def clean(file: str) -> str:
    return file.replace("\udcff", "\N{REPLACEMENT CHARACTER}").replace("\t", "\N{RIGHTWARDS ARROW}")


@given(problems)
def test_sarif_is_what_its_official_schema_asks_for(found: list[Diagnostic]) -> None:
    log = json.loads(sarif(files_of(found), found))
    assert [error.message for error in SARIF_SCHEMA.iter_errors(log)] == []
    run = log["runs"][0]
    described = run["tool"]["driver"]["rules"]
    rules = [rule["id"] for rule in described]
    assert [(rule["helpUri"], rule["help"]["text"]) for rule in described] == [
        (
            f"urn:kadmin:docs/codes.md#{code.lower()}",
            f"kadmin explain {code} shows an example of it, and one without it.",
        )
        for code in rules
    ]
    for problem, result in zip(found, run["results"], strict=True):
        place = result["locations"][0]["physicalLocation"]
        assert result["ruleId"] == rules[result["ruleIndex"]] == problem.code
        assert result["level"] == problem.severity
        assert place["region"] == {
            "startLine": problem.location.line,
            "startColumn": problem.location.column,
        }
        assert (
            unquote(place["artifactLocation"]["uri"], errors="surrogateescape")
            == problem.location.file
        )
        text = result["message"]["text"]
        assert not re.search(r"(?<!\{)\{(?:\{\{)*(?!\{)", text), (
            "a placeholder, or a brace that is not escaped"
        )
        assert text.replace("{{", "{").replace("}}", "}").startswith(problem.message)


def test_with_a_site_help_is_the_page_of_the_code() -> None:
    problem = Diagnostic("KA001", "m", location=Location("a", 1, 1))
    log = json.loads(sarif(["a"], [problem], "https://kadmin.example"))
    assert [error.message for error in SARIF_SCHEMA.iter_errors(log)] == []
    (rule,) = log["runs"][0]["tool"]["driver"]["rules"]
    assert rule["helpUri"] == "https://kadmin.example/docs/codes/ka001/"


def test_the_official_schema_is_no_rubber_stamp() -> None:
    log = json.loads(sarif(["a"], [Diagnostic("KA001", "m", location=Location("a", 1, 1))]))
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not SARIF_SCHEMA.is_valid(log)


@given(problems)
def test_gitlab_finds_every_field_that_it_asks_for(found: list[Diagnostic]) -> None:
    """The fields of its documentation: description, check_name, fingerprint (unique), severity and
    location.
    """
    report = json.loads(code_quality(found))
    assert len({each["fingerprint"] for each in report}) == len(found)
    for problem, each in zip(found, report, strict=True):
        assert set(each) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert re.fullmatch("[0-9a-f]{64}", each["fingerprint"])
        assert each["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert each["check_name"] == problem.code
        assert each["location"] == {
            "path": clean(problem.location.file),
            "lines": {"begin": problem.location.line},
        }


def test_a_fingerprint_outlives_moved_lines() -> None:
    def fingerprint(line: int) -> str:
        (each,) = json.loads(
            code_quality(
                [
                    Diagnostic(
                        "KA020", "twice", field=("spec",), location=Location("plan.yaml", line, 7)
                    )
                ]
            )
        )
        return str(each["fingerprint"])

    assert fingerprint(3) == fingerprint(30)


@given(problems)
def test_junit_is_xml_with_a_failure_per_error(found: list[Diagnostic]) -> None:
    files = files_of(found)
    root = ET.fromstring(junit(files, found))
    assert root.tag == "testsuites"
    assert [suite.get("name") for suite in root.iter("testsuite")] == [
        clean(file) for file in files
    ]
    errors = [problem for problem in found if problem.severity == "error"]
    assert int(root.get("failures", "")) == len(errors) == len(list(root.iter("failure")))
    assert {failure.get("type") for failure in root.iter("failure")} == {
        problem.code for problem in errors
    }
    for file, suite in zip(files, root.iter("testsuite"), strict=True):
        assert int(suite.get("tests", "")) == len(suite.findall("testcase")) >= 1
        warned = [
            each for each in found if each.severity == "warning" and each.location.file == file
        ]
        out = "".join(each.text or "" for each in suite.iter("system-out"))
        assert all(problem.code in out for problem in warned)


def read_command(line: str) -> dict[str, Any]:
    """Read a workflow command as the runner does: properties split at commas and the first =, then
    unescaped.
    """
    found = WORKFLOW_COMMAND.fullmatch(line)
    assert found is not None, line

    def unescape(text: str) -> str:
        for escape, char in (
            ("%0D", "\r"),
            ("%0A", "\n"),
            ("%3A", ":"),
            ("%2C", ","),
            ("%25", "%"),
        ):
            text = text.replace(escape, char)
        return text

    properties = dict(
        each.split("=", 1) for each in line.split("::")[1].partition(" ")[2].split(",")
    )
    assert set(properties) == {"file", "line", "col", "title"}
    return {
        "level": found[1],
        "message": unescape(found[6]),
        **{k: unescape(v) for k, v in properties.items()},
    }


@given(problems)
def test_github_annotations_say_where_and_what(found: list[Diagnostic]) -> None:
    lines = annotation_lines(files_of(found), found).split("\n")
    assert len(lines) == len(found) + 1
    for problem, line in zip(found, lines, strict=False):
        read = read_command(line)
        assert (read["level"], read["file"]) == (problem.severity, clean(problem.location.file))
        assert (read["line"], read["col"]) == (
            str(problem.location.line),
            str(problem.location.column),
        )
        assert read["message"].startswith(problem.message)
        assert problem.code in read["title"]


@given(problems)
def test_a_step_summary_is_one_table_of_all_problems(found: list[Diagnostic]) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(step_summary(files_of(found), found))
    assert sum(token.type == "tr_open" for token in tokens) == (len(found) + 1 if found else 0)
    inside = [token for token in tokens if token.type == "inline" for token in token.children or ()]
    places = [token.content for token in inside if token.type == "code_inline"]
    assert places == [clean(str(problem.location)) for problem in found]
    assert not [
        token.type
        for token in inside
        if token.type in {"link_open", "html_inline", "image", "em_open"}
    ]


def test_a_step_summary_never_outgrows_what_github_takes() -> None:
    found = [
        Diagnostic("KA014", "m" * 300, location=Location("d/" * 2_000 + "plan.yaml", line, 1))
        for line in range(1, 1_001)
    ]
    text = step_summary(["plan.yaml"], found)
    assert len(text.encode()) < 2**20
    (told,) = re.findall(r"\.\.\. and ([0-9]+) more", text)
    assert text.count("KA014") + int(told) == 1_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://example.org", r"https:\//example.org"),
        ("see www.example.org", r"see www\.example.org"),
        ("a: b.www", "a: b.www"),
        ("<b>", r"\<b\>"),
    ],
)
def test_no_text_becomes_a_link(text: str, shown: str) -> None:
    assert cell(text) == shown
    assert (
        "".join(token.content for token in MarkdownIt().parseInline(shown)[0].children or ())
        == text
    )


@pytest.mark.parametrize("name", BAD)
def test_real_problems_are_written_in_every_format(name: str) -> None:
    source, data = BAD[name]
    found = examine(data, source).problems
    assert SARIF_SCHEMA.is_valid(json.loads(sarif([source], found)))
    assert len(json.loads(code_quality(found))) == len(found)
    assert ET.fromstring(junit([source], found)).tag == "testsuites"
    assert annotation_lines([source], found).count("\n") == len(found)
