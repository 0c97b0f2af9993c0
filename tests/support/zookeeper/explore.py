"""Tries every order in which processes, losses and expiries can take their next steps, on a
modelled ensemble.

A process runs kadmin's own code with a store of the model. It stands still before each call until
it is chosen again, so a pause is tried at every step; one that is not chosen any more is a dead
one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from support.models.worlds import reach

from kadmin.errors import UnknownOutcomeError
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from support.zookeeper.modelled import Ensemble

    from kadmin.worlds.zookeeper.model import Acl, MultiResult, Op, Znode

Program: TypeAlias = Callable[[Store], object]
Written: TypeAlias = Callable[["World", int, tuple["Op", ...]], None]
"""Gets the world before a multi that is committed, which process sent it, and its ops."""

_SESSION = "session"
_LOST = "lost"


class _WaitingError(BaseException):
    """The process stands still before a call."""

    def __init__(self, call: Any) -> None:  # noqa: ANN401 - a path, ops, or the question for the session
        self.call = call


class _Replay:
    """The methods of `Store` that lock and journal use, answered from a history."""

    session_timeout_s = 10.0

    def __init__(self, history: tuple[Any, ...]) -> None:
        self._left = iter(history)

    @property
    def session_id(self) -> int:
        found: int = self._answer(_SESSION)
        return found

    def acl(self, _path: str) -> tuple[Acl, ...]:
        return ()

    def sync(self, _path: str) -> None:
        """Every read of the model is up to date."""

    def get(self, path: str) -> Znode | None:
        found: Znode | None = self._answer(path)
        return found

    exists = get

    def exists_many(self, paths: Iterable[str]) -> list[Znode | None]:
        return [self.exists(path) for path in paths]

    def multi(self, ops: Sequence[Op]) -> MultiResult:
        answer: MultiResult | str = self._answer(tuple(ops))
        if isinstance(answer, str):
            raise UnknownOutcomeError("The reply was lost.")
        return answer

    def _answer(self, call: Any) -> Any:  # noqa: ANN401 - each call has an answer of its own
        answer = next(self._left, self)
        if answer is self:
            raise _WaitingError(call)
        return answer


class Process:
    """A process after some answers: its next call, and its successors by answer. Equal histories
    are one object.
    """

    def __init__(self, program: Program, history: tuple[Any, ...] = ()) -> None:
        self._program = program
        self._history = history
        self._after: dict[Any, Process] = {}
        self.call: Any = None
        self.result: object = None
        try:
            self.result = program(cast("Store", _Replay(history)))
        except _WaitingError as waiting:
            self.call = waiting.call

    def after(self, answer: Any) -> Process:  # noqa: ANN401 - each call has an answer of its own
        """Return the process with one more answer."""
        if answer not in self._after:
            self._after[answer] = Process(self._program, (*self._history, answer))
        return self._after[answer]


@dataclass(frozen=True, slots=True)
class World:
    """An ensemble and processes at one time.

    `known` is the session that each process believes to have; `owners` the process of each session
    that was opened; `losses` and `expiries` are how many may still come.
    """

    ensemble: Ensemble
    processes: tuple[Process, ...]
    known: tuple[int, ...]
    owners: tuple[int, ...]
    losses: int
    expiries: int

    def next(self, written: Written) -> Iterator[World]:
        """Every world that one step of somebody makes of this one."""
        for number, process in enumerate(self.processes):
            session_id = self.known[number]
            alive = session_id in self.ensemble.sessions
            if process.call is None and not self.ensemble.owns(session_id):
                continue
            if alive and self.expiries:
                yield replace(
                    self, ensemble=self.ensemble.expire(session_id), expiries=self.expiries - 1
                )
            if process.call is None:
                continue
            if alive or process.call == _SESSION:
                yield from self._answered(number, written)
            if not alive:
                again = self._reconnected(number)
                yield from again._answered(number, written)
                if isinstance(process.call, tuple):  # it left in the session that had expired
                    yield again._with(number, _LOST)

    def owner_of(self, path: str) -> int | None:
        """The process whose session owns an ephemeral znode; None where there is none."""
        found = self.ensemble.get(path)
        return None if found is None else self.owners[found.ephemeral_owner - 1]

    def _answered(self, number: int, written: Written) -> Iterator[World]:
        call = self.processes[number].call
        if call == _SESSION:
            yield self._with(number, self.known[number])
        elif isinstance(call, str):
            yield self._with(number, self.ensemble.get(call))
        else:
            ensemble, answer = self.ensemble.multi(self.known[number], call)
            applied = replace(self, ensemble=ensemble)
            if answer.committed:
                written(self, number, call)
            yield applied._with(number, answer)
            if self.losses:
                yield replace(applied, losses=self.losses - 1)._with(number, _LOST)
                yield replace(self, losses=self.losses - 1)._with(number, _LOST)

    def _reconnected(self, number: int) -> World:
        ensemble, session_id = self.ensemble.open()
        known = (*self.known[:number], session_id, *self.known[number + 1 :])
        return replace(self, ensemble=ensemble, known=known, owners=(*self.owners, number))

    def _with(self, number: int, answer: Any) -> World:  # noqa: ANN401 - each call has an answer of its own
        processes = list(self.processes)
        processes[number] = processes[number].after(answer)
        return replace(self, processes=tuple(processes))


@dataclass(slots=True)
class Explored:
    """How many worlds were reached, and what the processes of those came to in which nothing is
    left to do.
    """

    worlds: int = 0
    ends: set[tuple[object, ...]] = field(default_factory=set)


def explore(
    start: Ensemble,
    programs: Sequence[Program],
    written: Written,
    *,
    losses: int = 0,
    expiries: int = 0,
) -> Explored:
    """Reach every world, and call `written` at each multi that is committed on the way."""
    known = list[int]()
    for _ in programs:
        start, session_id = start.open()
        known.append(session_id)
    processes = tuple(map(Process, programs))
    first = World(start, processes, tuple(known), tuple(range(len(known))), losses, expiries)
    explored = Explored()

    def following(world: World) -> list[World]:
        if all(each.call is None for each in world.processes):
            explored.ends.add(tuple(each.result for each in world.processes))
        return list(world.next(written))

    explored.worlds = reach(first, following)
    return explored
