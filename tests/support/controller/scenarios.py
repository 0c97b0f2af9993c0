"""Scenarios in which controllers of different eras differ, for live brokers and for the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.controller.znodes import (
    DELETE_TOPICS,
    ELECTION,
    REASSIGN,
    encode,
    reassignment_payload,
)

from kadmin.cluster.model import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from support.controller.live_or_model import Side

    from kadmin.cluster.model import Replicas

UNREGISTERED = 99
PAIR = {0: (1, 2), 1: (1, 2)}


def payload(side: Side, targets: Mapping[int, Replicas]) -> bytes:
    return reassignment_payload(
        {TopicPartition(side.topic, number): target for number, target in targets.items()}
    )


def reassign(side: Side, targets: Mapping[int, Replicas]) -> None:
    """Create a node that the controller takes to its end."""
    side.znodes.create(REASSIGN, payload(side, targets))
    side.until(lambda: not side.znodes.exists(REASSIGN))
    side.quiet()


def begin(side: Side, targets: Mapping[int, Replicas]) -> None:
    """Create a node and wait until nothing more comes of it."""
    side.znodes.create(REASSIGN, payload(side, targets))
    side.quiet()


def stick(side: Side, targets: Mapping[int, Replicas]) -> None:
    """Create a node that the controller begins with and never ends."""
    before = side.replicas(0)
    side.znodes.create(REASSIGN, payload(side, targets))
    side.until(lambda: side.replicas(0) != before)
    side.quiet()


def restore(side: Side) -> None:
    """Bring partition 0 back to where it was; a controller that does not begin by itself is
    moved.
    """
    side.znodes.put(REASSIGN, payload(side, {0: (1, 2)}))
    side.quiet()
    if side.znodes.exists(REASSIGN):
        side.fail_over()
    side.until(lambda: not side.znodes.exists(REASSIGN))


def plain(side: Side) -> None:
    side.create_topic({0: (1, 2)})
    reassign(side, {0: (2, 3)})


def order_and_factor(side: Side) -> None:
    """A reorder, a factor raised, and one lowered with the leader outside the new list."""
    side.create_topic({0: (1, 2)})
    for target in ((2, 1), (2, 1, 3), (3,)):
        reassign(side, {0: target})


def same_list(side: Side) -> None:
    side.create_topic({0: (1, 2)})
    reassign(side, {0: (1, 2)})


def unknown_partitions(side: Side) -> None:
    side.create_topic({0: (1, 2)})
    side.znodes.create(REASSIGN, reassignment_payload({TopicPartition("!nobody", 0): (1,)}))
    side.until(lambda: not side.znodes.exists(REASSIGN))
    reassign(side, {7: (1, 2), 0: (3, 4)})


def deleted_by_hand(side: Side) -> None:
    """The next node is not seen, until the controller moves."""
    side.create_topic(PAIR)
    stick(side, {0: (UNREGISTERED, 1)})
    side.znodes.delete(REASSIGN)
    side.quiet()
    begin(side, {1: (2, 3)})
    side.fail_over()
    side.until(lambda: not side.znodes.exists(REASSIGN))
    reassign(side, {0: (1, 2)})


def cancelled(side: Side) -> None:
    """A target that is not alive waits for ever; the original list and a new controller end it."""
    side.create_topic({0: (1, 2)})
    stick(side, {0: (UNREGISTERED, 2)})
    side.znodes.put(REASSIGN, payload(side, {0: (1, 2)}))
    side.quiet()
    side.fail_over()
    side.until(lambda: not side.znodes.exists(REASSIGN))


def overwritten(side: Side) -> None:
    side.create_topic(PAIR)
    stick(side, {0: (UNREGISTERED, 1)})
    side.znodes.put(REASSIGN, payload(side, {0: (UNREGISTERED, 1), 1: (2, 3)}))
    side.quiet()
    side.znodes.put(REASSIGN, payload(side, {0: (1, 2)}))
    side.fail_over()
    side.until(lambda: not side.znodes.exists(REASSIGN))


def deleted_in_mid_move(side: Side) -> None:
    """Up to 2.3 a union is left for good, from 2.4 on the move goes on; a create of the original
    ends both.
    """
    side.create_topic({0: (1, 2)})
    stick(side, {0: (UNREGISTERED, 1)})
    side.znodes.delete(REASSIGN)
    side.fail_over()
    side.quiet()
    restore(side)


def deleted_while_another_ends(side: Side) -> None:
    """1.1 to 2.3 make the node again from memory; from 2.4 on the watch is armed again."""
    side.create_topic(PAIR)
    side.hold()
    stick(side, {0: (UNREGISTERED, 1), 1: (1, 3)})
    side.znodes.delete(REASSIGN)
    side.release()
    side.until(lambda: side.replicas(1) == (1, 3))
    side.quiet()
    restore(side)


def foreign_while_another_ends(side: Side) -> None:
    """1.1 to 2.3 overwrite what somebody else wrote; from 2.4 on it is kept and never starts."""
    side.create_topic(PAIR)
    side.hold()
    stick(side, {0: (1, 3)})
    side.znodes.delete(REASSIGN)
    side.quiet()
    side.znodes.create(REASSIGN, payload(side, {1: (2, 1)}))
    side.quiet()
    side.release()
    side.until(lambda: side.replicas(0) == (1, 3))
    side.quiet()


def unknown_key(side: Side) -> None:
    side.create_topic({0: (1, 2)})
    entry = {"topic": side.topic, "partition": 0, "replicas": [2, 3], "log_dirs": ["any", "any"]}
    side.znodes.create(REASSIGN, encode({"version": 1, "partitions": [entry]}))
    side.quiet()


def no_json(side: Side) -> None:
    side.create_topic({0: (1, 2)})
    side.znodes.create(REASSIGN, b"{nonsense")
    side.quiet()


def elections(side: Side) -> None:
    side.create_topic({0: (1, 2)})
    reassign(side, {0: (2, 1)})
    elect(side, encode({"version": 1, "partitions": [{"topic": side.topic, "partition": 0}]}))
    elect(side, encode({"version": 1, "partitions": []}))


def election_without_json(side: Side) -> None:
    side.create_topic({0: (1, 2)})
    side.znodes.create(ELECTION, b"nonsense")
    side.quiet()


def election_of_nobody(side: Side) -> None:
    """Up to 2.1 the node stays, until the controller moves."""
    side.create_topic({0: (1, 2)})
    side.znodes.create(
        ELECTION, encode({"version": 1, "partitions": [{"topic": side.topic, "partition": 7}]})
    )
    side.quiet()
    side.fail_over()
    side.until(lambda: not side.znodes.exists(ELECTION))


def elect(side: Side, data: bytes) -> None:
    side.znodes.create(ELECTION, data)
    side.until(lambda: not side.znodes.exists(ELECTION))
    side.quiet()


def deletions(side: Side) -> None:
    side.create_topic({0: (1, 2)})
    for topic in ("nobody", side.topic):
        side.znodes.create(f"{DELETE_TOPICS}/{topic}")
        side.until(lambda: not side.znodes.children(DELETE_TOPICS))
        side.quiet()


SCENARIOS: dict[str, Callable[[Side], None]] = {
    each.__name__: each
    for each in (
        plain,
        order_and_factor,
        same_list,
        unknown_partitions,
        deleted_by_hand,
        cancelled,
        overwritten,
        deleted_in_mid_move,
        deleted_while_another_ends,
        foreign_while_another_ends,
        unknown_key,
        no_json,
        elections,
        election_of_nobody,
        election_without_json,
        deletions,
    )
}
SHORT = {"plain", "unknown_partitions", "deleted_by_hand", "elections"}
