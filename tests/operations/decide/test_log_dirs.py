"""Rules of the log directories that a plan names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from support.cluster.capabilities import API
from support.cluster.states import cluster, moving, tp

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.errors import NotCompletedError, StalePlanError
from kadmin.operations.decide import decide, recall, remember
from kadmin.operations.decide.actions import (
    STALLED_S,
    Advance,
    Finish,
    HealthSeen,
    Memory,
    Observed,
    PublishLogDirs,
    PublishWave,
    Wait,
    step_of,
)
from kadmin.operations.decide.cancel_now import decide_cancel
from kadmin.operations.decide.ended_moves import moves_left
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import Channel, LogDirsStep, Sending, Step, WaveStep
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.plan.directories import Directories
from kadmin.plan.model import Elect, PartitionTarget

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import Action

A, B = "/data/a", "/data/b"
INSIDE = PartitionTarget(tp("t-0"), (1, 2), (1, 2), log_dirs=(B, "any"))
BETWEEN = PartitionTarget(tp("t-1"), (1, 3), (1, 2), log_dirs=("any", B))
HEARD = Memory(epoch=1, listening=frozenset(Channel))
LATE = replace(HEARD, step_seen_at=-1000.0)
WAVE = WaveStep(1, "now", 0, sending=Sending.ANSWERED)


def work_of(*targets: PartitionTarget, most: int = 2) -> ReassignmentWork:
    return ReassignmentWork((targets,), targets, Elect.NONE, moves_per_disk=most)


def at(*copies: tuple[str, int, str] | tuple[str, int, str, str]) -> Directories:
    """The directories of brokers 1 to 3: name, broker, directory, and of a future one, its own."""
    replicas: dict[int, list[DiskReplica]] = {1: [], 2: [], 3: []}
    for name, broker, path, *future in copies:
        replicas[broker].append(DiskReplica(tp(name), broker, path, 100))
        replicas[broker] += [
            DiskReplica(tp(name), broker, each, 40, is_future=True) for each in future
        ]
    disks = {broker: (Disk(broker, A), Disk(broker, B)) for broker in replicas}
    partitions = {each.partition for found in replicas.values() for each in found}
    return Directories.of(disks, replicas, partitions)


def act(
    work: ReassignmentWork,
    state: ClusterState,
    directories: Directories,
    *steps: Step,
    memory: Memory = HEARD,
) -> Action:
    return decide(work, Observed(state, steps, API, directories=directories), memory, 0.0)


def step(number: int, asked: PublishLogDirs, **fields: object) -> LogDirsStep:
    made, _ = step_of(asked, number, "now")
    assert isinstance(made, LogDirsStep)
    return replace(made, sending=Sending.ANSWERED, **fields)  # type: ignore[arg-type]  # by field


STAYS = cluster({"t-0": (1, 2)})
TO_B = PublishLogDirs(0, 1, {tp("t-0"): B}, {tp("t-0"): A}, {"t": None})


def test_a_replica_elsewhere_is_moved_and_followed_until_it_is_the_only_copy() -> None:
    work = work_of(INSIDE)
    elsewhere = at(("t-0", 1, A), ("t-0", 2, A))
    assert act(work, STAYS, elsewhere) == TO_B
    moving_now = at(("t-0", 1, A, B), ("t-0", 2, A))
    assert act(work, STAYS, moving_now, step(1, TO_B)) == Wait(
        "moving between disks: t-0 on broker 1 40 %"
    )
    there = at(("t-0", 1, B), ("t-0", 2, A))
    assert act(work, STAYS, there, step(1, TO_B)) == Advance(1)
    done = act(work, STAYS, there, step(1, TO_B), memory=replace(HEARD, wave=1))
    assert isinstance(done, Finish)
    assert (done.state, done.error) == (OperationState.COMPLETED, None)


def test_a_copy_that_its_broker_gave_up_is_taken_back_and_asked_for_again() -> None:
    work, elsewhere = work_of(INSIDE), at(("t-0", 1, A), ("t-0", 2, A))
    empty = DiskReplica(tp("t-0"), 1, B, 0, is_future=True)
    stuck = replace(elsewhere, futures={**elsewhere.futures, 1: {tp("t-0"): empty}})
    before = replace(HEARD, step_seen_at=-STALLED_S, changed_at=1 - STALLED_S)
    assert isinstance(act(work, STAYS, stuck, step(1, TO_B), memory=before), Wait)
    long_ago = replace(HEARD, step_seen_at=-STALLED_S, changed_at=-STALLED_S)
    growing = at(("t-0", 1, A, B), ("t-0", 2, A))
    assert isinstance(act(work, STAYS, growing, step(1, TO_B), memory=long_ago), Wait)
    back = act(work, STAYS, stuck, step(1, TO_B), memory=long_ago)
    assert back == replace(TO_B, log_dirs={tp("t-0"): A})
    steps = (step(1, TO_B), step(2, back))
    assert isinstance(act(work, STAYS, stuck, *steps), Wait)
    assert act(work, STAYS, elsewhere, *steps) == TO_B
    seen = remember(HEARD, Observed(STAYS, (), API, directories=stuck), 1.0)
    assert remember(seen, Observed(STAYS, (), API, directories=growing), 2.0).changed_at == 2.0


def test_unknown_directories_are_waited_for_and_never_taken_for_done() -> None:
    assert act(work_of(INSIDE), STAYS, Directories()) == Wait(
        "log directories not known: t-0 on broker 1"
    )
    end = act(work_of(INSIDE), STAYS, Directories(), memory=replace(HEARD, wave=1))
    assert isinstance(end, Wait)


def test_a_new_replica_is_asked_for_before_the_wave_and_looked_at_after_it() -> None:
    work, before = work_of(BETWEEN), cluster({"t-1": (1, 2)})
    nothing = at(("t-1", 1, A))
    note = PublishLogDirs(0, 3, {tp("t-1"): B}, {}, {"t": None})
    assert act(work, before, nothing) == note
    assert act(work, before, nothing, step(1, note)) == PublishWave(0, (BETWEEN,))
    unanswered = replace(step(1, note), sending=Sending.UNANSWERED)
    assert act(work, before, nothing, unanswered) == PublishWave(0, (BETWEEN,))
    copying = moving(
        cluster({"t-1": (1, 3, 2)}, states={"t-1": (1, (1, 2))}), "t-1", adding=(3,), removing=(2,)
    )
    steps = (step(1, note), replace(WAVE, number=2))
    assert act(work, copying, at(("t-1", 1, A)), *steps) == Wait("copying")
    landed = at(("t-1", 1, A), ("t-1", 3, A))
    corrected = PublishLogDirs(0, 3, {tp("t-1"): B}, {tp("t-1"): A}, {"t": None})
    assert act(work, copying, landed, *steps) == corrected, "the broker was restarted between"
    after = cluster({"t-1": (1, 3)})
    assert act(work, after, landed, *steps) == corrected
    assert act(work, after, at(("t-1", 1, A), ("t-1", 3, B)), *steps) == Advance(1)


def test_a_refused_directory_keeps_its_partition_out_and_ends_the_operation_at_last() -> None:
    other = PartitionTarget(tp("t-2"), (1, 3), (1, 2), log_dirs=("any", B))
    before = cluster({"t-1": (1, 2), "t-2": (1, 2)})
    note = PublishLogDirs(0, 3, {tp("t-1"): B, tp("t-2"): B}, {}, {"t": None})
    work = work_of(BETWEEN, other)
    assert act(work, before, at()) == note
    refused = step(1, note, refused={tp("t-1"): "LOG_DIR_NOT_FOUND: no message"})
    assert act(work, before, at(), refused) == PublishWave(0, (other,))
    done = cluster({"t-1": (1, 2), "t-2": (1, 3)})
    healthy = replace(LATE, health=HealthSeen(0, 0.0, ()))
    end = act(work, done, at(("t-2", 3, B)), refused, replace(WAVE, number=2), memory=healthy)
    assert isinstance(end, Finish)
    assert isinstance(end.error, NotCompletedError)
    assert (end.state, end.error.cause) == (
        OperationState.FAILED,
        "LOG_DIR_NOT_FOUND: no message",
    )


def without(found: Directories, broker: int, path: str) -> Directories:
    """The same with a directory that failed: a broker lists no replica of it."""
    disks = tuple(
        replace(each, state=DiskState.FAILED) if each.path == path else each
        for each in found.disks[broker]
    )
    return replace(found, disks={**found.disks, broker: disks})


def test_a_planned_directory_that_failed_ends_the_operation_when_its_wave_is_done() -> None:
    both = work_of(INSIDE, PartitionTarget(tp("t-1"), (1, 2), (1, 2), log_dirs=("any", B)))
    state = cluster({"t-0": (1, 2), "t-1": (1, 2)})
    moving_now = at(("t-0", 1, A), ("t-0", 2, A), ("t-1", 1, A), ("t-1", 2, A, B))
    steps = (step(1, TO_B), step(2, PublishLogDirs(0, 2, {tp("t-1"): B}, {tp("t-1"): A}, {})))
    assert isinstance(act(both, state, without(moving_now, 1, B), *steps), Wait)
    done = at(("t-0", 1, A), ("t-0", 2, A), ("t-1", 1, A), ("t-1", 2, B))
    end = act(both, state, without(done, 1, B), *steps)
    assert isinstance(end, Finish)
    assert isinstance(end.error, NotCompletedError)
    assert end.error.cause == "log directory /data/b of broker 1 failed"


def test_a_replica_that_its_broker_cannot_read_any_more_is_waited_for_with_a_way_out() -> None:
    note = PublishLogDirs(0, 3, {tp("t-1"): B}, {}, {"t": None})
    copying = moving(
        cluster({"t-1": (1, 3, 2)}, states={"t-1": (1, (1, 2))}), "t-1", adding=(3,), removing=(2,)
    )
    nothing = at(("t-1", 1, A), ("t-1", 2, A))
    steps = (step(1, note), replace(WAVE, number=2))
    way_out = "; repair them and restart the brokers, or end the operation: kadmin cancel --now"
    assert act(work_of(BETWEEN), copying, without(nothing, 3, B), *steps) == Wait(
        "copying", f"t-1 on broker 3: log directories failed: /data/b of broker 3{way_out}"
    )
    assert act(work_of(BETWEEN), copying, without(nothing, 3, A), *steps) == Wait("copying")
    lost = act(work_of(INSIDE), STAYS, without(at(("t-0", 2, A)), 1, A), step(1, TO_B))
    assert lost == Wait(
        "to be moved between disks: t-0 on broker 1",
        f"t-0 on broker 1: log directories failed: /data/a of broker 1{way_out}",
    )


def test_a_move_that_was_accepted_and_is_gone_was_ended_by_others() -> None:
    elsewhere = at(("t-0", 1, A), ("t-0", 2, A))
    assert isinstance(act(work_of(INSIDE), STAYS, elsewhere, step(1, TO_B)), Wait)
    end = act(work_of(INSIDE), STAYS, elsewhere, step(1, TO_B), memory=LATE)
    assert isinstance(end, Finish)
    assert isinstance(end.error, StalePlanError)
    lost = replace(step(1, TO_B), sending=Sending.UNANSWERED)
    assert isinstance(act(work_of(INSIDE), STAYS, elsewhere, lost), Wait)
    assert act(work_of(INSIDE), STAYS, elsewhere, lost, memory=LATE) == TO_B


def test_as_many_are_moved_at_once_as_the_disks_may() -> None:
    targets = [PartitionTarget(tp(f"t-{number}"), (1,), (1,), log_dirs=(B,)) for number in range(4)]
    state = cluster({f"t-{number}": (1,) for number in range(4)})
    here = at(*((f"t-{number}", 1, A) for number in range(4)))
    first = act(work_of(*targets), state, here)
    assert isinstance(first, PublishLogDirs)
    assert list(first.log_dirs) == [tp("t-0"), tp("t-1")]
    one_done = at(("t-0", 1, B), ("t-1", 1, A, B), ("t-2", 1, A), ("t-3", 1, A))
    more = act(work_of(*targets), state, one_done, step(1, first))
    assert isinstance(more, PublishLogDirs)
    assert list(more.log_dirs) == [tp("t-2")]
    every = act(work_of(*targets, most=9), state, here)
    assert isinstance(every, PublishLogDirs)
    assert len(every.log_dirs) == 4


def test_what_was_moved_away_again_is_told_at_the_end() -> None:
    end = act(
        work_of(INSIDE),
        STAYS,
        at(("t-0", 1, A), ("t-0", 2, A)),
        step(1, TO_B),
        memory=replace(HEARD, wave=1),
    )
    assert isinstance(end, Finish)
    assert isinstance(end.error, StalePlanError)
    assert "t-0 is in /data/a" not in end.message
    assert end.error.cause == "t-0 on broker 1 is in /data/a"


def test_a_request_to_pause_lets_a_move_end_and_begins_no_other() -> None:
    request = StopRequest(Stop.PAUSE, "ann@host", "now")

    def asked(directories: Directories, *steps: Step) -> Action:
        observed = Observed(STAYS, steps, API, request, directories=directories)
        return decide(work_of(INSIDE), observed, HEARD, 0.0)

    begun = asked(at(("t-0", 1, A), ("t-0", 2, A)))
    assert isinstance(begun, Finish)
    assert begun.state is OperationState.PAUSED
    assert isinstance(asked(at(("t-0", 1, A, B), ("t-0", 2, A)), step(1, TO_B)), Wait)


def test_cancel_now_leaves_every_replica_in_its_present_directory() -> None:
    work = work_of(INSIDE)

    def cancel(directories: Directories, *steps: Step) -> Action:
        observed = Observed(STAYS, steps, API, directories=directories)
        return decide_cancel(work, observed, HEARD, 0.0, allow_foreign=False)

    moving_now = at(("t-0", 1, A, B), ("t-0", 2, A))
    back = PublishLogDirs(0, 1, {tp("t-0"): A}, {tp("t-0"): A}, {"t": None})
    assert cancel(moving_now, step(1, TO_B)) == back
    ended = at(("t-0", 1, A), ("t-0", 2, A))
    steps = (step(1, TO_B), step(2, back))
    end = cancel(ended, *steps)
    assert isinstance(end, Finish)
    assert (end.state, end.error) == (OperationState.CANCELLED, None)
    told = Observed(STAYS, steps, API, directories=ended)
    assert list(moves_left(told)) == ["1 move between disks ended"]
    assert end.message == "1 move between disks ended"
    gone = Observed(STAYS, steps, API)
    unknown = "moves between disks of brokers that do not answer: t-0 on broker 1"
    assert list(moves_left(gone)) == [unknown]
    failed = Observed(STAYS, steps, API, directories=without(at(("t-0", 2, A)), 1, A))
    assert list(moves_left(failed)) == [
        "moves from or to failed disks, which may go on after a repair: t-0 on broker 1"
    ]
    assert list(moves_left(Observed(STAYS, (), API))) == []


@dataclass
class Brokers:
    """Brokers that do what they are asked for, in their own time."""

    replicas: dict[str, list[int]]
    place: dict[tuple[str, int], str]
    future: dict[tuple[str, int], str] = field(default_factory=dict)
    notes: dict[tuple[str, int], str] = field(default_factory=dict)
    coming: dict[str, list[int]] = field(default_factory=dict)

    def ask(self, asked: PublishLogDirs) -> None:
        for partition, path in asked.log_dirs.items():
            key = str(partition), asked.broker_id
            if key not in self.place:
                self.notes[key] = path
            elif self.place[key] == path:
                self.future.pop(key, None)
            else:
                self.future[key] = path

    def publish(self, targets: Iterable[PartitionTarget]) -> None:
        for each in targets:
            name, target = str(each.partition), list(each.replicas)
            if sorted(target) == sorted(self.replicas[name]):
                self.replicas[name] = target  # an order alone is there at once
            else:
                self.coming[name] = target

    def go_on(self, *, restarts: bool) -> None:
        """End the oldest move, or the oldest reassignment; a restart loses notes."""
        if restarts:
            self.notes.clear()
        if self.future:
            key = next(iter(self.future))
            self.place[key] = self.future.pop(key)
        elif self.coming:
            name = next(iter(self.coming))
            target = self.coming.pop(name)
            for broker in set(target) - set(self.replicas[name]):
                self.place[name, broker] = self.notes.pop((name, broker), A)
            for broker in set(self.replicas[name]) - set(target):
                del self.place[name, broker]
            self.replicas[name] = target

    def seen(self) -> tuple[ClusterState, Directories]:
        state = cluster({name: tuple(ids) for name, ids in self.replicas.items()})
        for name, target in self.coming.items():
            now = self.replicas[name]
            adding = tuple(each for each in target if each not in now)
            every = (*target, *(each for each in now if each not in target))
            removing = tuple(each for each in now if each not in target)
            shown = cluster(
                {**{n: tuple(i) for n, i in self.replicas.items()}, name: every},
                states={name: (now[0], tuple(now))},
            )
            topic = moving(shown, name, adding=adding, removing=removing).topics[tp(name).topic]
            state = replace(
                state,
                topics={**state.topics, topic.name: topic},
                states={**state.states, tp(name): shown.states[tp(name)]},
            )
        copies = [
            (
                name,
                broker,
                path,
                *([self.future[name, broker]] if (name, broker) in self.future else []),
            )
            for (name, broker), path in self.place.items()
        ]
        return state, at(*copies)  # type: ignore[arg-type]  # three or four texts


PATHS = st.sampled_from([A, B, "any"])
LISTS = st.permutations([1, 2, 3]).map(lambda ids: tuple(ids[:2]))


@given(
    st.lists(
        st.tuples(LISTS, LISTS, PATHS, PATHS, st.sampled_from([A, B])), min_size=1, max_size=4
    ),
    st.lists(st.booleans(), max_size=40),
    st.integers(1, 3),
)
def test_whatever_is_restarted_meanwhile_every_replica_ends_where_the_plan_says(
    moves: list[tuple[tuple[int, ...], tuple[int, ...], str, str, str]],
    restarts: list[bool],
    most: int,
) -> None:
    targets = tuple(
        PartitionTarget(tp(f"t{number}-0"), then, now, log_dirs=(first, second))
        for number, (now, then, first, second, _) in enumerate(moves)
    )
    brokers = Brokers(
        {f"t{number}-0": list(now) for number, (now, *_) in enumerate(moves)},
        {(f"t{n}-0", broker): at for n, (now, *_, at) in enumerate(moves) for broker in now},
    )
    work, steps, memory = work_of(*targets, most=most), list[Step](), recall(())
    memory = replace(memory, listening=frozenset(Channel))
    events = iter(restarts)
    for now in range(200):
        state, directories = brokers.seen()
        observed = Observed(state, tuple(steps), API, directories=directories)
        memory = replace(remember(memory, observed, float(now)), listening=frozenset(Channel))
        action = decide(work, observed, memory, float(now))
        match action:
            case Finish():
                break
            case Advance():
                memory = replace(memory, wave=action.wave)
            case PublishLogDirs():
                steps.append(step(len(steps) + 1, action))
                brokers.ask(action)
                busy = [path for key, path in brokers.future.items()]
                assert all(busy.count(path) <= most * 3 for path in (A, B))
            case PublishWave():
                made, _ = step_of(action, len(steps) + 1, "now")
                steps.append(replace(made, sending=Sending.ANSWERED))
                brokers.publish(action.targets)
            case _:
                brokers.go_on(restarts=next(events, False))
    assert isinstance(action, Finish)
    assert action.state is OperationState.COMPLETED
    for target in targets:
        assert brokers.replicas[str(target.partition)] == list(target.replicas)
        for broker, path in target.directories.items():
            assert brokers.place[str(target.partition), broker] == path
    assert not brokers.future
