"""Finds a held lock and unfinished operations, wherever they are on record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.next_step import command

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.next_step import NextStep

OPERATIONS = "operations"
_END = command("cancel", "--foreign")


@dataclass(frozen=True, slots=True)
class LockHeld:
    """The lock: its operation, and its holder as text."""

    operation_id: str
    holder: str


@dataclass(frozen=True, slots=True)
class OpenOperation:
    """An unfinished operation on record; `words` has the user and the time of its start.

    `lists` has the replicas that it requested by partition: the target, and the original replicas
    for a cancel. `elects`: it publishes elections. `whole` is False for an incomplete record.
    `leaves`: it was left outside its hours, or its runner would leave it. Of one that waits for a
    person and has no runner, `stage` is the stage under way, and `waits_for` what it waits for
    there; `left`: its runner ended there because a person is awaited, as --leave asks. `leaving`
    are the brokers of a decommission.
    """

    operation_id: str
    kind: str
    words: str
    lists: Mapping[TopicPartition, Collection[Replicas]] = field(default_factory=dict)
    elects: bool = False
    whole: bool = True
    leaves: bool = False
    stage: str = ""
    waits_for: str = ""
    left: bool = False
    leaving: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class LateRequest:
    """A request of a finished operation that got no answer and was applied late.

    A partition goes to `target`. `last`: the last replicas on record, where the target is reached;
    None while it is in flight. `next_step` takes it back.
    """

    operation_id: str
    step: int
    partition: TopicPartition
    target: Replicas
    last: Replicas | None = None
    next_step: NextStep = _END

    def reached(self, last: Replicas, *, before_operation: bool) -> LateRequest:
        """Return the request with its target reached.

        `before_operation`: a rollback restores the last replicas.
        """
        plan = (
            command("apply", "FILE")
            + f", a plan with the replicas {list(last)} for {self.partition}"
        )
        back = command("rollback", self.operation_id) if before_operation else plan
        return replace(self, last=last, next_step=back)

    def __str__(self) -> str:
        asked = f"operation {self.operation_id}, step {self.step}"
        if self.last is None:
            return f"{self.partition} to {list(self.target)} ({asked})"
        return (
            f"{self.partition} is at {list(self.target)} ({asked}), the last on record is "
            f"{list(self.last)}"
        )


def operation_troubles(
    lock: LockHeld | None, operations: tuple[OpenOperation, ...], root: str | None = None
) -> Iterator[Finding]:
    """Find a held lock and every unfinished operation.

    `root` is the parent of kadmin's znodes where it has some.
    """
    if lock is not None:
        yield Finding(
            Trouble.LOCK_HELD,
            f"The lock is held for operation {lock.operation_id}.",
            command("status"),
            znode="" if root is None else f"{root}/lock",
            evidence=(f"by {lock.holder}",),
        )
    for operation in operations:
        at_work = lock is not None and lock.operation_id == operation.operation_id
        yield Finding(
            Trouble.UNFINISHED_OPERATION,
            _message(operation),
            command("status") if at_work else _continue(operation),
            znode="" if root is None else f"{root}/{OPERATIONS}/{operation.operation_id}",
            evidence=(
                operation.words,
                *(() if operation.whole else ("its record is incomplete: nothing was published",)),
                *((f"waits for: {operation.waits_for}",) if operation.waits_for else ()),
            ),
        )


def _message(operation: OpenOperation) -> str:
    named = f"Operation {operation.operation_id} ({operation.kind})"
    if operation.left:
        return f"{named} was left at {operation.stage}, as asked: it waits for a person."
    stage = f", {operation.stage}" if operation.stage else ""
    return f"{named} is not finished{stage}."


def _continue(operation: OpenOperation) -> NextStep:
    resume = command("resume", operation.operation_id, *(("--due",) if operation.leaves else ()))
    end = command("cancel", operation.operation_id)
    return "continue it, or take it back: " + resume + ", or " + end if operation.stage else resume
