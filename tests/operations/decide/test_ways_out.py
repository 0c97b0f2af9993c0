"""No state of an operation is without a command that leaves it: a search over states, dead brokers
and answers.

tests/support/executor/ways_out.py has the model. Every kind of operation on two partitions is put
on a cluster in every state here, through the brokers' API and through ZooKeeper, a partition with a
source beside one without among them; then every command is followed through every answer, and what
is left behind must have a way out, too.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from typing import TYPE_CHECKING

import pytest
from support.executor.ways_out import (
    IDS,
    ORIGINAL,
    OTHERS,
    TARGET,
    WAYS,
    A,
    B,
    Search,
    World,
    cancel_now,
)

from kadmin.operations.decide.actions import Finish
from kadmin.operations.record.steps import (
    CancelStep,
    CreationStep,
    DeletionStep,
    ElectionStep,
    Intent,
    Sending,
    WaveStep,
)
from kadmin.worlds.zookeeper.znodes.admin import PROBE_PARTITION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.operations.record.steps import Step

API_PLACES = (
    *(
        "original",
        "in flight",
        "halted",
        "reordered",
        "redirected",
        "target",
        "elsewhere",
        "deleted",
    ),
    "made again",
)
NODE_PLACES = ("original", "in flight", "union", "redirected", "target", "elsewhere", "deleted")
ISRS: tuple[Replicas, ...] = ((), (1, 2), (3,), (1, 2, 3))
DEAD = tuple(map(frozenset, ((), (1,), (3,), (1, 2), (1, 2, 3))))
BESIDE: tuple[tuple[str, Replicas], ...] = (
    ("original", (1, 2)),
    ("in flight", (1, 2)),
    ("in flight", (3,)),
)
OURS = ((A, TARGET), (B, TARGET))
NODES = {
    "none": (),
    "ours": (OURS,),
    "ours and another": ((*OURS, (OTHERS, TARGET)),),
    "ours and an invalid one": ((*OURS, (OTHERS, (1, 1))),),
    "another": (((OTHERS, TARGET),),),
    "a probe": (((PROBE_PARTITION, (1,)),),),
    "unreadable": (None,),
}
WAVES = tuple(WaveStep(number, "now", number - 1) for number in (1, 2))


def sent(step: WaveStep | CancelStep, *partitions: TopicPartition) -> Step:
    """Return the step as it is sent to brokers."""
    return replace(
        step, sending=Sending.ANSWERED, intent=Intent(dict.fromkeys(partitions, TARGET), IDS)
    )


def on(world: World, node: str) -> World:
    """Put an admin node into a world, and the partition of another tool that it names."""
    requested = NODES[node]
    named = any(each == OTHERS for entries in requested for each, _ in entries or ())
    return replace(world, requested=requested, others="original" if named else "")


def reassignments_through_brokers() -> Iterator[World]:
    for place, isr, (other, other_isr), dead in product(API_PLACES, ISRS, BESIDE[1:], DEAD):
        world = World(
            "one wave",
            (place, other),
            (isr, other_isr),
            dead,
            api=True,
            steps=(sent(WAVES[0], A, B),),
        )
        yield world
        if (other, other_isr) == BESIDE[-1]:
            yield replace(
                world, work="two waves", places=(place, "original"), steps=(sent(WAVES[0], A),)
            )


def reassignments_through_nodes() -> Iterator[World]:
    for place, isr, (other, other_isr), dead in product(NODE_PLACES, ISRS, BESIDE[1:], DEAD):
        world = World("one wave", (place, other), (isr, other_isr), dead, steps=WAVES[:1])
        yield from (on(world, node) for node in NODES)
        two = replace(world, work="two waves")
        yield replace(two, requested=(OURS[:1],))
        yield replace(two, steps=WAVES, requested=(OURS[1:],))
        yield replace(two, steps=WAVES, elections=(((OTHERS, ()),),))
        yield replace(on(world, "ours"), deaf=True)
        yield replace(on(world, "ours"), controlled=False)


def elections() -> Iterator[World]:
    ours, foreign = ((A, ()), (B, ())), ((OTHERS, ()),)
    nodes = ((), (ours,), (foreign,), (None,), ((),))
    steps = ((), (ElectionStep(1, "now", (A, B)),))
    isrs: tuple[Replicas, ...] = ((2, 1), (1, 2), (2,), ())
    for isr, dead, asked, node, deaf, controlled in product(
        isrs, DEAD, steps, nodes, (False, True), (True, False)
    ):
        others = "original" if node == (foreign,) else ""
        world = World(
            "election", ("original", "original"), (isr, (2, 1)), dead, steps=asked, others=others
        )
        yield replace(world, elections=node, deaf=deaf, controlled=controlled)
        if not node and not deaf:
            yield replace(world, api=True, controlled=controlled)


def topics(work: str, kind: type[DeletionStep | CreationStep]) -> Iterator[World]:
    one, both = (kind(1, "now", names) for names in (("a",), ("a", "b")))
    refused = replace(both, sending=Sending.ANSWERED, refused_topics={"b": "POLICY_VIOLATION"})
    by_api = (refused, replace(both, sending=Sending.UNANSWERED))
    at: tuple[tuple[str, Replicas], ...] = (
        ("original", (1, 2)),
        ("original", ()),
        ("spared", (1, 2)),
        ("deleted", ()),
    )
    for (a, a_isr), (b, b_isr), dead, controlled in product(at, at, DEAD, (True, False)):
        world = World(work, (a, b), (a_isr, b_isr), dead, controlled=controlled)
        for steps, queued in product(((), (one,), (both,)), ((), ("a",), ("a", "b"))):
            yield replace(world, steps=steps, deletions=queued)
        for step in (one, both, *by_api):
            yield replace(world, api=True, steps=(step,))


def cancellations() -> Iterator[World]:
    for api in (True, False):
        places = API_PLACES if api else NODE_PLACES
        for place, isr, (other, other_isr), dead in product(places, ISRS, BESIDE, DEAD):
            world = World("cancellation", (place, other), (isr, other_isr), dead, api=api)
            yield from (world, replace(world, controlled=False))
            if not api:
                asked = CancelStep(1, "now", (A,))
                yield from (on(world, node) for node in NODES)
                yield replace(world, steps=(asked,))
                yield replace(world, steps=(asked,), controlled=False)


KINDS: dict[str, Callable[[], Iterator[World]]] = {
    "a reassignment through the brokers": reassignments_through_brokers,
    "a reassignment through nodes": reassignments_through_nodes,
    "an election": elections,
    "a deletion": lambda: topics("deletion", DeletionStep),
    "a recreation": lambda: topics("recreation", CreationStep),
    "a cancellation": cancellations,
}


def dead_ends(worlds: Iterable[World], search: Search) -> Iterator[World]:
    """Yield the worlds without a way out: of these, and of those that one command leaves behind
    them.
    """
    for world in worlds:
        yield from (
            each for each in (world, *search.following(world)) if not search.has_way_out(each)
        )


@pytest.mark.parametrize(
    "every", [pytest.param(1, marks=pytest.mark.matrix), 7], ids=["all", "some"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_state_has_a_command_that_ends_the_operation(kind: str, every: int) -> None:
    """It ends, with its lock free, after a few requests at most; what is left has a next
    command.
    """
    search = Search(WAYS)
    worlds = islice(KINDS[kind](), 0, None, every)
    assert [*map(str, islice(dead_ends(worlds, search), 3))] == []
    for name, world, end in search.ends():
        assert end.error is None or end.error.next_command, (
            f"kadmin {name} names no next command: {world}"
        )


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        *(
            (kind, "cancel")
            for kind in ("an election", "a deletion", "a recreation", "a cancellation")
        ),
        ("a reassignment through the brokers", "cancel --now"),
        ("a reassignment through nodes", "cancel --now --allow-foreign"),
        ("a reassignment through nodes", "heal"),
    ],
)
def test_the_search_finds_what_no_command_is_left_for(kind: str, way: str) -> None:
    """Each command is the only way out of some state: without it, the search names that state."""
    search = Search({name: follow for name, follow in WAYS.items() if name != way})
    assert any(not search.has_way_out(world) for world in KINDS[kind]())


def test_what_only_new_replicas_hold_is_never_given_up() -> None:
    for dead in DEAD:
        steps = (sent(WAVES[0], A, B),)
        world = World(
            "one wave", ("in flight", "original"), ((3,), ORIGINAL), dead, api=True, steps=steps
        )
        end = cancel_now(world)
        assert isinstance(end, Finish), world
        assert "would lose data" in end.message
