"""The pages about looking at a cluster show every table as it is: with the columns that it has
now.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kadmin.cli.inspect import TABLES as COMMANDS
from kadmin.insight.predict import consumers, disturbance
from kadmin.insight.tables import configs, disks, kafka, partitions, zookeeper
from kadmin.insight.tables.table import columns_of

DOCS = Path(__file__).parents[2] / "docs"
TABLES = {
    "inspect.md": [
        columns_of(partitions.InspectedBroker, partitions.FENCED),
        columns_of(disks.DiskRow),
        columns_of(partitions.InspectedPartition, partitions.ELIGIBLE),
        columns_of(zookeeper.ControllerRow),
        columns_of(zookeeper.EntryRow),
        columns_of(configs.ConfigRow),
        columns_of(zookeeper.ConsumerRow),
        columns_of(zookeeper.NotificationRow),
        columns_of(zookeeper.AclRow),
        columns_of(zookeeper.TreeRow),
        columns_of(kafka.QuorumRow),
        columns_of(kafka.ReassignmentRow),
        columns_of(kafka.GroupRow),
    ],
    "consumers.md": [
        columns_of(consumers.OwnerRow),
        columns_of(consumers.CoordinatorRow),
        columns_of(disturbance.DisturbanceRow),
    ],
}
UPRIGHT = [columns_of(partitions.ClusterRow), columns_of(zookeeper.ProducerIdsRow)]
_EXAMPLE = re.compile(r"(?:^    .*\n)+", re.MULTILINE)


def examples(page: str) -> list[list[list[str]]]:
    """The words of each line of each example on a page."""
    found = _EXAMPLE.findall((DOCS / page).read_text(encoding="utf-8"))
    return [[line.split() for line in example.splitlines()] for example in found]


@pytest.mark.parametrize("page", TABLES)
def test_a_page_shows_every_table_with_its_columns_and_rows(page: str) -> None:
    shown = {tuple(example[0]): example[1:] for example in examples(page)}
    for columns in TABLES[page]:
        assert shown.get(columns), columns


def test_a_table_of_one_row_is_shown_column_by_column() -> None:
    shown = [tuple(line[0] for line in example) for example in examples("inspect.md")]
    for columns in UPRIGHT:
        assert columns in shown


def test_the_page_names_the_column_of_every_condition() -> None:
    text = (DOCS / "inspect.md").read_text(encoding="utf-8")
    counted = [condition.value.replace("-", "_") for condition in partitions.PartitionCondition]
    assert set(counted) < set(columns_of(partitions.TopicRow))
    assert [column for column in counted if f"`{column}`" not in text] == []


def test_every_inspect_command_has_its_part_of_the_page() -> None:
    text = (DOCS / "inspect.md").read_text(encoding="utf-8")
    titles = {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^## (.*)$", text, re.MULTILINE)
    }
    links = dict(re.findall(r"\| \[`inspect ([a-z-]+)[^`]*`\]\(#([a-z-]+)\)", text))
    assert set(links) == {*COMMANDS, "admin", "disks", "tree", "znode"}
    assert set(links.values()) <= titles
