"""Properties of plans over brokers and their disks, checked on the request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.planner.small_clusters import clusters, lists, propose, request, requests
from support.planner.small_disks import disks_applied, fail, paths_of, places, with_disks

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.cluster.model import TopicPartition
from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import DiskSpec, FailedDisks, Only, ProposalLimits, Racks

if TYPE_CHECKING:
    from kadmin.plan.model import RebalanceRequest

thorough = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


@st.composite
def cases(draw: st.DrawFn) -> tuple[ClusterInventory, RebalanceRequest]:
    cluster = draw(clusters())
    wished = draw(requests(len(cluster.brokers)))
    return with_disks(cluster, draw(st.integers(0, 1000))), wished


@thorough
@given(cases())
def test_brokers_get_the_plan_that_they_get_without_disks(
    case: tuple[ClusterInventory, RebalanceRequest],
) -> None:
    """Rule: the level of brokers comes first: the lists, their order and reasons are the same."""
    cluster, wished = case
    bare, found = propose(replace(cluster, disks=(), replicas=()), wished), propose(cluster, wished)
    assert bare.error == found.error
    assume(bare.error is None)
    assert list(found.entries.items())[: len(bare.entries)] == list(bare.entries.items())
    inside = list(found.entries)[len(bare.entries) :]
    assert all(
        found.entries[key] == list_ for key, list_ in lists(cluster).items() if key in inside
    )
    assert set(bare.log_dirs.values()) <= {None}
    told = {key: value for key, value in found.figures.items() if key not in {"disks", "notes"}}
    assert told == {
        **{key: value for key, value in bare.figures.items() if key != "notes"},
        "reassignments": len(found.entries),
    }


@thorough
@given(cases())
def test_log_dirs_name_arrivals_and_moves_and_nothing_else(
    case: tuple[ClusterInventory, RebalanceRequest],
) -> None:
    """Rule: a replica that arrives where there is a choice gets a directory of its broker."""
    cluster, wished = case
    found = propose(cluster, wished)
    assume(found.error is None)
    before, paths, moves = places(cluster), paths_of(cluster), 0
    for key, row in found.entries.items():
        named = found.log_dirs[key]
        assert named is None or len(named) == len(row)
        for broker, path in zip(row, named or ["any"] * len(row), strict=True):
            now = before.get((*key, broker))
            if now is None:
                assert (path == "any") == (len(paths[broker]) < 2)
            assert path == "any" or (path in paths[broker] and path != now)
            moves += now is not None and path != "any"
    if "disks" in found.figures:
        told = found.figures["disks"]
        assert told["moves"] == moves >= told["moves_bound"]
        assert told["proved_fewest"] == (moves == told["moves_bound"])
        held = dict.fromkeys(((each["broker_id"], each["path"]) for each in told["disks"]), 0)
        for each in disks_applied(cluster, found).replicas:
            if (each.broker_id, each.path) in held:
                held[each.broker_id, each.path] += each.size_bytes or 0
        assert list(held.values()) == [each["after"] for each in told["disks"]]
        outside = sum(
            abs(each["after"] - each["part"]) > 0.05 * each["part"] + 2 for each in told["disks"]
        )
        assert told["outside"] >= outside


@thorough
@given(cases())
def test_a_second_run_moves_nothing_between_disks(
    case: tuple[ClusterInventory, RebalanceRequest],
) -> None:
    cluster, wished = case
    found = propose(cluster, wished)
    assume(found.error is None)
    emptied = tuple(sorted({*wished.drain, *wished.substitute}))
    again = propose(disks_applied(cluster, found), replace(wished, drain=emptied, substitute={}))
    assert (again.error, dict(again.entries)) == (None, {})


@thorough
@given(clusters(), st.integers(0, 1000))
def test_emptied_disks_hold_nothing_and_closed_ones_receive_nothing(
    cluster: ClusterInventory, seed: int
) -> None:
    """Rule: hard rules of disks; nothing leaves its broker with `only`."""
    cluster = with_disks(cluster, seed)
    several = {broker: paths for broker, paths in paths_of(cluster).items() if len(paths) > 2}
    assume(several)
    spec = DiskSpec(
        drain={broker: (paths[0],) for broker, paths in several.items()},
        no_receive={broker: (paths[1],) for broker, paths in several.items()},
    )
    for wished in (
        request(racks=Racks.IGNORE, disks=spec),
        request(only=Only.DISKS, disks=spec, racks=Racks.IGNORE),
    ):
        found = propose(cluster, wished)
        assume(found.error is None)
        after, before = places(disks_applied(cluster, found)), places(cluster)
        for (topic, number, broker), path in after.items():
            assert path not in spec.drain.get(broker, ())
            if path in spec.no_receive.get(broker, ()):
                assert before.get((topic, number, broker)) == path
        if wished.only is Only.DISKS:
            assert found.target(cluster) == lists(cluster)
            assert found.figures["moves"] == 0
        again = propose(disks_applied(cluster, found), wished)
        assert dict(again.entries) == {}


@thorough
@given(clusters(), st.integers(0, 1000), st.integers(0, 4))
def test_a_budget_of_disk_moves_holds(cluster: ClusterInventory, seed: int, most: int) -> None:
    cluster = with_disks(cluster, seed)
    limits = ProposalLimits(disk_moves=most)
    found = propose(cluster, request(racks=Racks.IGNORE, limits=limits))
    assume(found.error is None and "disks" in found.figures)
    assert found.figures["disks"]["moves"] <= most


def rows(*replicas: tuple[int, ...], size: int = 100) -> tuple[PartitionRow, ...]:
    return tuple(
        PartitionRow("a", number, held, held[0], held, size) for number, held in enumerate(replicas)
    )


def on(path: str, broker: int, *numbers: int, size: int = 100) -> tuple[DiskReplica, ...]:
    return tuple(DiskReplica(TopicPartition("a", each), broker, path, size) for each in numbers)


def cluster_of(
    partitions: tuple[PartitionRow, ...], brokers: int, *replicas: DiskReplica
) -> ClusterInventory:
    """Return a cluster with the disks /d0 and /d1 of about equal size under each broker."""
    disks = tuple(
        Disk(broker, path, 10**9 + at, 10**6)
        for broker in range(1, brokers + 1)
        for at, path in enumerate(("/d0", "/d1"))
    )
    held = tuple(BrokerRow(broker) for broker in range(1, brokers + 1))
    return ClusterInventory("c", held, partitions, disks=disks, replicas=replicas)


def test_one_disk_of_a_broker_is_evened_out_with_the_other() -> None:
    cluster = cluster_of(rows(*[(1,)] * 4), 1, *on("/d0", 1, 0, 1, 2, 3))
    found = propose(cluster, request())
    assert [found.log_dirs[key] for key in found.entries] == [["/d1"], ["/d1"]]
    assert found.figures["moves"] == 0
    told = found.figures["disks"]
    assert (told["moves"], told["moves_bound"], told["proved_fewest"]) == (2, 2, True)
    assert (told["before"], told["after"], told["moved_bytes"]) == (2.0, 1.0, 200)
    assert set(found.reasons.values()) == {
        "a disk of its broker must be emptied, or has too many bytes for its size, or too few"
    }


def test_weights_take_the_place_of_sizes() -> None:
    cluster = cluster_of(rows(*[(1,)] * 4), 1, *on("/d0", 1, 0, 1, 2, 3))
    found = propose(cluster, request(disks=DiskSpec(weights={1: {"/d0": 3.0}})))
    assert len(found.entries) == 1
    assert [each["part"] for each in found.figures["disks"]["disks"]] == [300, 100]


def test_replicas_of_a_failed_disk_go_to_other_brokers() -> None:
    """Rule: no replica comes to a broker with a failed disk, and none moves between its disks."""
    partitions = rows((1, 2), (2, 3), (3, 1), (1, 2), (2, 3), (3, 1))
    replicas = [
        *on("/d0", 1, 0, 2),
        *on("/d1", 1, 3, 5),
        *on("/d0", 2, 0, 1, 3, 4),
        *on("/d0", 3, 1, 2),
        *on("/d1", 3, 4, 5),
    ]
    whole = cluster_of(partitions, 3, *replicas)
    broken = fail(whole, 1, "/d1")
    stays = propose(broken, request())
    moved = propose(broken, request(disks=DiskSpec(failed=FailedDisks.MOVE)))
    assert 1 not in {
        broker
        for found in (stays, moved)
        for key, row in found.entries.items()
        for broker in set(row) - set(lists(broken)[key])
    }
    assert [1 in moved.target(broken)["a", number] for number in (3, 5)] == [False, False]
    assert {moved.reasons["a", number] for number in (3, 5)} == {"a disk that holds it has failed"}
    assert [1 in moved.target(broken)["a", number] for number in (0, 2)] == [True, True]
    assert all(each["broker_id"] != 1 for each in moved.figures["disks"]["disks"])
    again = propose(disks_applied(broken, moved), request(disks=DiskSpec(failed=FailedDisks.MOVE)))
    assert dict(again.entries) == {}


def test_replicas_leave_a_failed_disk_beside_a_replaced_broker() -> None:
    """Rule: lists are not kept in place for the sake of substitutes alone."""
    whole = cluster_of(rows((1, 2), (2, 3)), 4, *on("/d1", 1, 0), *on("/d0", 2, 0, 1))
    broken = fail(whole, 1, "/d1")
    wished = request(substitute={3: 4}, disks=DiskSpec(failed=FailedDisks.MOVE))
    held = propose(broken, wished).target(broken)
    assert 1 not in held["a", 0]
    assert not {1, 3} & set(held["a", 1])


def test_an_only_replica_on_a_failed_disk_is_said_to_be_lost() -> None:
    cluster = fail(cluster_of(rows((1,), (1, 2)), 3, *on("/d1", 1, 0), *on("/d0", 1, 1)), 1, "/d1")
    found = propose(cluster, request(disks=DiskSpec(failed=FailedDisks.MOVE)))
    assert ("a", 0) not in found.entries
    assert any("lost unless the disk returns: a-0" in note for note in found.figures["notes"])


def test_a_cordoned_disk_receives_nothing() -> None:
    cluster = cluster_of(rows(*[(1,)] * 4), 1, *on("/d0", 1, 0, 1, 2, 3))
    cordoned = replace(cluster.disks[1], state=DiskState.CORDONED)
    found = propose(replace(cluster, disks=(cluster.disks[0], cordoned)), request())
    assert dict(found.entries) == {}


def test_a_disk_without_room_receives_what_fits() -> None:
    cluster = cluster_of(rows(*[(1,)] * 8), 1, *on("/d0", 1, *range(8)))
    small = replace(cluster.disks[1], usable_bytes=150)
    found = propose(replace(cluster, disks=(cluster.disks[0], small)), request())
    assert found.figures["disks"]["moves"] == 1


def test_what_cannot_be_emptied_is_an_error() -> None:
    cluster = cluster_of(rows(*[(1,)] * 4), 1, *on("/d0", 1, 0, 1, 2, 3))
    both = propose(cluster, request(disks=DiskSpec(drain={1: ("/d0", "/d1")})))
    assert str(both.error).startswith("InfeasibleError")
    excluded = request(exclude_topics=("a",), disks=DiskSpec(drain={1: ("/d0",)}))
    assert "a disk to be emptied holds replicas that must stay" in str(
        propose(cluster, excluded).error
    )


def test_own_bytes_of_replicas_count() -> None:
    """Rule: a replica's own bytes count on its disk, not those of its partition."""
    replicas = (*on("/d0", 1, 0, size=300), *on("/d1", 1, 1, 2, 3))
    found = propose(cluster_of(rows(*[(1,)] * 4), 1, *replicas), request())
    assert dict(found.entries) == {}


def test_brokers_get_no_more_than_their_disks_can_hold() -> None:
    """Rule: counts are less even where the disks of a broker have no room for more."""
    held = [(1,)] * 8
    cluster = cluster_of(rows(*held), 2, *on("/d0", 1, *range(4)), *on("/d1", 1, *range(4, 8)))
    small = tuple(
        replace(disk, usable_bytes=100) if disk.broker_id == 2 else disk for disk in cluster.disks
    )
    found = propose(replace(cluster, disks=small), request(bytes_tolerance=1.0))
    assert sum(row == (2,) for row in found.target(cluster).values()) == 2
    arrivals = [found.log_dirs[key] for key, row in found.entries.items() if row == (2,)]
    assert sorted(map(str, arrivals)) == ["['/d0']", "['/d1']"]


def test_a_full_disk_of_an_emptied_one_is_an_error() -> None:
    cluster = cluster_of(rows(*[(1,)] * 4), 1, *on("/d0", 1, 0, 1, 2, 3))
    full = replace(cluster.disks[1], usable_bytes=150)
    found = propose(
        replace(cluster, disks=(cluster.disks[0], full)),
        request(disks=DiskSpec(drain={1: ("/d0",)})),
    )
    assert "within its usable_bytes" in str(found.error)


GB = 10**9


def shared_cluster(*replicas: DiskReplica) -> ClusterInventory:
    """Return a broker with /d0 and /d1 on one file system, and an equal disk /d2."""
    cluster = cluster_of(rows(*[(1,)] * len(replicas), size=GB), 1, *replicas)
    usable = {"/d0": 10**12, "/d1": 10**12 + 10**6, "/d2": 10**12 + GB}
    return replace(cluster, disks=tuple(Disk(1, path, 10**13, usable[path]) for path in usable))


def test_directories_of_one_file_system_are_one_disk() -> None:
    """Rule: nothing moves between them, and they have one part; the note names the brokers."""
    cluster = shared_cluster(*on("/d0", 1, *range(8), size=GB))
    found = propose(cluster, request())
    assert [found.log_dirs[key] for key in found.entries] == [["/d2"]] * 4
    told = found.figures["disks"]["disks"]
    assert [(each["path"], each["shared_with"], each["part"]) for each in told] == [
        ("/d0", ["/d1"], 4 * GB),
        ("/d2", [], 4 * GB),
    ]
    assert any("count as one disk, on brokers 1" in note for note in found.figures["notes"])
    assert dict(propose(disks_applied(cluster, found), request()).entries) == {}


def test_new_replicas_on_a_file_system_go_to_its_emptier_directory() -> None:
    cluster = shared_cluster(*on("/d2", 1, *range(9), size=GB), *on("/d0", 1, 9, size=GB))
    found = propose(cluster, request())
    assert [found.log_dirs[key] for key in found.entries] == [["/d1"], ["/d0"]] * 2


def test_an_emptied_directory_may_leave_its_replicas_on_its_file_system() -> None:
    replicas = (*on("/d0", 1, *range(4), size=GB), *on("/d2", 1, *range(4, 8), size=GB))
    found = propose(shared_cluster(*replicas), request(disks=DiskSpec(drain={1: ("/d0",)})))
    assert [found.log_dirs[key] for key in found.entries] == [["/d1"]] * 4


def test_equal_disks_that_hold_about_the_same_are_disks_of_their_own() -> None:
    """Rule: nothing tells them from one file system, and the room is shared out."""
    cluster = cluster_of(rows(*[(1,)] * 8, size=GB), 2, *on("/d0", 1, *range(8), size=GB))
    disks = tuple(replace(each, total_bytes=10**13, usable_bytes=10**12) for each in cluster.disks)
    found = propose(replace(cluster, disks=disks), request())
    arrivals = [found.log_dirs[key] for key, row in found.entries.items() if row == (2,)]
    assert sorted(map(str, arrivals)) == ["['/d0']"] * 2 + ["['/d1']"] * 2
