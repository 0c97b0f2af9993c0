"""What commands say of operations that ended, were interrupted, or are in the way; on a real
ZooKeeper.
"""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.controller.simple_controller import Manner, SimpleController
from support.documents.plans import UNASKED, deletion, document, election, reassignment

from kadmin.cli.execution import plan_named
from kadmin.errors import StalePlanError
from kadmin.next_step import command as command_to_type
from kadmin.operations.context import Clock
from kadmin.operations.record.record import (
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
)
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.wire.store import Store
from kadmin.worlds.zookeeper.znodes.admin import REASSIGN_PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cli.in_process import Answer

    from kadmin.operations.record.holder import Holder

pytestmark = pytest.mark.zookeeper


@pytest.fixture
def cluster(chroot: str) -> Iterator[SimpleController]:
    with SimpleController(chroot) as found:
        found.create_topic("orders", {0: [1, 2], 1: [1, 2]})
        yield found


@pytest.fixture
def interrupted(cluster: SimpleController, tmp_path: Path) -> Path:
    """The plan of an operation of two waves; the first is published, and the runner is gone."""
    plan = document(
        tmp_path / "p.yaml",
        reassignment("orders", {0: [2, 3], 1: [2, 3]}, waves={"max_partitions": 1}),
    )
    cluster.behave(Manner.HOLD)
    assert kadmin(cluster, "apply", plan, "--yes", "--timeout", "3").status == 8
    return plan


def kadmin(cluster: SimpleController, *arguments: str | Path) -> Answer:
    return command(*arguments, environment={"KADMIN_ZOOKEEPER": cluster.connect})


def last(cluster: SimpleController) -> str:
    return str(
        json.loads(kadmin(cluster, "history", "-o", "json").out)["operations"][-1]["operation_id"]
    )


def heal(cluster: SimpleController) -> str:
    """Leave a heal on record."""
    with Store.connect(cluster.connect) as store:
        context = zookeeper_context(store, Paths(), Clock(), lambda _: None)
        holder = context.new_holder("20260301T120000Z-4f9a1c")
        lease = context.operations.lock.take(holder, 0)
        record = OperationRecord(
            holder.operation_id,
            OperationKind.HEAL,
            "{}",
            "sha256:0",
            None,
            "now",
            holder.author,
            {},
        )
        context.operations.create(record, lease, "now")
        context.operations.lock.release(lease)
    return record.operation_id


def test_a_loss_of_records_that_could_not_be_seen_is_said_when_an_operation_begins(
    cluster: SimpleController, tmp_path: Path
) -> None:
    """The brokers of this cluster cannot be asked; those that are not to be asked need no word."""
    unseen = (
        "warning: a loss of records by other tools would not be seen: 2 partitions: no broker has "
        "a PLAINTEXT"
    )
    for replicas, options in (([2, 1], ()), ([1, 2], ("--without-brokers",))):
        plan = document(tmp_path / "p.yaml", reassignment("orders", {0: replicas, 1: replicas}))
        applied = kadmin(cluster, "apply", plan, "--yes", *options)
        assert applied.status == 0, applied.err
        assert (unseen in applied.err) is (not options), applied.err
        assert "are gone" not in applied.out


@contextmanager
def runner(cluster: SimpleController) -> Iterator[Holder]:
    """A runner that holds the lock of the last operation, and confirms requests."""
    operation_id, ended = last(cluster), threading.Event()
    with Store.connect(cluster.connect) as store:
        context = zookeeper_context(store, Paths(), Clock(), lambda _: None)
        holder = context.new_holder(operation_id)
        lease = context.operations.lock.take(holder, 0)

        def confirm() -> None:
            while not ended.wait(0.05):
                if request := context.operations.request(operation_id):
                    status = OperationStatus(
                        OperationState.RUNNING, "now", str(request), answered=request
                    )
                    context.operations.set_status(operation_id, status, lease)
                    return

        confirming = threading.Thread(target=confirm)
        confirming.start()
        try:
            yield holder
        finally:
            ended.set()
            confirming.join()
            context.operations.lock.release(lease)


def test_a_rollback_of_what_cannot_be_rolled_back_says_what_can_be_done(
    cluster: SimpleController, tmp_path: Path
) -> None:
    cluster.lead("orders", {0: 2})
    elect, delete = (
        document(tmp_path / "e.yaml", election(all=True)),
        document(tmp_path / "d.yaml", deletion("orders", allow=UNASKED)),
    )
    for arguments, kind, instead in (
        (("apply", elect, "--yes"), "election", "kadmin inspect partitions, to see the leaders"),
        (("apply", delete, "--yes"), "deletion", "kadmin recreate {}"),
        (("recreate", "{}", "--yes"), "recreation", "kadmin apply FILE, with such a plan"),
        ((), "heal", "kadmin doctor"),
    ):
        before = last(cluster) if kind == "recreation" else ""
        done = (
            kadmin(cluster, *(str(each).format(before) for each in arguments))
            if arguments
            else None
        )
        assert done is None or done.status == 0, done.err
        operation_id = heal(cluster) if done is None else last(cluster)
        answer = kadmin(cluster, "rollback", operation_id, "--yes")
        assert answer.status == 3
        first, _, end = answer.err.splitlines()
        expected = (
            f"error: Operation {operation_id} ({kind}) cannot be rolled back; only a reassignment "
            "can."
        )
        assert (first, end) == (expected, f"  next:  {instead.format(operation_id)}")


def test_a_refusal_gives_the_first_reason_alone(cluster: SimpleController, tmp_path: Path) -> None:
    plan = reassignment("orders", {0: [2, 9]}, current={0: [3, 4]})
    answer = kadmin(cluster, "apply", document(tmp_path / "p.yaml", plan), "--yes")
    assert answer.status == 4
    assert answer.err.startswith("error: ")
    assert "exit code" not in answer.err
    shown = kadmin(cluster, "diff", tmp_path / "p.yaml").out
    assert shown.count("exit code") == 1
    assert "\n\nand then: " in shown


def test_an_operation_without_a_runner_is_not_called_running(
    cluster: SimpleController, interrupted: Path
) -> None:
    assert interrupted.exists()
    said = kadmin(cluster, "status").out
    assert f"operation {last(cluster)} (reassignment, interrupted)" in said
    typed = command("status", "-z", cluster.connect).out
    assert f"next: kadmin resume {last(cluster)} -z {cluster.connect}, or kadmin cancel" in typed
    (finding,) = [
        each
        for each in json.loads(kadmin(cluster, "doctor", "-o", "json").out)["findings"]
        if each["trouble"] == "unfinished-operation"
    ]
    assert finding["evidence"][0].startswith("interrupted, its state last changed at ")


def test_what_was_cancelled_before_it_began_is_verified_as_cancelled(
    cluster: SimpleController, interrupted: Path
) -> None:
    assert "1 waiting" in kadmin(cluster, "verify", interrupted).out
    cluster.behave(Manner.OBEY)
    assert kadmin(cluster, "cancel", "--yes").status in {0, 8}
    answer = kadmin(cluster, "verify", interrupted)
    assert answer.status == 8
    assert answer.out.endswith("1 done, 1 cancelled\n")
    assert kadmin(cluster, "apply", interrupted, "--yes").status == 0
    assert kadmin(cluster, "verify", interrupted).out == "2 done\n"


def test_a_command_that_waits_for_the_lock_says_so(
    cluster: SimpleController, tmp_path: Path
) -> None:
    plan = document(tmp_path / "p.yaml", reassignment("orders", {0: [2, 1]}))
    with Store.connect(cluster.connect) as store:
        context = zookeeper_context(store, Paths(), Clock(), lambda _: None)
        holder = context.new_holder("20260301T120000Z-4f9a1c")
        lease = context.operations.lock.take(holder, 0)
        waited = kadmin(cluster, "apply", plan, "--yes", "--lock-timeout", "1")
        at_once = kadmin(cluster, "apply", plan, "--yes")
        context.operations.lock.release(lease)
    told = (
        f"waiting at most 1 s for the lock: {holder} holds it for operation {holder.operation_id}\n"
    )
    assert (waited.status, at_once.status) == (5, 5)
    assert told in waited.err
    assert "waiting" not in at_once.err


def test_an_operation_that_does_not_exist_is_no_record_of_another_kind(
    cluster: SimpleController,
) -> None:
    answer = kadmin(cluster, "rollback", "nosuch", "--yes")
    assert (answer.status, answer.err.splitlines()[0]) == (
        3,
        "error: There is no operation nosuch.",
    )


def test_history_says_interrupted_where_status_does(
    cluster: SimpleController, interrupted: Path
) -> None:
    assert interrupted.exists()
    assert f"{last(cluster)}  reassignment  interrupted  " in kadmin(cluster, "history").out
    assert "(reassignment, interrupted)" in kadmin(cluster, "history", last(cluster)).out
    with runner(cluster):
        assert f"{last(cluster)}  reassignment  running  " in kadmin(cluster, "history").out
        assert "(reassignment, running)" in kadmin(cluster, "history", last(cluster)).out


def test_apply_beside_a_runner_names_it_and_no_command_that_would_wait_for_it(
    cluster: SimpleController, interrupted: Path
) -> None:
    with runner(cluster) as holder:
        answer = kadmin(cluster, "apply", interrupted, "--yes")
    assert answer.status == 5
    assert f"  cause: runner {holder} is at work" in answer.err.splitlines()
    assert "  next:  kadmin status" in answer.err.splitlines()
    assert "kadmin resume" in kadmin(cluster, "apply", interrupted, "--yes").err


AT_THE_END_OF_A_WAVE = (
    "stops when the running wave is done; see kadmin status; to slow that wave: "
    "kadmin throttle set --rate RATE; to take it back at once: kadmin cancel --now 2"
)


@pytest.mark.parametrize(
    ("arguments", "effect"),
    [
        (("pause",), AT_THE_END_OF_A_WAVE),
        (("cancel", "--yes"), AT_THE_END_OF_A_WAVE),
        (("cancel", "--now", "--yes"), "takes the running wave back; see kadmin status (operation"),
    ],
)
def test_a_request_says_what_the_runner_will_do(
    cluster: SimpleController, interrupted: Path, arguments: tuple[str, ...], effect: str
) -> None:
    assert interrupted.exists()
    with runner(cluster) as holder:
        asked = kadmin(cluster, *arguments)
    assert asked.status == 0, asked.err
    assert f"runner {holder} {effect}" in asked.out


def test_a_pause_says_that_the_wave_is_the_last_one(
    cluster: SimpleController, tmp_path: Path
) -> None:
    plan = document(tmp_path / "p.yaml", reassignment("orders", {0: [2, 3], 1: [2, 3]}))
    cluster.behave(Manner.HOLD)
    assert kadmin(cluster, "apply", plan, "--yes", "--timeout", "3").status == 8
    with runner(cluster):
        asked = kadmin(cluster, "pause")
    assert "stops when the running wave is done, which is the last one; see" in asked.out


def test_a_cancellation_is_announced_once_and_beside_another_operation_status_tells_them_apart(
    cluster: SimpleController, interrupted: Path
) -> None:
    assert interrupted.exists()
    entry = json.dumps(
        {"version": 1, "partitions": [{"topic": "orders", "partition": 1, "replicas": [3, 2]}]}
    )
    cluster.client.set(REASSIGN_PARTITIONS, entry.encode())
    said = kadmin(cluster, "cancel", "--foreign", "--yes", "--timeout", "3").err
    assert said.count("is on record") == 1, said
    several = kadmin(cluster, "resume", "--yes")
    assert several.status == 3
    assert several.err.startswith("error: Several operations are unfinished: ")
    assert (
        several.err.splitlines()[-1]
        == "  next:  kadmin status, then the command with one of these ids"
    )


def test_a_run_that_others_overtook_names_a_command_that_can_be_typed(
    cluster: SimpleController, interrupted: Path
) -> None:
    assert interrupted.exists()
    cluster.client.delete(REASSIGN_PARTITIONS)
    cluster.delete_topic("orders")
    answer = kadmin(cluster, "resume", "--yes")
    assert answer.status == 4, answer.err
    assert answer.err.splitlines()[-1] == "  next:  kadmin diff FILE, to see what changed"


def test_an_error_of_a_run_names_the_file_that_was_applied(tmp_path: Path) -> None:
    following = (
        command_to_type("diff", "FILE")
        + ", to see what changed; "
        + command_to_type("cancel", "--origin", "FILE")
    )
    error = StalePlanError("Changed.", next_step=following)
    file = tmp_path / "two words.yaml"
    with pytest.raises(StalePlanError) as told, plan_named(file):
        raise error
    assert (
        told.value.next_command
        == f"kadmin diff '{file}', to see what changed; kadmin cancel --origin FILE"
    )


def test_a_refusal_names_file_and_line_once_for_all_partitions_of_a_topic(
    cluster: SimpleController, tmp_path: Path
) -> None:
    plan = document(
        tmp_path / "p.yaml", reassignment("order", {number: [1, 2] for number in range(7)})
    )
    answer = kadmin(cluster, "apply", plan, "--yes")
    said = "order-0, order-1, order-2, order-3, order-4 and 2 more: the cluster has no topic order"
    assert answer.status == 4
    message, _, following = answer.err.splitlines()
    assert re.fullmatch(rf"error: {plan}:\d+:\d+: {said} \(did you mean orders\?\)\.", message)
    assert following == f"  next:  kadmin diff {plan}"
    shown = kadmin(cluster, "diff", plan)
    assert message.removeprefix("error: ") in shown.out


def test_a_paused_operation_has_the_throttle_when_it_is_resumed(
    cluster: SimpleController, tmp_path: Path
) -> None:
    waves = {"max_partitions": 1}
    plan = reassignment("orders", {0: [2, 3], 1: [2, 3]}, waves=waves, throttle={"rate": "5MB/s"})
    cluster.behave(Manner.HOLD)
    assert (
        kadmin(
            cluster, "apply", document(tmp_path / "p.yaml", plan), "--yes", "--timeout", "3"
        ).status
        == 8
    )
    assert "  throttle: 5.00 MB/s\n" in kadmin(cluster, "status").out
    cluster.behave(Manner.OBEY)
    assert kadmin(cluster, "pause").status == 0
    assert "  throttle: 5.00 MB/s when it is resumed\n" in kadmin(cluster, "status").out
    assert kadmin(cluster, "throttle", "show").out.startswith("no throttles")
    cancelled = kadmin(cluster, "cancel", "--yes")
    assert cancelled.status == 0, cancelled.err
    assert cancelled.out.startswith(
        "cancelled: nothing is in flight, 1 of 2 partitions moved; asked to cancel by "
    )
    assert "throttled at" not in cancelled.err, "nothing more is published"


def test_nothing_to_do_is_said_once(cluster: SimpleController, tmp_path: Path) -> None:
    plan = document(tmp_path / "p.yaml", reassignment("orders", {0: [1, 2]}))
    answer = kadmin(cluster, "apply", plan, "--yes")
    assert (answer.status, answer.out, answer.err) == (0, "nothing to do\n", "")


def test_a_cancelled_operation_is_called_so_once(
    cluster: SimpleController, interrupted: Path
) -> None:
    assert interrupted.exists()
    operation_id = last(cluster)
    with Store.connect(cluster.connect) as store:
        context = zookeeper_context(store, Paths(), Clock(), lambda _: None)
        lease = context.operations.lock.take(context.new_holder(operation_id), 0)
        back = OperationStatus(OperationState.CANCELLED, "now", "cancelled; 2 partitions back")
        context.operations.set_status(operation_id, back, lease)
        context.operations.lock.release(lease)
    again = kadmin(cluster, "cancel", operation_id, "--yes").out
    assert again == f"already cancelled; 2 partitions back (operation {operation_id})\n"


def test_cancel_foreign_beside_a_runner_says_why_it_is_refused_and_what_to_type(
    cluster: SimpleController, interrupted: Path
) -> None:
    assert interrupted.exists()
    entry = json.dumps(
        {"version": 1, "partitions": [{"topic": "orders", "partition": 1, "replicas": [3, 2]}]}
    )
    cluster.client.set(REASSIGN_PARTITIONS, entry.encode())
    with runner(cluster) as holder:
        answer = kadmin(cluster, "cancel", "--foreign", "--yes")
    assert answer.status == 5
    assert answer.err.splitlines()[-3:] == [
        f"error: The lock is held by {holder} for operation {holder.operation_id}.",
        (
            "  cause: cancel --foreign is an operation of its own, under the lock; a paused "
            "operation holds none"
        ),
        f"  next:  kadmin pause {holder.operation_id}; then kadmin cancel --foreign",
    ]


def test_a_rollback_leaves_out_partitions_that_were_deleted_and_names_them(
    cluster: SimpleController, tmp_path: Path
) -> None:
    cluster.create_topic("retired", {0: [1, 2]})
    plan = reassignment("orders", {0: [2, 3]})
    plan["spec"]["partitions"].append({"topic": "retired", "partition": 0, "replicas": [2, 3]})
    assert kadmin(cluster, "apply", document(tmp_path / "p.yaml", plan), "--yes").status == 0
    cluster.delete_topic("retired")
    answer = kadmin(cluster, "rollback", "--yes")
    assert answer.status == 0, answer.err
    assert "left out, they do not exist any more: retired-0\n" in answer.err
    assert cluster.replicas("orders")[0] == [1, 2]
