"""`kadmin explain`, and links from codes in answers to their pages."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path

import pytest
from support.cli.in_process import command
from support.cli.terminal import in_terminal

from kadmin import errors
from kadmin.insight.diagnosis.finding import Trouble
from kadmin.manual import sections
from kadmin.plan.codes import TABLE

SITE = "https://kadmin.example"
ROOT = Path(__file__).parents[2]
BAD = "kind: TopicDeletion\nspec: {topics: []}\n"
LINK = re.compile(r"\x1b\]8;;(\S+)\x1b\\(\w+)\x1b\]8;;\x1b\\")


def test_every_code_trouble_and_exit_code_has_a_section() -> None:
    numbers = {
        str(each.exit_code)
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, errors.KadminError)
    }
    without_error = {"0", "2", "129", "130", "143"}
    assert [section.name for section in sections() if section.page == "codes"] == list(TABLE)
    assert {section.name for section in sections()} == {
        *TABLE,
        *Trouble,
        *numbers,
        *without_error,
    }


@pytest.mark.parametrize("name", [section.name for section in sections()])
def test_a_section_is_text_without_marks_of_markdown(name: str) -> None:
    answer = command("explain", name)
    assert (answer.status, answer.err) == (0, "")
    assert name in answer.out.partition("\n")[0]
    prose = [line for line in answer.out.splitlines() if not line.startswith("    ")]
    assert [line for line in prose if len(line) > 79] == []
    assert re.findall(r"\]\(|```|\*\*|\|--", "\n".join(prose)) == []


def test_a_code_is_explained_with_its_examples() -> None:
    assert command("explain", "ka044").out == (
        "KA044\n"
        "\n"
        "A reassignment puts a partition on fewer racks without the waiver.\n"
        "\n"
        "Bad:\n"
        "\n"
        "    kind: PartitionReassignment\n"
        "    spec:\n"
        "      throttle: {rate: 50MB/s}\n"
        "      partitions:\n"
        "        - {topic: orders, partition: 0, replicas: [1, 4]}\n"
        "\n"
        "Good:\n"
        "\n"
        "    kind: PartitionReassignment\n"
        "    spec:\n"
        "      throttle: {rate: 50MB/s}\n"
        "      partitions:\n"
        "        - {topic: orders, partition: 0, replicas: [1, 3]}\n"
        "\n"
        "With `allow: {fewer_racks: true}` the plan is accepted, and KA066 warns.\n"
    )


@pytest.mark.parametrize("words", [["8"], ["exit", "8"], ["exit", "code", "8"]])
def test_an_exit_code_is_named_in_words_or_by_its_number(words: list[str]) -> None:
    assert command("explain", *words).out.startswith("8: not completed\n\nThe deadline passed. ")


def test_without_a_name_all_are_listed() -> None:
    lines = command("explain").out.splitlines()
    assert "  KA044  A reassignment puts a partition on fewer racks without the waiver" in lines
    assert "  no-controller         brokers run, and there is no controller" in lines
    assert "  8    not completed" in lines
    assert max(map(len, lines)) <= 79


def test_an_unknown_name_suggests_the_nearest() -> None:
    answer = command("explain", "leftover-throtle")
    assert (answer.status, answer.out) == (64, "")
    assert answer.err == (
        "error: There is no code, trouble or exit code leftover-throtle.\n"
        "  cause: did you mean leftover-throttle?\n"
        "  next:  kadmin explain\n"
    )


def test_with_a_site_the_address_of_its_page_is_the_last_line() -> None:
    for answer in (
        command("--docs", f"{SITE}/", "explain", "KA044"),
        command("explain", "KA044", environment={"KADMIN_DOCS": SITE}),
    ):
        assert answer.out.splitlines()[-1] == f"{SITE}/docs/codes/ka044/"


@pytest.mark.parametrize("address", ["kadmin.example", "https://a b", "https://a\x1b]8;;"])
def test_a_site_is_a_url(address: str) -> None:
    answer = command("--docs", address, "explain", "KA044")
    assert (answer.status, answer.out) == (64, "")
    assert answer.err.endswith("  next:  --docs https://HOST/PATH, or KADMIN_DOCS\n")


def validated(folder: Path, **environment: str) -> str:
    """Validate a bad plan on a terminal, and return what the terminal is sent."""
    plan = folder / "plan.yaml"
    plan.write_text(BAD, encoding="utf-8")
    given = [f"{name}={value}" for name, value in environment.items()]
    validate = ["env", *given, sys.executable, "-m", "kadmin", "validate", str(plan)]
    status, sent = in_terminal(validate, 100)
    assert status == 3
    return sent


@pytest.mark.parametrize(
    "terminal", [{"TERM": "xterm-kitty"}, {"VTE_VERSION": "7600"}, {"FORCE_HYPERLINK": "1"}]
)
def test_a_terminal_with_links_gets_them(tmp_path: Path, terminal: dict[str, str]) -> None:
    sent = validated(tmp_path, KADMIN_DOCS=SITE, **terminal)
    assert LINK.findall(sent) == [(f"{SITE}/docs/codes/ka017/", "KA017")]


def test_without_a_site_the_link_leads_to_the_page_that_kadmin_carries(tmp_path: Path) -> None:
    ((address, _),) = LINK.findall(validated(tmp_path, FORCE_HYPERLINK="1"))
    file, _, anchor = address.partition("#")
    assert anchor == "ka017"
    page = Path(file.removeprefix(f"file://{socket.gethostname()}"))
    assert page.read_bytes() == (ROOT / "docs" / "codes.md").read_bytes()


@pytest.mark.parametrize(
    "terminal", [{}, {"VTE_VERSION": "4800"}, {"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}]
)
def test_other_terminals_get_none(tmp_path: Path, terminal: dict[str, str]) -> None:
    assert "\x1b]8" not in validated(tmp_path, **terminal)


def test_errors_have_links_too(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(BAD, encoding="utf-8")
    diff = [sys.executable, "-m", "kadmin", "diff", str(plan), "--inventory", str(tmp_path)]
    status, sent = in_terminal(diff, 100, FORCE_HYPERLINK="1", KADMIN_DOCS=SITE)
    assert status == 3
    assert LINK.findall(sent) == [(f"{SITE}/docs/codes/ka017/", "KA017")]
