"""Operations are carried between ZooKeeper and another store, and a copy that is killed at any
write is done again.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command
from support.controller.simple_controller import Manner, SimpleController
from support.documents.plans import document, reassignment
from support.executor.fast_clock import FastClock
from support.stores import ignore

from kadmin.errors import BusyError
from kadmin.operations.context import Clock
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.stop_request import Stop
from kadmin.operations.store import OperationStore
from kadmin.worlds.kafka.values.folder import FolderValues
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.to_kraft.history_import import import_history
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kadmin.operations.context import Context

pytestmark = pytest.mark.zookeeper

NEVER = 1_000_000


class KilledError(BaseException):
    """The process is gone."""


@dataclass
class Death:
    """Ends the process before or after its write number `at`; `writes` counts them."""

    at: int = NEVER
    before: bool = True
    writes: int = 0
    dead: bool = field(default=False, init=False)

    def around(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def write_or_die(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - whatever is written
            if self.dead:
                raise KilledError
            number, self.writes = self.writes, self.writes + 1
            self.dead = number == self.at
            if self.dead and self.before:
                raise KilledError
            answer = write(*arguments, **options)
            if self.dead:
                raise KilledError
            return answer

        return write_or_die


@pytest.fixture
def cluster(chroot: str, tmp_path: Path) -> Iterator[SimpleController]:
    """A cluster with an operation that is completed and one whose runner is gone."""
    with SimpleController(chroot) as found:
        found.create_topic("orders", {0: [1, 2], 1: [1, 2]})
        done = document(tmp_path / "done.json", reassignment("orders", {0: [3, 2]}))
        assert command("apply", done, "--yes", "-z", found.connect).status == 0
        found.behave(Manner.HOLD)
        left = document(tmp_path / "left.json", reassignment("orders", {1: [3, 2]}))
        assert command("apply", left, "--yes", "-z", found.connect, "--timeout", "6").status == 8
        yield found


@contextmanager
def in_zookeeper(
    connect: str, root: str, death: Death, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Context]:
    with Store.connect(connect) as store, monkeypatch.context() as patch:
        patch.setattr(store, "multi", death.around(store.multi))
        yield zookeeper_context(store, Paths(root), Clock(), lambda _: None)


def in_folder(
    context: Context, folder: Path, death: Death, monkeypatch: pytest.MonkeyPatch
) -> Context:
    values = FolderValues(folder, context.clock, None, ignore)
    monkeypatch.setattr(values, "put", death.around(values.put))
    return replace(context, operations=OperationStore(values, ignore))


def content(operations: OperationStore) -> list[tuple[object, ...]]:
    """Return all that is on record, by operation: of two in one second, stores differ in which is
    the older one.
    """
    found = (
        (
            each.operation_id,
            each.status.state,
            [change.state for change in each.changes],
            operations.record(each.operation_id),
            operations.steps(each.operation_id),
            operations.throttle_request(each.operation_id),
        )
        for each in operations.listings()
    )
    return sorted(found, key=lambda each: str(each[0]))


def test_what_is_carried_is_all_that_was_on_record(
    cluster: SimpleController, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with in_zookeeper(cluster.connect, "/kadmin", Death(), monkeypatch) as source:
        target = in_folder(source, tmp_path / "records", Death(), monkeypatch)
        ids = {each.operation_id for each in source.operations.listings()}
        found = import_history(source, target)
        assert (set(found.carried), found.already) == (ids, 0)
        states = {state for _, state, *_ in content(target.operations)}
        assert states == {OperationState.COMPLETED, OperationState.PAUSED}
        assert content(target.operations) == content(source.operations)
        (paused,) = target.operations.unfinished()
        assert paused.status.message == "paused for history import, 0/1 done"
        assert import_history(source, target).carried == ()
        assert import_history(target, source).carried == ()


def test_a_copy_that_is_killed_at_any_write_is_done_again(
    cluster: SimpleController, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every write of the copy from ZooKeeper, and every one of the copy back, before it and after
    it.
    """
    with in_zookeeper(cluster.connect, "/kadmin", Death(), monkeypatch) as source:
        whole = Death()
        there = in_folder(source, tmp_path / "whole", whole, monkeypatch)
        import_history(source, there)
        expected = content(source.operations)
        for number, before in points(whole.writes):
            folder = tmp_path / f"{number}-{before}"
            with suppress(KilledError):
                import_history(
                    source, in_folder(source, folder, Death(number, before), monkeypatch)
                )
            again = in_folder(source, folder, Death(), monkeypatch)
            import_history(source, again)
            assert content(again.operations) == expected, (number, before)
        back = Death()
        with in_zookeeper(cluster.connect, "/back", back, monkeypatch) as here:
            import_history(there, here)
        for number, before in points(back.writes):
            root = f"/back-{number}-{before}"
            with (
                suppress(KilledError),
                in_zookeeper(cluster.connect, root, Death(number, before), monkeypatch) as here,
            ):
                import_history(there, here)
            with in_zookeeper(cluster.connect, root, Death(), monkeypatch) as here:
                import_history(there, here)
                assert content(here.operations) == expected, (number, before)


def points(writes: int) -> list[tuple[int, bool]]:
    assert writes > 1
    return [(number, before) for number in range(writes) for before in (True, False)]


def test_a_runner_is_asked_to_pause_and_waited_for(
    cluster: SimpleController, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        in_zookeeper(cluster.connect, "/kadmin", Death(), monkeypatch) as runner,
        in_zookeeper(cluster.connect, "/kadmin", Death(), monkeypatch) as plain,
    ):
        source = replace(plain, clock=FastClock())
        running = runner.operations.unfinished()[0].operation_id
        lease = runner.operations.lock.take(runner.new_holder(running), 0)
        target = in_folder(source, tmp_path / "records", Death(), monkeypatch)
        with pytest.raises(BusyError, match="still run by"):
            import_history(source, target)
        request = source.operations.request(running)
        assert request is not None
        assert request.stop is Stop.PAUSE
        runner.operations.lock.release(lease)
        assert running in import_history(source, target).carried
