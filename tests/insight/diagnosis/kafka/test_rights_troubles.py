"""Rights that the user of kadmin lacks, as brokers tell them."""

from __future__ import annotations

import pytest
from support.cluster.states import cluster

from kadmin.cluster.model import OwnRights
from kadmin.insight.diagnosis.finding import Trouble
from kadmin.worlds.kafka.doctor.diagnose import rights_troubles
from kadmin.worlds.kafka.doctor.evidence import ClusterLook, KafkaEvidence, RecordTopic

EVERYTHING = frozenset(
    {"Alter", "AlterConfigs", "Create", "Delete", "Describe", "DescribeConfigs", "Read", "Write"}
)
TOOL = (
    "kafka-acls.sh --bootstrap-server b:9092 --command-config c --add --allow-principal User:ann "
    "--operation"
)
TOPICS = ("__kadmin", "a", "b")


def found(rights: OwnRights | None) -> list[tuple[str, bool, str]]:
    """Return each finding's message, whether it stops an apply, and its command without what all
    have.
    """
    evidence = KafkaEvidence(
        (ClusterLook(cluster({"a-0": (1, 2)})),),
        "--bootstrap-server b:9092 --command-config c",
        "User:ann",
        record_topic=RecordTopic("__kadmin"),
        rights=rights,
    )
    findings = list(rights_troubles(evidence))
    assert {each.code for each in findings} <= {Trouble.MISSING_RIGHT}
    assert all(str(each.next_step).startswith(TOOL) for each in findings)
    return [
        (each.message, each.stops_apply, str(each.next_step).removeprefix(f"{TOOL} "))
        for each in findings
    ]


@pytest.mark.parametrize("rights", [None, OwnRights(EVERYTHING, dict.fromkeys(TOPICS, EVERYTHING))])
def test_nothing_is_missing(rights: OwnRights | None) -> None:
    assert found(rights) == []


def test_each_missing_right_has_its_command() -> None:
    topics = {
        "__kadmin": EVERYTHING - {"Write"},
        "a": EVERYTHING - {"Delete"},
        "b": EVERYTHING - {"Delete", "Read"},
    }
    assert found(OwnRights(EVERYTHING - {"Alter", "AlterConfigs"}, topics)) == [
        ("The right Alter on the cluster is missing.", True, "Alter --cluster"),
        ("The right AlterConfigs on the cluster is missing.", False, "AlterConfigs --cluster"),
        ("The right Delete on topics a, b is missing.", False, "Delete --topic a --topic b"),
        ("The right Write on topic __kadmin is missing.", True, "Write --topic __kadmin"),
    ]


def test_many_topics_are_granted_together() -> None:
    topics = {f"t{number}": EVERYTHING - {"Delete"} for number in range(6)}
    (only,) = found(OwnRights(EVERYTHING, topics))
    assert only == (
        "The right Delete on topics t0, t1, t2, t3, t4 and 1 more is missing.",
        False,
        "Delete --topic '*'",
    )


def test_without_describe_the_other_rights_on_the_cluster_are_not_known() -> None:
    assert found(OwnRights(frozenset(), {})) == [
        ("The right Describe on the cluster is missing.", True, "Describe --cluster")
    ]
