"""docs/codes.md: each code has an example that shows it and one that does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from support.cluster.capabilities import NODES
from support.pages.codes import PAGE as CODES_PAGE
from support.pages.codes import codes_page

from kadmin.cli import run
from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.cluster.model import PendingRequest, Requests, TopicPartition
from kadmin.diagnostics import Diagnostic, Location
from kadmin.documents import parse_document
from kadmin.documents.together import switched
from kadmin.errors import KadminError
from kadmin.inventory import read_inventory, world_of
from kadmin.operations.decide.examine import examine
from kadmin.plan.codes import TABLE
from kadmin.plan.model import Policy, RebalanceRequest, Switch
from kadmin.plan.signals import KnownSignals
from kadmin.planner.local import propose
from kadmin.planner.proposal import Options

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE = CODES_PAGE.read_text(encoding="utf-8")
FENCE = re.compile(r"```([a-z]+)\n(.*?)```", re.DOTALL)
UNSEEN = "groups that keep their offsets in Kafka were not seen"
FACTS: dict[str, dict[str, object]] = {
    "KA053": {"delete_topic_enable": False},
    "KA055": {"auto_create_topics_enable": True},
    "KA058": {"unavailable": [UNSEEN]},
    "KA107": {"tiered_topics": ["orders"]},
}
GOLDEN = Path(__file__).parent / "codes"
MOST_LINES = 40
LIVE = {
    "KA059": {
        "reassignment": PendingRequest(
            "/admin/reassign_partitions", {TopicPartition("moving", 0): (3, 2)}
        )
    },
    "KA060": {
        "election": PendingRequest(
            "/admin/preferred_replica_election", {TopicPartition("moving", 0): ()}
        )
    },
    "KA061": {"deletions": ("old-events",)},
    "KA070": {},
    "KA073": {},
    "KA077": {},
    "KA086": {},
    "KA087": {},
    "KA089": {},
    "KA090": {},
    "KA091": {},
    "KA092": {},
    "KA093": {},
    "KA099": {},
}
"""What is pending on the live clusters of the examples that need one."""
CONFIGS = {"KA099": {"orders": {"cleanup.policy": "compact"}}}
"""The configs of topics of these clusters."""
POLICIES = {
    "KA086": Policy(never_unclean=("stranded",)),
    "KA093": Policy(codes={"KA093": Switch.ERROR}),
}
USABLE = {"KA070": {3: 1_000}}
"""The bytes that disks of these clusters can still hold."""
A_0 = TopicPartition("orders", 0)
DISKS = {
    broker: (
        Disk(broker, "/data/a", 1_000, 200),
        Disk(broker, "/data/b", 1_000, 900, state),
    )
    for broker, state in enumerate((DiskState.ONLINE, DiskState.CORDONED, DiskState.FAILED), 1)
}
"""The disks of the clusters of the examples of KA089 to KA093."""
ON_DISKS = {broker: (DiskReplica(A_0, broker, "/data/a", 10),) for broker in (1, 2)} | {3: ()}
ONLINE = dict.fromkeys((1, 2), DISKS[1])
ASKED = {"KA073": (f"{UNSEEN}: Broker 2 did not list consumer groups",)}
"""What brokers of these clusters did not answer."""
OLD_BROKERS = {"KA087"}
"""Those whose brokers elect uncleanly by config."""
SIGNALS = KnownSignals("prod", {"produce_p99": "s"})
"""The signals of the context of these clusters."""
PLANNED = {"KA065"}
"""Codes that only the planner finds."""
WARNINGS = {
    "KA022",
    "KA024",
    "KA025",
    "KA032",
    "KA047",
    "KA055",
    "KA056",
    "KA058",
    "KA066",
    "KA071",
    "KA075",
    "KA082",
    "KA098",
    "KA103",
    "KA104",
    "KA107",
}


ALWAYS = {code: {"KA082"} for code in ("KA083", "KA084", "KA085")}
"""Warnings that every plan of a kind has."""


class Example(NamedTuple):
    language: str
    text: str


def sections() -> dict[str, str]:
    found = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in found}


SECTIONS = sections()
CODES = [name for name in SECTIONS if re.fullmatch("KA[0-9]{3}", name)]
VALIDATED = [code for code in CODES if code not in LIVE and code not in PLANNED]


def examples(code: str) -> tuple[Example, Example]:
    bad, good = (Example(*found) for found in FENCE.findall(SECTIONS[code]))
    return bad, good


def lay_out(folder: Path, facts: Mapping[str, object], *, unracked: bool = False) -> None:
    """Write the page's inventory, with further facts of its Kafka; `unracked` without the rack of
    broker 3.
    """
    blocks = [text for _, text in FENCE.findall(SECTIONS["The inventory of the examples"])]
    header = json.loads(blocks[0])
    header["kafka"] |= facts
    folder.mkdir()
    (folder / "inventory.json").write_text(json.dumps(header))
    (folder / "brokers.csv").write_text(
        blocks[1].replace("3,r3,", "3,,") if unracked else blocks[1]
    )
    (folder / "partitions.csv").write_text(blocks[2])


def validated(example: Example, code: str, folder: Path, output: str) -> int:
    """Validate an example as the page says, in its folder."""
    folder.mkdir()
    data = example.text.encode()
    if example.language == "sh":
        data = subprocess.run(["sh", "-c", example.text], capture_output=True, check=True).stdout
    parts = re.split(rb"^# file: (.*)\n", data, flags=re.MULTILINE)
    files = dict(zip(parts[1::2], parts[2::2], strict=True)) or {b"plan.yaml": data}
    for name, text in files.items():
        (folder / name.decode()).write_bytes(text)
    arguments = ["validate", folder.name, "--format", output]
    if code >= "KA040":
        lay_out(
            folder.parent / f"inventory-{folder.name}",
            FACTS.get(code, {}),
            unracked=code == "KA064",
        )
        arguments += ["--inventory", f"inventory-{folder.name}"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder.parent)
        patch.setenv("COLUMNS", "100")
        return run(arguments)


def found_in(
    example: Example, code: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, set[str]]:
    """Validate an example and return exit code and codes."""
    status = validated(example, code, folder, "json")
    return status, {problem["code"] for problem in json.loads(capsys.readouterr().out)["problems"]}


def refused(example: Example, code: str, folder: Path) -> list[KadminError]:
    """Return the refusals of the live cluster of an example, or of the planner."""
    lay_out(folder / "inventory", {})
    document = parse_document(example.text.encode(), "plan.yaml")
    if isinstance(document, RebalanceRequest):
        try:
            propose(document, folder / "inventory", Options())
        except KadminError as error:
            return [error]
        return []
    world = world_of(read_inventory(folder / "inventory").single())
    state = replace(world.state, requests=Requests(**LIVE[code]))  # type: ignore[arg-type]  # by field
    state = replace(state, topic_configs=CONFIGS.get(code, {}))
    assert not isinstance(document, Policy)
    facts = replace(
        world.facts,
        usable=USABLE.get(code, {}),
        unavailable=ASKED.get(code, ()),
        from_brokers=True,
        signals=SIGNALS,
        elects_by_config=code in OLD_BROKERS,
        disks={} if code < "KA089" else ONLINE if code == "KA092" else DISKS,
        replicas={} if code < "KA089" else ON_DISKS,
        disks_unavailable=("broker 3 did not answer",) if code == "KA092" else (),
    )
    policy = POLICIES.get(code)
    return list(examine(document, state, NODES.publish, facts, policy).refusals)


@pytest.mark.parametrize("code", [*LIVE, *PLANNED])
def test_what_validate_does_not_see_is_refused_by_the_bad_example_and_not_by_the_good_one(
    code: str, tmp_path: Path
) -> None:
    for example, folder in zip(examples(code), (tmp_path / "bad", tmp_path / "good"), strict=True):
        folder.mkdir()
        found = refused(example, code, folder)
        if folder.name == "good":
            assert found == []
            continue
        (error,) = found
        assert error.cause == f"{code}: {TABLE[code].meaning}"
        assert type(error) is TABLE[code].refusal
        golden(code, "\n".join(error.lines()) + "\n")


def golden(code: str, text: str) -> None:
    if os.environ.get("KADMIN_WRITE_GOLDEN"):
        (GOLDEN / f"{code}.txt").write_text(text, encoding="utf-8")
    assert text == (GOLDEN / f"{code}.txt").read_text(encoding="utf-8")


def test_the_page_has_every_code_with_its_meaning() -> None:
    """Write the meanings anew with: PYTHONPATH=tests python -m support.pages.codes"""
    assert list(TABLE) == sorted(TABLE) == CODES
    assert codes_page(PAGE) == PAGE


@pytest.mark.parametrize("code", VALIDATED)
def test_the_bad_example_shows_it_and_the_good_one_does_not(
    code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, good = examples(code)
    status, codes = found_in(bad, code, tmp_path / "bad", capsys)
    assert code in codes
    assert status == (0 if codes <= WARNINGS else 3)
    status, codes = found_in(good, code, tmp_path / "good", capsys)
    assert (status, codes) == (0, ALWAYS.get(code, set()))


@pytest.mark.parametrize("code", VALIDATED)
def test_every_code_can_be_switched_off(
    code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, _ = examples(code)
    policy = tmp_path / "policy.yaml"
    policy.write_text(f'kind: Policy\nspec: {{codes: {{{code}: "off"}}}}\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KADMIN_POLICY", str(policy))
        status, codes = found_in(bad, code, tmp_path / "bad", capsys)
    assert code not in codes
    assert status == (0 if codes <= WARNINGS else 3)


@pytest.mark.parametrize("code", CODES)
def test_every_code_can_be_made_a_warning_or_an_error(code: str) -> None:
    told = [
        Diagnostic(code, "m", severity=each, location=Location("f", 1, 1))
        for each in ("error", "warning")
    ]
    for switch in (Switch.WARNING, Switch.ERROR):
        assert {each.severity for each in switched(told, Policy(codes={code: switch}))} == {
            switch.value
        }
    assert list(switched(told, Policy(codes={"KA999": Switch.OFF}))) == told


@pytest.mark.parametrize("code", VALIDATED)
def test_the_bad_example_word_for_word(
    code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """KADMIN_WRITE_GOLDEN=1 writes the files anew, for a reader of the diff to judge."""
    bad, _ = examples(code)
    validated(bad, code, tmp_path / "plans", "human")
    lines = capsys.readouterr().out.splitlines()
    text = "\n".join([*lines[:-1][:MOST_LINES], lines[-1]]) + "\n"
    golden(code, text)
