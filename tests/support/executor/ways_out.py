"""Models an operation on record, the cluster that it is on, and the commands that may end it. Pure.

A world is what one reading shows: where two partitions are, who is in sync and alive, what is
requested, and the steps on record. A command is followed to the first request that it sends, by the
executor's own rules; then the cluster answers, in any of the ways that controllers have
(docs/kraft.md, tests/support/eras), and the runner may be gone: the next command begins anew.
Nothing moves by itself, so that what has no way out waits for ever.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from support.cluster.capabilities import API, NODES
from support.cluster.evidence import BOTH, DETAILS, evidence
from support.cluster.states import cluster, moving, tp, with_node
from support.controller.znodes import reassignment_payload

from kadmin.cluster.model import NO_LEADER
from kadmin.cluster.payloads import encode_election
from kadmin.cluster.versions import KafkaVersions
from kadmin.operations.decide import decide, recall, remember
from kadmin.operations.decide.actions import (
    Advance,
    AskHealth,
    AskListening,
    Finish,
    HealthSeen,
    Observed,
    PublishWave,
    TakeBack,
    Wait,
)
from kadmin.operations.decide.cancel_now import decide_cancel
from kadmin.operations.decide.cancellation import CancellationWork
from kadmin.operations.decide.deletion import DeletionWork
from kadmin.operations.decide.election import ElectionWork
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.decide.recreation import RecreationWork
from kadmin.operations.decide.settling import settle, settles
from kadmin.operations.record.steps import CancelStep, Intent, Sending, StepKind, WaveStep, intents
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.plan.model import (
    DeletionPlan,
    Elect,
    PartitionTarget,
    PlanHeader,
    RecreationPlan,
    TopicRecipe,
)
from kadmin.worlds.zookeeper.doctor.diagnose import diagnose
from kadmin.worlds.zookeeper.doctor.evidence import AdminLook, ControllerSample
from kadmin.worlds.zookeeper.heal.repair_steps import Diagnosis, Write, next_step
from kadmin.worlds.zookeeper.model import Znode
from kadmin.worlds.zookeeper.znodes.admin import PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.decide.actions import Action, Memory
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.record.steps import Step
    from kadmin.worlds.zookeeper.heal.repair_steps import RepairStep

A, B, OTHERS = tp("a-0"), tp("b-0"), tp("c-0")
"""The partitions of the operation, and one that another tool reassigns."""
BROKERS = (1, 2, 3)
ORIGINAL: Replicas = (1, 2)
TARGET: Replicas = (2, 3)

PLACES: dict[str, tuple[Replicas, Replicas, Replicas]] = {
    "original": (ORIGINAL, (), ()),
    "in flight": ((2, 3, 1), (3,), (1,)),
    "made again": ((2, 3, 1), (3,), (1,)),
    "spared": ((2, 1), (), ()),
    "union": ((2, 3, 1), (), ()),
    "halted": ((1, 2, 3), (3,), (3,)),
    "reordered": ((2, 1), (), ()),
    "redirected": ((1, 3, 2), (3,), (2,)),
    "target": (TARGET, (), ()),
    "elsewhere": ((3,), (), ()),
}
"""Replicas, and those that are added and removed; a partition that is `deleted` has none. `made
again` is in flight for a topic that is another one by now, `spared` the same after its end; `union`
is a move in flight up to Kafka 2.3, `halted` one from 4.3 on that was asked to go back.
"""
RETURNED = {"made again": "spared"}

_TARGETS = tuple(PartitionTarget(each, TARGET, ORIGINAL) for each in (A, B))
_RECIPES = tuple(TopicRecipe(each.topic, {0: ORIGINAL}, {}) for each in (A, B))
IDS = {each.topic: "first" for each in (A, B)}
WORKS: dict[str, OperationSpec] = {
    "one wave": ReassignmentWork((_TARGETS,), _TARGETS, Elect.NONE),
    "two waves": ReassignmentWork(
        tuple((each,) for each in _TARGETS), _TARGETS, Elect.AFTER_EACH_WAVE
    ),
    "election": ElectionWork((A, B)),
    "deletion": DeletionWork(DeletionPlan(PlanHeader(), ("a", "b")), _RECIPES, IDS),
    "recreation": RecreationWork(RecreationPlan(PlanHeader(), recipes=_RECIPES)),
    "cancellation": CancellationWork(
        tuple(PartitionTarget(each, ORIGINAL, (2, 3, 1)) for each in (A, B))
    ),
}

LOOKS = (0.0, 15.0, 120.0, 240.0, 360.0)
"""When a command looks, in seconds: at once, after a pickup deadline, and after every deadline,
more than once."""
MOST_REQUESTS = 5
"""Of commands that end an operation, over all their runs."""

Node = tuple[tuple["TopicPartition", "Replicas"], ...] | None
"""The entries of an admin znode; None for one that cannot be decoded."""


@dataclass(frozen=True)
class World:
    """The cluster, and the operation `work` on it, through the brokers' API (`api`) or through
    ZooKeeper.

    `requested` and `elections` hold one admin node or none; `others` is the place of the partition
    of another tool.
    """

    work: str
    places: tuple[str, str]
    isrs: tuple[Replicas, Replicas]
    dead: frozenset[int] = frozenset()
    api: bool = False
    requested: tuple[Node, ...] = ()
    elections: tuple[Node, ...] = ()
    deletions: tuple[str, ...] = ()
    others: str = ""
    deaf: bool = False
    controlled: bool = True
    steps: tuple[Step, ...] = field(default=(), hash=False)

    @cached_property
    def state(self) -> ClusterState:
        """The cluster as kadmin reads it."""
        alive = {broker: None for broker in BROKERS if broker not in self.dead}
        found = {each: place for each, place in self.of.items() if place != "deleted"}
        isrs = dict(zip((A, B), self.isrs, strict=True)) | {OTHERS: ORIGINAL}
        led = {
            str(each): (
                next((broker for broker in isrs[each] if broker in alive), NO_LEADER),
                isrs[each],
            )
            for each in found
        }
        state = cluster(
            {str(each): PLACES[place][0] for each, place in found.items()},
            states=led,
            brokers=alive,
        )
        for each, place in found.items():
            _, adding, removing = PLACES[place]
            if adding:
                state = moving(state, str(each), adding=adding, removing=removing)
        if self.api:
            renewed = {
                each.topic for each, place in found.items() if place in {"made again", "spared"}
            }
            ids = {name: "second" if name in renewed else "first" for name in state.topics}
            topics = {
                name: replace(topic, topic_id=ids[name]) for name, topic in state.topics.items()
            }
            state = replace(state, topics=topics)
        for election, nodes in ((False, self.requested), (True, self.elections)):
            for node in nodes:
                entries = None if node is None else {str(each): replicas for each, replicas in node}
                state = with_node(state, entries, election=election)
        state = replace(
            state, requests=replace(state.requests, deletions=self.deletions), details=DETAILS
        )
        return state if self.controlled and alive else replace(state, controller=None)

    @cached_property
    def of(self) -> dict[TopicPartition, str]:
        """The places by partition."""
        ours = dict(zip((A, B), self.places, strict=True))
        return ours | ({OTHERS: self.others} if self.others else {})

    def moved(self, partitions: set[TopicPartition], to: str) -> World:
        """Return the world with partitions in another place."""
        places = self.of | {
            each: RETURNED.get(self.of[each], to)
            for each in partitions
            if self.of[each] != "deleted"
        }
        return replace(self, places=(places[A], places[B]), others=places.get(OTHERS, ""))

    def __str__(self) -> str:
        """Name what differs from a healthy cluster without requests."""
        steps = [
            (
                f"{step.kind} "
                f"{[*map(str, getattr(step, 'partitions', ()) or getattr(step, 'topics', ()))]}"
            )
            for step in self.steps
        ]
        told = (self.requested, self.elections, self.deletions, self.others, self.deaf and "deaf")
        mode = "KRaft" if self.api else "ZooKeeper"
        found = [
            f"{each} {place}, ISR {isr}"
            for (each, place), isr in zip(self.of.items(), self.isrs, strict=False)
        ]
        return (
            f"{self.work} ({mode}): {found}, dead {sorted(self.dead)}, {[*filter(None, told)]}, "
            f"steps {steps}"
        )


End: TypeAlias = "tuple[World, ...] | Finish | None"
"""The worlds that may follow the first request of a command, how it ends, or None where it waits
for ever."""
Way: TypeAlias = "Callable[[World], End]"


def cancel(world: World) -> End:
    """`kadmin cancel`, which goes on with what it has begun, as `kadmin resume` does."""
    return _outcome(world, Stop.CANCEL, allow_foreign=False)


def cancel_now(world: World) -> End:
    """`kadmin cancel --now`."""
    return _outcome(world, Stop.CANCEL_NOW, allow_foreign=False)


def cancel_now_allow_foreign(world: World) -> End:
    """`kadmin cancel --now --allow-foreign`, which differs where a request is pending."""
    if not world.requested:
        return None
    return _outcome(world, Stop.CANCEL_NOW, allow_foreign=True)


def heal(world: World) -> End:
    """`kadmin heal`, an operation of its own, which always ends."""
    if (
        not (world.requested or world.elections or world.deaf or world.state.controller is None)
        or world.api
    ):
        return None
    tried: set[tuple[str, str]] = set()
    found = world
    while (repair := next_step(diagnosed := _diagnosis(found), tried)) is not None:
        tried |= {
            (each.code, each.znode)
            for each in (diagnosed.findings if repair.move else (repair.finding,))
        }
        found = _repaired(found, repair)
    # What a new controller reads in a node it does, or it does not.
    return (
        (found,)
        if found == world or found.deaf
        else tuple(dict.fromkeys((found, _picked_up(found))))
    )


WAYS: dict[str, Way] = {
    "cancel": cancel,
    "cancel --now": cancel_now,
    "cancel --now --allow-foreign": cancel_now_allow_foreign,
    "heal": heal,
}


class Search:
    """Finds worlds without a way out by these commands, whatever the cluster answers."""

    def __init__(self, ways: dict[str, Way]) -> None:
        self._ways = ways
        self._known: dict[World, bool] = {}
        self._followed: dict[tuple[str, World], End] = {}

    def following(self, world: World) -> Iterator[World]:
        """Yield every world that a command leaves behind, whether it is a way out or not."""
        for name in self._ways:
            found = self.follow(name, world)
            if isinstance(found, tuple):
                yield from found

    def ends(self) -> tuple[tuple[str, World, Finish], ...]:
        """Return every end that was found, with its command and the world before it."""
        return tuple(
            (name, world, end)
            for (name, world), end in self._followed.items()
            if isinstance(end, Finish)
        )

    def has_way_out(self, world: World) -> bool:
        """Whether some command ends the operation, or leads to worlds that all have a way out."""
        if world not in self._known:
            self._known[world] = any(self._ends(name, world) for name in self._ways)
        return self._known[world]

    def follow(self, name: str, world: World) -> End:
        """Follow one command."""
        if (name, world) not in self._followed:
            self._followed[name, world] = self._ways[name](world)
        return self._followed[name, world]

    def _ends(self, name: str, world: World) -> bool:
        found = self.follow(name, world)
        if isinstance(found, Finish):
            return found.state.finished
        return found is not None and world not in found and all(map(self.has_way_out, found))


def _outcome(world: World, stop: Stop, *, allow_foreign: bool) -> End:
    work = WORKS[world.work]
    if stop is Stop.CANCEL_NOW and not isinstance(work, ReassignmentWork):
        return None
    request = StopRequest(stop, "somebody", "now", allow_foreign)
    action = _first_act(world, work, request)
    if isinstance(action, Finish):
        return action
    if isinstance(action, TakeBack) and _asked(world) < MOST_REQUESTS:
        answered = _answers_of_brokers if world.api or action.by_api else _answers_of_controllers
        return tuple(dict.fromkeys(answered(world, action)))
    if isinstance(action, PublishWave) and len(world.steps) < MOST_REQUESTS:
        return tuple(dict.fromkeys(_published(world, action)))
    assert isinstance(action, Wait | AskListening | TakeBack | PublishWave), action
    return None


def _asked(world: World) -> int:
    return sum(step.kind is StepKind.CANCEL for step in world.steps)


def _first_act(world: World, work: OperationSpec, request: StopRequest) -> Action:
    """Look until something is to be done, as the runner does; Wait where nothing ever is."""
    observed = Observed(world.state, world.steps, API if world.api else NODES, request)
    memory = recall(world.steps)
    action: Action = Wait("")
    for now in LOOKS:
        memory = remember(memory, observed, now)
        while isinstance(
            action := _decided(work, observed, memory, now), Advance | AskListening | AskHealth
        ):
            if isinstance(action, AskListening) and world.deaf:
                return action
            memory = _learned(memory, action, now)
        if settles(action, observed) and memory.ends_since is None:
            memory = replace(memory, ends_since=now)
        action = settle(action, observed, memory, now)
        if not isinstance(action, Wait):
            break
    return action


def _decided(work: OperationSpec, observed: Observed, memory: Memory, now: float) -> Action:
    request = observed.request
    if (
        request is not None
        and request.stop is Stop.CANCEL_NOW
        and isinstance(work, ReassignmentWork)
    ):
        return decide_cancel(work, observed, memory, now, allow_foreign=request.allow_foreign)
    return decide(work, observed, memory, now)


def _learned(memory: Memory, action: Advance | AskListening | AskHealth, now: float) -> Memory:
    match action:
        case Advance():
            return replace(memory, wave=action.wave)
        case AskListening():
            return replace(memory, listening=memory.listening | {action.channel})
        case AskHealth():
            return replace(memory, health=HealthSeen(memory.wave, now, ()))


def _answers_of_controllers(world: World, action: TakeBack) -> Iterator[World]:
    """The node is replaced and the controller moved: it ends the moves, drops them, or does nothing
    for ever.
    """
    step = CancelStep(len(world.steps) + 1, "now", tuple(action.origin))
    listed = dict(world.requested[0] or ()) if world.requested else {}
    rest = {each: replicas for each, replicas in listed.items() if each not in action.origin}
    asked = replace(world, steps=(*world.steps, step), deaf=False)
    if OTHERS in rest:
        asked = asked.moved({OTHERS}, "in flight")
    yield replace(asked, requested=(tuple({**rest, **action.origin}.items()),))
    left = replace(asked, requested=(tuple(rest.items()),) if rest else ())
    yield left.moved({*action.origin}, "original")
    if _asked(world) == 0:  # the controller before the move may overwrite the node once
        yield left


def _answers_of_brokers(world: World, action: TakeBack) -> Iterator[World]:
    """Each partition is asked to return to a list or, once that was asked for, to end; see
    kadmin/operations/kafka.
    """
    tried = {
        each: target
        for _, intent in intents(world.steps)
        for each, target in intent.targets.items()
    }
    targets = {
        each: None if not original or tried.get(each) == original else original
        for each, original in action.origin.items()
    }
    step = CancelStep(len(world.steps) + 1, "now", tuple(targets))
    if world.api:
        step = replace(step, sending=Sending.ANSWERED, intent=Intent(targets, IDS))

    def answered(refused: set[TopicPartition], *, halts: bool = False) -> World:
        said = dict.fromkeys(sorted(refused), "INVALID_REPLICA_ASSIGNMENT") if world.api else {}
        halted = {each for each, target in targets.items() if target is not None and halts}
        after = replace(world, steps=(*world.steps, replace(step, refused=said)))
        return after.moved({*targets} - refused - halted, "original").moved(halted, "halted")

    yield answered(set())
    yield answered({*targets})
    yield answered({max(targets)})
    if world.api:
        yield answered(set(), halts=True)
        if all(each.sending is not Sending.UNANSWERED for each in world.steps):
            lost = replace(step, sending=Sending.UNANSWERED)
            yield replace(world, steps=(*world.steps, lost))
            yield replace(answered(set()), steps=(*world.steps, lost))


def _published(world: World, action: PublishWave) -> Iterator[World]:
    """A union that was left behind is sent again: the controller goes on to the end, or does
    nothing.
    """
    step = WaveStep(len(world.steps) + 1, "now", action.wave)
    asked = replace(world, steps=(*world.steps, step))
    yield replace(
        asked, requested=(tuple((each.partition, each.replicas) for each in action.targets),)
    )
    yield asked.moved({each.partition for each in action.targets}, "target")


def _diagnosis(world: World) -> Diagnosis:
    """What `kadmin doctor` finds where nothing has changed for five seconds."""
    nodes = {
        path: Znode(path, data, 0, mzxid=1)
        for path, found in (
            (REASSIGN_PARTITIONS, world.requested),
            (PREFERRED_REPLICA_ELECTION, world.elections),
        )
        for data in _payloads(path, found)
    }
    look = AdminLook(
        nodes.get(REASSIGN_PARTITIONS),
        nodes.get(PREFERRED_REPLICA_ELECTION),
        deletions=world.deletions,
    )
    heard: dict[str, Any] = (
        {"not_watching": BOTH, "listening": frozenset[str]()} if world.deaf else {}
    )
    if "union" in world.places:
        heard["versions"] = KafkaVersions((1, 1), (2, 3))
    if world.state.controller is None:
        heard["samples"] = (ControllerSample(5, None),) * 2
    findings = diagnose(evidence(world.state, first=look, last=look, stayed_s=5.0, **heard))
    return Diagnosis(findings, world.state, nodes)


def _payloads(path: str, nodes: tuple[Node, ...]) -> Iterator[bytes]:
    for node in nodes:
        if node is None:
            yield b"{nonsense"
        elif path == REASSIGN_PARTITIONS:
            yield reassignment_payload(dict(node))
        else:
            yield encode_election(tuple(each for each, _ in node))


def _repaired(world: World, repair: RepairStep) -> World:
    if repair.write is Write.PLACEHOLDER:
        return replace(world, controlled=True)
    if repair.write is Write.DELETE and repair.node is not None:
        election = repair.node.path == PREFERRED_REPLICA_ELECTION
        world = replace(world, elections=()) if election else replace(world, requested=())
    return replace(world, deaf=world.deaf and not repair.move)


def _picked_up(world: World) -> World:
    """A new controller does what the nodes ask for; a probe is removed."""
    moved = {each for node in world.requested for each, _ in node or () if each in world.of}
    if any(world.of[each] == "union" for each in moved):
        return world
    done = world.moved(moved, "target") if world.requested != (None,) else world
    return replace(done, requested=(), elections=())
