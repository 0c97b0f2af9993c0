"""Runs kadmin's commands against the controller model in this process, on the model's time; each
can be killed.

A run is what one process of the command line would be: a session of its own through a proxy of its
own. While its loop waits, the model works some steps and the run's clock moves on, so a run takes
no time that it does not use, and sends the same requests every time.
"""

from __future__ import annotations

import itertools
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from kazoo.client import KazooClient
from support.controller.model import ControllerModel
from support.executor.throttling import rates_on_record
from support.network.frame_proxy import Action, Fault, reply_number, request_number
from support.stores import in_znodes
from support.zookeeper.fault_proxy import FaultProxy
from support.zookeeper.transaction_log import TransactionLog

from kadmin.errors import KadminError
from kadmin.operations import events
from kadmin.operations.context import Clock
from kadmin.operations.execute import apply as service
from kadmin.operations.execute import cancel_foreign as cancellation
from kadmin.operations.execute import catch_up as catching_up
from kadmin.operations.execute import change_throttle as throttling
from kadmin.operations.execute import due, takeover
from kadmin.operations.reading.status import StatusReader
from kadmin.operations.record.record import OperationState
from kadmin.operations.repair import rollback as undo
from kadmin.operations.throttles.by_hand import plan_clear, write_planned
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import ThrottleBy, ThrottleSpec
from kadmin.plan.throttle import LEADER_RATE
from kadmin.plan.throttle_edit import ThrottleEdit
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from support.controller.eras import Era
    from support.network.frame_proxy import Frame
    from support.zookeeper.transaction_log import Write

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.contexts.model import NamedContext
    from kadmin.operations.context import Context
    from kadmin.operations.record.stop_request import Stop, StopRequest
    from kadmin.operations.record.throttle_request import ThrottleRequest
    from kadmin.operations.store import OperationStore
    from kadmin.operations.throttles.by_hand import Scope
    from kadmin.plan.model import Plan
    from kadmin.sandbox import Sandbox

    Command = Callable[[Context], service.Outcome]

CALL_S = 5.0
LONGEST_SESSION_S = 16.0
"""What a server with a tick of 800 ms grants: a busy machine may stand still for seconds."""
STEPS_PER_WAIT = 9
WAIT = timedelta(seconds=20)
"""How far a wall clock of the test goes on at each wait."""
_numbers = itertools.count()


class Killed(BaseException):
    """The process is gone: whatever its clean-up would do does not reach ZooKeeper any more."""


class ModelClock(Clock):
    """Time that passes only while somebody waits; whoever waits lets `work` happen, which says how
    long it took.

    The wall clock is this machine's, or one that shows `begins` at first.
    """

    def __init__(self, work: Callable[[], float], begins: datetime | None = None) -> None:
        super().__init__()
        self._work = work
        self._begins = begins
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def utc(self) -> datetime:
        return super().utc() if self._begins is None else self._begins + timedelta(0, self._now)

    def wait(self, seconds: float) -> None:
        self._now += seconds + self._work()


class MortalStore(Store):
    """A session whose process dies at a moment that the test chooses; from then on nothing is
    sent.
    """

    killed: threading.Event

    def _await_connection(self, deadline: float) -> None:
        if self.killed.is_set():
            raise Killed
        super()._await_connection(deadline)


@dataclass(frozen=True, slots=True)
class KillPoint:
    """A request of a run, and whether the run dies before it is forwarded or after, before its
    reply comes.
    """

    number: int
    forwarded: bool

    def __str__(self) -> str:
        return f"{'after' if self.forwarded else 'before'} request {self.number}"

    def matches(self, frame: Frame) -> bool:
        return (reply_number if self.forwarded else request_number)(self.number)(frame)


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one command: an outcome, an error, or neither when it was killed.

    Also the ops of its requests, and the notes that it told.
    """

    outcome: service.Outcome | None
    error: KadminError | None
    killed: bool
    requests: tuple[int, ...]
    told: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        return 0 if self.error is None else self.error.exit_code


NO_FACTS = ClusterFacts()


def apply(
    plan: Plan, lock_timeout_s: float = 0, facts: ClusterFacts = NO_FACTS, *, leaves: bool = False
) -> Command:
    """`kadmin apply FILE --yes [--leave]`, with facts that brokers would tell."""

    def command(context: Context) -> service.Outcome:
        settled = service.prepare(context, plan, facts).settled(dry_run=False)
        run = service.RunOptions(leaves=leaves)
        return settled or service.apply(context, plan, facts, lock_timeout_s, options=run)

    return command


def resume(lock_timeout_s: float = 0, *, leaves: bool = False) -> Command:
    """`kadmin resume --yes [--leave]`."""
    return lambda context: takeover.resume(context, None, lock_timeout_s, leaves=leaves)


def resume_due(operation_id: str | None = None) -> Command:
    """`kadmin resume [ID] --due --yes`."""
    return lambda context: due.resume_due(context, due.find_due(context, operation_id), 0)


def stop(kind: Stop, *, allow_foreign: bool = False, lock_timeout_s: float = 0) -> Command:
    """`kadmin pause`, `kadmin cancel --yes`, `kadmin cancel --now --yes [--allow-foreign]`."""
    return lambda context: takeover.stop(
        context, None, kind, lock_timeout_s, allow_foreign=allow_foreign
    )


def cancel_foreign(given: Mapping[TopicPartition, Replicas]) -> Command:
    """`kadmin cancel --foreign --yes [--origin FILE]`."""

    def command(context: Context) -> service.Outcome:
        targets = cancellation.plan_cancellation(context, given)
        if not targets:
            return service.Outcome(None, "no reassignment of another tool is in flight")
        return cancellation.cancel_foreign(context, given, targets, 0)

    return command


def in_context(named: NamedContext | None, command: Command) -> Command:
    """Run a command with `--context NAME`, or without one."""
    return lambda context: command(replace(context, named=named))


def change_throttle(edit: ThrottleEdit | int) -> Command:
    """`kadmin throttle set --rate RATE --yes`, or another edit, with an unfinished operation."""
    if isinstance(edit, int):
        edit = ThrottleEdit(ThrottleSpec(ThrottleBy.RATE, edit))

    def command(context: Context) -> service.Outcome:
        operation = throttling.unfinished_reassignment(context)
        assert operation is not None
        request = throttling.request_for(context, operation, edit)
        written = throttling.change_throttle(context, operation, request, 0)
        return service.Outcome(operation, f"changed: {sorted(written.planned.changes)}")

    return command


def catch_up(broker: int, rate: int, most: int | None = None) -> Command:
    """`kadmin throttle catch-up --broker ID --rate RATE --yes`."""
    spec = ThrottleSpec(ThrottleBy.RATE, rate, most)

    def command(context: Context) -> service.Outcome:
        found = catching_up.prepare_catch_up(context, broker, spec).settled(dry_run=False)
        return found or catching_up.catch_up(context, broker, spec, 0)

    return command


def status() -> Command:
    """`kadmin status`: what the unfinished operation waits for."""

    def command(context: Context) -> service.Outcome:
        (found,) = StatusReader(context).read().operations
        return service.Outcome(found.listing.operation_id, found.waits_for)

    return command


def rollback() -> Command:
    """`kadmin rollback --yes`."""
    return lambda context: apply(undo.plan_rollback(context, None))(context)


def clear_throttles(scope: Scope, lock_timeout_s: float = 0) -> Command:
    """`kadmin throttle clear --yes`."""

    def command(context: Context) -> service.Outcome:
        written = write_planned(
            context, lambda: plan_clear(context, scope, now=False), lock_timeout_s
        )
        return service.Outcome(None, f"cleared: {sorted(written.planned.changes)}")

    return command


@dataclass(frozen=True, slots=True)
class Site:
    """One ZooKeeper server, the session of every model on it, one to read with, and the server's
    own log.
    """

    server: str
    client: KazooClient
    store: Store
    log: TransactionLog

    @classmethod
    @contextmanager
    def on(cls, sandbox: Sandbox) -> Iterator[Site]:
        """Open the session of the models."""
        client = KazooClient(sandbox.connect_string, timeout=LONGEST_SESSION_S)
        client.start()
        with Store.connect(sandbox.connect_string) as store:
            yield cls(sandbox.connect_string, client, store, TransactionLog(sandbox.spec.directory))
        client.stop()
        client.close()


class Practice:
    """A cluster of the model in a chroot of its own, for kadmin to practise on; one at a time on a
    site.
    """

    def __init__(self, site: Site, era: Era, brokers: Sequence[int] = (1, 2, 3, 4)) -> None:
        self._site = site
        self._dead: list[tuple[int, bytes]] = []
        self.chroot = f"/practice-{next(_numbers)}"
        site.client.create(self.chroot)
        site.log.new_writes()
        self._writes: list[Write] = []
        self.model = ControllerModel(site.client, self.chroot, era, brokers)
        self.at: datetime | None = None
        """What the wall clock shows, from one run to the next; None: this machine's."""

    def process(
        self,
        command: Command,
        work: Callable[[], float] | None = None,
        begins: datetime | None = None,
    ) -> Process:
        """Prepare a command; while it waits, `work` happens, which is by default the model's own.

        `begins` is what its wall clock shows at first.
        """
        time = work or self.work, begins or self.at
        return Process(self, command, time, FaultProxy(self.server))

    def run(self, command: Command, kill: KillPoint | None = None) -> Run:
        """Run a command to its end, or to the moment in which it is killed."""
        process = self.process(command)
        if kill is not None:
            process.proxy.faults.append(Fault(Action.CUT_BEFORE, kill.matches, then=process.die))
        return process.run()

    def work(self) -> float:
        """What happens while a run waits: the dead are buried, and the model goes on a little."""
        self.bury()
        self.model.run(STEPS_PER_WAIT)
        if self.at is None:
            return 0.0
        self.at += WAIT
        return WAIT.total_seconds()

    def hear(self, event: events.Event) -> None:
        """A person sees what a run tells; nobody is here."""

    def ask(self, request: StopRequest) -> None:
        """Write what pause and cancel write where a runner is at work."""
        with Store.connect(self.connect_string) as store:
            journal = in_znodes(store)
            for listing in journal.unfinished():
                if listing.status.state is not OperationState.PREPARING:
                    journal.ask(listing.operation_id, request)

    def ask_throttle(self, request: ThrottleRequest) -> None:
        """Write what `throttle set` writes where a runner is at work."""
        with Store.connect(self.connect_string) as store:
            journal = in_znodes(store)
            journal.ask_throttle(journal.listings()[-1].operation_id, request)

    def end_session(self, session: tuple[int, bytes]) -> None:
        """Let ZooKeeper forget a session now: somebody else speaks for it and closes it."""
        undertaker = KazooClient(self._site.server, client_id=session)
        undertaker.start()
        undertaker.stop()
        undertaker.close()

    def mourn(self, session: tuple[int, bytes]) -> None:
        """Keep the session of a killed run in mind; ZooKeeper does not know yet that it is dead."""
        self._dead.append(session)

    def bury(self) -> None:
        """Let ZooKeeper forget the sessions of killed runs."""
        while self._dead:
            self.end_session(self._dead.pop())

    def writes(self) -> list[Write]:
        """Everything that was ever written to this cluster, whoever wrote it, in order."""
        self._writes += self._site.log.new_writes(self.chroot)
        return self._writes

    @property
    def server(self) -> tuple[str, int]:
        """The server's address."""
        host, port = self._site.server.split(":")
        return host, int(port)

    @property
    def connect_string(self) -> str:
        """The way past every proxy."""
        return f"{self._site.server}{self.chroot}"

    @property
    def journal(self) -> OperationStore:
        """The operations on record, read past every proxy."""
        return in_znodes(self._site.store, Paths(f"{self.chroot}{Paths().root}"))

    def configs(self) -> dict[str, dict[str, str]]:
        """Every config of every topic and broker that has one."""
        return dict(self._below("/config/topics")) | dict(self._below("/config/brokers"))

    def rates(self) -> set[str]:
        """Every rate that a broker has."""
        brokers = dict(self._below("/config/brokers")).values()
        return {config[LEADER_RATE] for config in brokers if LEADER_RATE in config}

    def rates_on_record(self) -> set[str]:
        """Every rate of an operation, and those that it found."""
        ids = [listing.operation_id for listing in self.journal.listings()]
        read = ((self.journal.record(each), self.journal.steps(each)) for each in ids)
        return {rate for record, steps in read for rate in rates_on_record(record, steps)}

    def _below(self, path: str) -> Iterator[tuple[str, dict[str, str]]]:
        for name in self.model.znodes.children(path):
            if config := json.loads(self.model.znodes.get(f"{path}/{name}") or b"{}").get("config"):
                yield f"{path}/{name}", config


class Process:
    """One command on its way: a session of its own through a proxy of its own."""

    def __init__(
        self,
        practice: Practice,
        command: Command,
        time: tuple[Callable[[], float], datetime | None],
        proxy: FaultProxy,
    ) -> None:
        self.proxy = proxy
        self._practice = practice
        self._command = command
        self._work, self._begins = time
        self._killed = threading.Event()

    def run(self) -> Run:
        """Run to the end; no clean-up of a killed run reaches ZooKeeper."""
        mortal: type[MortalStore] = type("Mortal", (MortalStore,), {"killed": self._killed})
        outcome: service.Outcome | None = None
        error: KadminError | None = None
        told: list[str] = []
        clock = ModelClock(self._wait, self._begins)

        def tell(event: events.Event) -> None:
            self._practice.hear(event)
            if isinstance(event, events.Note):
                told.append(event.text)

        with self.proxy:
            try:
                with mortal.connect(
                    f"{self.proxy.connect_string}{self._practice.chroot}", timeout_s=CALL_S
                ) as store:
                    outcome = self._command(zookeeper_context(store, Paths(), clock, tell))
            except Killed:
                pass
            except KadminError as raised:
                error = raised
        return Run(
            outcome,
            error,
            self._killed.is_set(),
            tuple(frame.op for frame in self.proxy.requests()),
            tuple(told),
        )

    def die(self) -> None:
        """From here on nothing more is sent, and nobody is let in again."""
        self._practice.mourn(self.proxy.sessions[-1])
        self._killed.set()
        self.proxy.refuse()

    def expire(self) -> None:
        """Let ZooKeeper take the session for dead."""
        self._practice.end_session(self.proxy.sessions[-1])

    def _wait(self) -> float:
        if self._killed.is_set():
            raise Killed
        return self._work()
