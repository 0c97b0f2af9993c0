"""Tries every order in which processes and brokers can take their next steps, and checks every log
that comes of it.

A process that is not chosen any more is a dead one: each state is checked, so death is tried at
every step.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from support.models.worlds import reach

from kadmin.worlds.kafka.values.topic_log import TopicLog
from kadmin.worlds.kafka.values.topic_protocol import Add, Begin, CatchUp, Commit, Pause
from kadmin.worlds.kafka.wire.transactions import FencedError

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping

    from support.record_topic.brokers import Brokers

    from kadmin.worlds.kafka.values.topic_protocol import Request, Steps
    from kadmin.worlds.kafka.wire.partition_log import LogEntry
    from kadmin.worlds.kafka.wire.transactions import Producer

    Program: TypeAlias = Callable[[], Steps[object]]

_FENCED = "fenced"


def judged(entries: tuple[LogEntry, ...]) -> TopicLog:
    """Return the log of these records."""
    log = TopicLog()
    for entry in entries:
        log.add(entry)
    return log


class Process:
    """A process after some answers: what it asks next, and its successors by answer. Equal
    histories are one object.
    """

    def __init__(
        self, program: Program, producer: Producer | None, history: tuple[Any, ...] = ()
    ) -> None:
        self._program = program
        self._history = history
        self._after: dict[Any, Process] = {}
        self.producer = producer
        self.seen: tuple[LogEntry, ...] | None = None
        self.result: object = None
        self.request: Request | None = self._replayed()

    def after(self, answer: Any) -> Process:  # noqa: ANN401 - each request has an answer of its own
        """Return the process with one more answer."""
        if answer not in self._after:
            self._after[answer] = Process(self._program, self.producer, (*self._history, answer))
        return self._after[answer]

    def _replayed(self) -> Request | None:
        steps, left = self._program(), iter(self._history)
        try:
            request = next(steps)
            while True:
                if isinstance(request, Pause):
                    request = steps.send(None)
                    continue
                answer = next(left, steps)
                if answer is steps:
                    return request
                request = self._answered(steps, request, answer)
        except StopIteration as done:
            self.result = done.value
        except FencedError:
            self.result = _FENCED
        return None

    def _answered(self, steps: Steps[object], request: Request, answer: Any) -> Request:  # noqa: ANN401 - as after
        if answer == _FENCED:
            return steps.throw(FencedError("fenced"))
        if isinstance(request, Begin):
            self.producer = answer
        elif isinstance(request, CatchUp):
            self.seen = answer
            return steps.send(judged(answer))
        return steps.send(answer)


@dataclass(frozen=True, slots=True)
class Limits:
    """Records of others that are written, transactions that run into their time-out, and producers
    that begin.
    """

    plain: tuple[tuple[str, bytes], ...] = ()
    time_outs: int = 0
    begins: int = 4


@dataclass(frozen=True, slots=True)
class World:
    """Brokers and processes at one time.

    `until` is, for each process that reads, the end of the log when it began; `left` what may still
    happen.
    """

    brokers: Brokers
    processes: tuple[Process, ...]
    until: tuple[int | None, ...]
    left: Limits

    def next(self) -> Iterator[World]:
        """Every world that one step of somebody makes of this one."""
        brokers, left = self.brokers, self.left
        if brokers.ends is not None:
            yield replace(self, brokers=brokers.write_marker())
        elif brokers.open_at is not None and left.time_outs:
            yield replace(
                self, brokers=brokers.time_out(), left=replace(left, time_outs=left.time_outs - 1)
            )
        if left.plain:
            yield replace(
                self,
                brokers=brokers.plain(*left.plain[0]),
                left=replace(left, plain=left.plain[1:]),
            )
        for number, process in enumerate(self.processes):
            yield from self._stepped(number, process)

    def _stepped(self, number: int, process: Process) -> Iterator[World]:
        brokers, request = self.brokers, process.request
        if isinstance(request, CatchUp):
            yield from self._reads(number, process)
        elif request is None or brokers.busy:
            return
        elif isinstance(request, Begin):
            if self.left.begins:
                begun, producer = brokers.begin()
                left = replace(self.left, begins=self.left.begins - 1)
                yield replace(self._with(number, process.after(producer), begun), left=left)
        elif process.producer is None or brokers.is_fenced(process.producer):
            yield self._with(number, process.after(_FENCED), brokers)
        elif isinstance(request, Add):
            added, offset = brokers.add(process.producer, tuple(request.values.items()))
            yield self._with(number, process.after(offset), added)
        elif isinstance(request, Commit):
            yield self._with(number, process.after(None), brokers.commit(process.producer))

    def _reads(self, number: int, process: Process) -> Iterator[World]:
        until = self.until[number]
        if until is None:
            yield self._with(number, process, self.brokers, until=len(self.brokers.log))
            if process.seen is not None:  # a leader that was deposed answers what it knew
                yield self._with(number, process.after(process.seen), self.brokers)
        elif self.brokers.stable >= until:
            yield self._with(number, process.after(self.brokers.visible()), self.brokers)

    def _with(
        self, number: int, process: Process, brokers: Brokers, until: int | None = None
    ) -> World:
        processes = (*self.processes[:number], process, *self.processes[number + 1 :])
        return replace(
            self,
            brokers=brokers,
            processes=processes,
            until=(*self.until[:number], until, *self.until[number + 1 :]),
        )


@dataclass(slots=True)
class Explored:
    """How many worlds were reached, and what the processes of those came to in which nothing is
    left to do.
    """

    worlds: int = 0
    ends: set[tuple[object, ...]] = field(default_factory=set)


def explore(
    start: Brokers,
    programs: Mapping[Program, Producer | None],
    check: Callable[[tuple[LogEntry, ...]], None],
    limits: Limits,
) -> Explored:
    """Reach every world, and `check` the committed records of each; `programs` with the producer
    they begin with.
    """
    first = _world(start, programs, limits)
    checked, explored = set[tuple[Any, ...]](), Explored()

    def following(world: World) -> list[World]:
        if world.brokers.log not in checked:
            checked.add(world.brokers.log)
            check(world.brokers.visible())
        after = list(world.next())
        if not after:
            explored.ends.add(tuple(process.result for process in world.processes))
        return after

    explored.worlds = reach(first, following)
    return explored


def walk(
    start: Brokers,
    programs: Mapping[Program, Producer | None],
    limits: Limits,
    chosen: random.Random,
) -> tuple[tuple[LogEntry, ...], tuple[object, ...]]:
    """Take random steps until nothing is left to do; return the committed records, and what the
    processes came to.
    """
    world = _world(start, programs, limits)
    while following := list(world.next()):
        world = chosen.choice(following)
    return world.brokers.visible(), tuple(process.result for process in world.processes)


def _world(start: Brokers, programs: Mapping[Program, Producer | None], limits: Limits) -> World:
    processes = tuple(Process(program, producer) for program, producer in programs.items())
    return World(start, processes, (None,) * len(processes), limits)
