from __future__ import annotations

from typing import TYPE_CHECKING

from support.cluster.states import cluster, tp

from kadmin.plan import codes
from kadmin.plan.model import (
    FreeBytes,
    LoadSpec,
    Pin,
    PlanHeader,
    Policy,
    ProposalLimits,
    RebalanceRequest,
    Switch,
)
from kadmin.plan.rules import ClusterView, check, missing_everywhere

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.diagnostics import Diagnostic

REQUEST = RebalanceRequest(
    PlanHeader(),
    drain=(1, 21),
    no_receive=(22,),
    never_lead=(1, 1, 23),
    substitute={24: 1, 2: 25},
    weights={26: 1.0, 1: 2.0},
    broker_sets={"pay-*": (1, 27)},
    pins=(Pin(tp("a-0"), (1, 28)), Pin(tp("a-7"), (1,))),
    free=FreeBytes(29, 5),
)


def on(assignment: dict[str, tuple[int, ...]], brokers: Iterable[int]) -> ClusterView:
    return ClusterView(cluster(assignment, brokers={broker: f"r{broker}" for broker in brokers}))


def named(request: RebalanceRequest, world: ClusterView) -> list[Diagnostic]:
    return [
        each
        for each in check(request, world)
        if each.code in (codes.UNKNOWN_BROKER, codes.UNKNOWN_PARTITION)
    ]


def test_every_place_that_names_a_broker_is_looked_at() -> None:
    brokers, spec = ("spec", "brokers"), "spec"
    found = named(REQUEST, on({"a-0": (1, 2)}, [1, 2]))
    assert [(each.broker, each.field) for each in found if each.code == codes.UNKNOWN_BROKER] == [
        (21, (*brokers, "drain", 1)),
        (22, (*brokers, "no_receive", 0)),
        (23, (*brokers, "never_lead", 2)),
        (24, (*brokers, "substitute", "24")),
        (25, (*brokers, "substitute", "2")),
        (26, (*brokers, "weights", "26")),
        (27, (spec, "broker_sets", "pay-*", 1)),
        (28, (spec, "pins", 0, "replicas", 1)),
        (29, (spec, "free", "broker")),
    ]
    assert {each.next_step for each in found if each.broker} == {"its brokers are 1, 2"}
    assert found[0].message == "the inventory has no broker 21"


def test_a_pin_of_a_partition_that_is_not_there() -> None:
    found = named(REQUEST, on({"a-0": (1, 2)}, range(30)))
    assert [(each.code, each.message, each.field) for each in found] == [
        (
            codes.UNKNOWN_PARTITION,
            "the inventory has no partition a-7",
            ("spec", "pins", 1, "topic"),
        )
    ]


def test_a_request_that_fits_has_nothing_to_say() -> None:
    assert check(RebalanceRequest(PlanHeader(), drain=(1,)), on({}, [1])) == ()


def test_ten_brokers_are_named_of_many() -> None:
    (found,) = check(RebalanceRequest(PlanHeader(), drain=(99,)), on({}, range(12)))
    assert found.next_step == "its brokers are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"


def test_what_leaders_only_cannot_do_is_told_field_by_field() -> None:
    request = RebalanceRequest(
        PlanHeader(),
        leaders_only=True,
        drain=(1,),
        substitute={2: 3},
        replication_factor={"*": 2},
        free=FreeBytes(4, 5),
    )
    names = ("brokers.drain", "brokers.substitute", "replication_factor", "free")
    found = check(request)
    assert {each.code for each in found} == {codes.CONTRADICTION}
    fields = [("spec", *name.split(".")) for name in names]
    assert [(each.message, each.field) for each in found[:4]] == [
        (f"spec.leaders_only moves no data, and spec.{name} asks for more", field)
        for name, field in zip(names, fields, strict=True)
    ]
    assert [(each.message, each.field) for each in found[4:]] == [
        (f"spec.free moves replicas of one broker, and spec.{name} asks for more", field)
        for name, field in zip(names[:3], fields[:3], strict=True)
    ]


def test_load_goes_with_leaders_only_and_not_with_free() -> None:
    load = LoadSpec("load")
    assert check(RebalanceRequest(PlanHeader(), leaders_only=True, load=load)) == ()
    (found,) = check(RebalanceRequest(PlanHeader(), free=FreeBytes(4, 5), load=load))
    assert (found.code, found.field) == (codes.CONTRADICTION, ("spec", "load"))


def test_a_limit_on_what_load_adds_needs_a_load() -> None:
    limits = ProposalLimits(load_moves=0, load_leader_changes=0.5)
    found = check(RebalanceRequest(PlanHeader(), limits=limits))
    assert [(each.code, each.field) for each in found] == [
        (codes.CONTRADICTION, ("spec", "limits", "load_moves")),
        (codes.CONTRADICTION, ("spec", "limits", "load_leader_changes")),
    ]
    assert check(RebalanceRequest(PlanHeader(), limits=limits, load=LoadSpec("load"))) == ()


def test_a_pattern_that_matches_nothing_is_a_warning_with_the_nearest_name() -> None:
    request = RebalanceRequest(
        PlanHeader(),
        include_topics=("orders*", "pay_*", "*-uk", "*x*"),
        exclude_topics=("_consumer_offsets", "orders"),
        replication_factor={"odrers": 2, "orders": 3, "zzz": 2},
        broker_sets={"pay-[ae]*": (1,), "pay-[xy]*": (1,)},
    )
    world = on({f"{name}-0": (1, 2) for name in ("orders", "pay-eu", "__consumer_offsets")}, [1, 2])
    spec, said = "spec", "matches no topic of the inventory"
    assert [
        (each.message, each.next_step, each.field, each.severity)
        for each in check(request, world)
        if each.code == codes.UNMATCHED_PATTERN
    ] == [
        (f"spec.{name}: {pattern} {said}", step, (spec, *name.split("."), key), "warning")
        for name, key, pattern, step in (
            ("topics.include", 1, "pay_*", "did you mean pay-eu?"),
            ("topics.include", 2, "*-uk", "did you mean pay-eu?"),
            ("topics.include", 3, "*x*", None),
            ("topics.exclude", 0, "_consumer_offsets", "did you mean __consumer_offsets?"),
            ("replication_factor", "odrers", "odrers", "did you mean orders?"),
            ("replication_factor", "zzz", "zzz", None),
            ("broker_sets", "pay-[xy]*", "pay-[xy]*", "did you mean pay-eu?"),
        )
    ]


def test_a_policy_makes_a_pattern_that_matches_nothing_an_error_or_nothing() -> None:
    request, world = RebalanceRequest(PlanHeader(), exclude_topics=("order",)), on({}, [1])
    for switch, severities in (("error", ["error"]), ("warning", ["warning"]), ("off", [])):
        policy = Policy(codes={codes.UNMATCHED_PATTERN: Switch(switch)})
        assert [each.severity for each in check(request, world, policy)] == severities


def test_a_pattern_that_matches_no_name_at_all_is_one_error() -> None:
    request = RebalanceRequest(PlanHeader(), exclude_topics=("order[",))
    assert [each.code for each in check(request, on({}, [1]))] == [codes.MALFORMED]


def test_in_a_fleet_a_pattern_matches_if_any_cluster_has_such_a_topic() -> None:
    request = RebalanceRequest(PlanHeader(), exclude_topics=("a", "b", "c"))
    worlds = [on({f"{topic}-0": (1,)}, [1]) for topic in ("a", "b")]
    found = missing_everywhere([check(request, world) for world in worlds])
    assert [(each.message, each.next_step) for each in found] == [
        ("spec.topics.exclude: c matches no topic of the inventory", None)
    ]


def test_a_pin_of_an_unknown_topic_suggests_the_nearest() -> None:
    request = RebalanceRequest(PlanHeader(), pins=(Pin(tp("ordes-0"), (1,)), Pin(tp("b-0"), (1,))))
    found = check(request, on({"orders-0": (1,)}, [1]))
    assert [each.next_step for each in found] == ["did you mean orders?", None]
