"""Several documents side by side: who meets whom, in which words, and where it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.documents.invariants import is_valid

from kadmin.documents.check import examine
from kadmin.documents.together import check_together
from kadmin.plan import codes

if TYPE_CHECKING:
    from kadmin.diagnostics import Diagnostic

HINT = (
    "a deletion during a reassignment of its topic leaves a request that blocks every other "
    "reassignment"
)
AT_END = "let the reassignment elect: spec.elect: at_end"


def moves(*partitions: str, cluster: str | None = None) -> str:
    entries = [f"{{topic: {p[:-2]}, partition: {p[-1]}, replicas: [1]}}" for p in partitions]
    return (
        f"kind: PartitionReassignment\n{of(cluster)}spec: {{partitions: [{', '.join(entries)}]}}\n"
    )


def deletes(*topics: str, cluster: str | None = None) -> str:
    return f"kind: TopicDeletion\n{of(cluster)}spec: {{topics: [{', '.join(topics)}]}}\n"


def elects(spec: str, cluster: str | None = None) -> str:
    return f"kind: PreferredReplicaElection\n{of(cluster)}spec: {{{spec}}}\n"


def of(cluster: str | None) -> str:
    return "" if cluster is None else f"metadata: {{cluster_id: {cluster}}}\n"


def together(*texts: str) -> tuple[Diagnostic, ...]:
    """Check documents that are named a.yaml, b.yaml, ... and are each valid."""
    documents = [
        examine(text.encode(), f"{name}.yaml") for name, text in zip("abcdef", texts, strict=False)
    ]
    assert all(is_valid(document) for document in documents)
    return check_together(documents)


def told(*texts: str) -> list[tuple[str, str, str]]:
    return [(each.location.file, each.code, each.message) for each in together(*texts)]


def test_a_partition_in_two_plans_is_told_in_the_later_one() -> None:
    (found,) = together(moves("t-0", "t-1"), moves("t-2", "t-1"))
    assert (found.location.file, found.location.line, found.severity) == ("b.yaml", 2, "error")
    assert (found.code, found.message) == (
        codes.PARTITION_IN_TWO_PLANS,
        "t-1: reassigned by a.yaml, too",
    )
    assert found.next_step == "keep one of the two"


def test_the_first_of_several_plans_is_named() -> None:
    found = told(moves("t-0"), moves("t-0"), moves("t-0"))
    assert [(file, message) for file, _, message in found] == [
        ("b.yaml", "t-0: reassigned by a.yaml, too"),
        ("c.yaml", "t-0: reassigned by a.yaml, too"),
    ]


def test_a_topic_deleted_by_one_and_used_by_another() -> None:
    assert told(deletes("t", "u"), moves("t-0", "t-1", "v-0")) == [
        ("b.yaml", codes.DELETED_AND_USED, "t is deleted by a.yaml")
    ]
    assert told(moves("t-0", "t-1", "v-0"), deletes("u", "t")) == [
        ("b.yaml", codes.DELETED_AND_USED, "t is used by a.yaml")
    ]
    assert told(elects("topics: [t, x]"), deletes("t")) == [
        ("b.yaml", codes.DELETED_AND_USED, "t is used by a.yaml")
    ]
    assert told(deletes("t"), elects("partitions: [{topic: t, partition: 4}]")) == [
        ("b.yaml", codes.DELETED_AND_USED, "t is deleted by a.yaml")
    ]
    (found,) = together(deletes("t"), moves("t-0"))
    assert (found.next_step, found.severity) == (HINT, "error")
    (found,) = together(moves("t-0"), deletes("u", "t").replace(", t", ",\n  t"))
    assert (found.location.line, found.next_step) == (3, HINT), "at the topic that is used"


def test_an_election_of_what_another_plan_reassigns_is_a_warning_in_the_later_one() -> None:
    said = "a.yaml and this plan meet: one reassigns t-0 and 1 more, one elects its leader"
    (found,) = together(moves("t-0", "t-1", "u-0"), elects("topics: [t]"))
    assert (found.code, found.message) == (codes.ELECTED_WHILE_REASSIGNED, said)
    assert (found.next_step, found.severity) == (AT_END, "warning")
    apart = moves("t-0", "t-1").replace(", {topic: t, partition: 1", ",\n  {topic: t, partition: 1")
    (found,) = together(elects("partitions: [{topic: t, partition: 1}]"), apart)
    assert found.location.line == 3, "at the partition that meets, not at the first of its topic"
    by_partition = told(elects("partitions: [{topic: t, partition: 1}]"), moves("t-0", "t-1"))
    said = "a.yaml and this plan meet: one reassigns t-1, one elects its leader"
    assert by_partition == [("b.yaml", codes.ELECTED_WHILE_REASSIGNED, said)]
    assert (
        told(
            moves("t-0"), elects("partitions: [{topic: t, partition: 1}, {topic: u, partition: 0}]")
        )
        == []
    )
    said = "a.yaml and this plan meet: one reassigns t-0 and 1 more, one elects its leader"
    assert told(moves("t-0", "u-1"), elects("all: true")) == [
        ("b.yaml", codes.ELECTED_WHILE_REASSIGNED, said)
    ]
    (found,) = together(elects("all: true"), moves("t-0", "u-1"))
    assert (found.path, found.severity) == ("$.spec.partitions[0]", "warning")


def test_plans_of_different_clusters_do_not_meet() -> None:
    assert (
        told(
            moves("t-0", cluster="one"), moves("t-0", cluster="two"), deletes("t", cluster="three")
        )
        == []
    )
    assert told(elects("topics: [t]", cluster="one"), moves("t-0", cluster="two")) == []
    assert [file for file, *_ in told(moves("t-0", cluster="one"), moves("t-0"))] == ["b.yaml"]
    assert [
        file for file, *_ in told(moves("t-0", cluster="one"), moves("t-0", cluster="one"))
    ] == ["b.yaml"]


def test_plans_that_do_nothing_to_each_other_are_quiet() -> None:
    assert (
        told(moves("t-0"), moves("t-1"), deletes("u"), elects("topics: [v]"), elects("topics: [v]"))
        == []
    )


def test_a_document_that_is_none_meets_nobody_and_hides_nobody() -> None:
    broken = examine(b"kind: [", "broken.yaml")
    plans = [examine(moves("t-0").encode(), name) for name in ("a.yaml", "b.yaml")]
    assert [each.location.file for each in check_together([plans[0], broken, plans[1]])] == [
        "b.yaml"
    ]


def test_the_other_s_name_is_shown_as_a_terminal_may_see_it() -> None:
    first, second = (examine(moves("t-0").encode(), name) for name in ("a\x1b.yaml", "b.yaml"))
    (found,) = check_together([first, second])
    assert found.message == "t-0: reassigned by a\ufffd.yaml, too"
