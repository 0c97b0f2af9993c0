"""Models one elected controller until it resigns: memory, watches and a queue of events, as in
Kafka.

An event is a generator that yields after every write to ZooKeeper, so that the model can read, or
end the controller, between any two writes. A new controller starts from ZooKeeper only.
"""

from __future__ import annotations

import json
import uuid
from base64 import urlsafe_b64encode
from collections import deque
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kazoo.protocol.states import EventType
from support.controller.znodes import (
    BROKER_IDS,
    DELETE_TOPICS,
    ELECTION,
    REASSIGN,
    TOPICS,
    State,
    encode,
    state_path,
)

from kadmin.cluster.model import NO_LEADER, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from support.controller.eras import Era
    from support.controller.znodes import Assigned, Znodes

    from kadmin.cluster.model import Replicas

    Event = Iterator[None]


class ElectedController:
    """Behaviour common to all eras: topics, brokers, leaders, elections, deletions; subclasses
    reassign.
    """

    def __init__(self, znodes: Znodes, era: Era, broker_id: int, epoch: int) -> None:
        self.znodes = znodes
        self.era = era
        self.broker_id = broker_id
        self.epoch = epoch
        self.over = False
        self.assignment: dict[TopicPartition, Assigned] = {}
        self.states: dict[TopicPartition, State] = {}
        self.moving: dict[TopicPartition, Replicas] = {}
        self.live: set[int] = set()
        self.deleting: set[str] = set()
        self.events: deque[Event] = deque([self._start()])
        self._ids: dict[str, str] = {}

    def step(self) -> bool:
        """Go on to the next write; False when nothing is left to do."""
        while self.events:
            try:
                next(self.events[0])
            except StopIteration:
                self.events.popleft()
            else:
                return True
        return False

    def lagging(self) -> Iterator[tuple[TopicPartition, int]]:
        """Every live replica that is not in the ISR of a partition with a leader, in order."""
        for partition, assigned in sorted(self.assignment.items()):
            state = self.states.get(partition)
            if state is None or state.leader == NO_LEADER or partition.topic in self.deleting:
                continue
            for broker in assigned.replicas:
                if broker in self.live and broker not in state.isr:
                    yield partition, broker

    def catch_up(self, partition: TopicPartition, broker: int) -> None:
        """A replica has all records: it joins the ISR, in the order of the assignment."""
        isr = {*self.states[partition].isr, broker}
        ordered = tuple(
            b for b in dict.fromkeys((*self.assignment[partition].replicas, *isr)) if b in isr
        )
        self._write_state(partition, replace(self.states[partition], isr=ordered))
        if partition in self.moving:
            self.events.append(self.isr_changed(partition))

    def isr_changed(self, partition: TopicPartition) -> Event:
        raise NotImplementedError

    def pick_up(self) -> Event:
        """Read the reassignment node; reading arms the watch on it."""
        raise NotImplementedError

    def resume_moves(self) -> Event:
        """Begin with the reassignments that are in flight."""
        raise NotImplementedError

    def _start(self) -> Event:
        self.live = {
            int(name) for name in self.znodes.children(BROKER_IDS, self._on(self._brokers_changed))
        }
        topics = self.znodes.children(TOPICS, self._on(self._topics_changed))
        for topic in topics:
            self._load(topic)
        self.deleting = set(
            self.znodes.children(DELETE_TOPICS, self._on(self._deletions_changed))
        ) & set(topics)
        yield from self._settle_leaders()
        for topic in topics:
            yield from self._open(topic)
        yield from self.resume_moves()
        yield from self._elect(starting=True)
        yield from self._deletions_changed()

    def _on(
        self, handler: Callable[[], Event], *, created_only: bool = False
    ) -> Callable[[Any], None]:
        """Build a one-shot watcher that queues an event; Kafka's handlers of the admin nodes see
        creation only.
        """

        def seen(event: Any) -> None:  # noqa: ANN401 - kazoo ships no types
            if not self.over and (event.type == EventType.CREATED or not created_only):
                self.events.append(handler())

        return seen

    def reassignment_node(self) -> bytes | None:
        """Read the node as the controller does, which arms the watch even where there is none."""
        watcher = self._on(self.pick_up, created_only=not self.era.watches_for_good)
        if not self.znodes.exists(REASSIGN, watcher):
            return None
        return self.znodes.get(REASSIGN, watcher)

    def _brokers_changed(self) -> Event:
        live = {
            int(name) for name in self.znodes.children(BROKER_IDS, self._on(self._brokers_changed))
        }
        dead, self.live = self.live - live, live
        for partition in sorted(self.states):
            yield from self._drop(partition, dead & set(self.assignment[partition].replicas))
        yield from self._settle_leaders()
        for partition in sorted(self.moving):
            yield from self.isr_changed(partition)
        yield from self._deletions_changed()

    def _topics_changed(self) -> Event:
        names = set(self.znodes.children(TOPICS, self._on(self._topics_changed)))
        for topic in sorted(names - {partition.topic for partition in self.assignment}):
            self._load(topic)
            yield from self._open(topic)

    def _load(self, topic: str) -> None:
        self.assignment.update(self.znodes.assigned(topic))
        for partition in self.partitions(topic):
            state = self.znodes.state(partition)
            if state is not None:
                self.states[partition] = state

    def _open(self, topic: str) -> Event:
        """Make the states of new partitions; from 2.8 on a topic without an id gets one."""
        value = json.loads(self._read_topic(topic) or b"{}")
        self._ids[topic] = value.get("topic_id") or _topic_id(topic)
        if self.era.adds_topic_ids and "topic_id" not in value:
            self.write_topic(topic)
            yield
        if not self.znodes.exists(f"{TOPICS}/{topic}/partitions"):
            self.znodes.create(f"{TOPICS}/{topic}/partitions")
            yield
        yield from self._open_partitions(topic)

    def _read_topic(self, topic: str) -> bytes | None:
        """Read a topic znode and arm the watch on it."""
        watcher = self._on(partial(self._partitions_changed, topic))
        return self.znodes.get(f"{TOPICS}/{topic}", watcher)

    def _partitions_changed(self, topic: str) -> Event:
        """Kafka's PartitionModificationsHandler: partitions that are not in memory are new."""
        if self._read_topic(topic) is None or topic in self.deleting:
            return
        found = self.znodes.assigned(topic)
        self.assignment.update({each: found[each] for each in found.keys() - self.assignment})
        yield from self._open_partitions(topic)

    def _open_partitions(self, topic: str) -> Event:
        for partition in self.partitions(topic):
            live = tuple(
                broker for broker in self.assignment[partition].replicas if broker in self.live
            )
            if partition in self.states or not live:
                continue
            self.states[partition] = State(live[0], live)
            self.znodes.create_all(
                [
                    (state_path(partition).removesuffix("/state"), b""),
                    (state_path(partition), self._state(partition)),
                ]
            )
            yield

    def partitions(self, topic: str) -> list[TopicPartition]:
        return sorted(partition for partition in self.assignment if partition.topic == topic)

    def write_topic(self, topic: str) -> None:
        """Write a topic znode from memory, all partitions at once."""
        found = {p.partition: self.assignment[p] for p in self.partitions(topic)}
        value: dict[str, Any] = {"version": self.era.topic_format}
        value["partitions"] = {str(number): each.replicas for number, each in found.items()}
        if self.era.adds_topic_ids:
            value["topic_id"] = self._ids[topic]
        if self.era.marks_moves:
            value["adding_replicas"] = {
                str(number): each.adding for number, each in found.items() if each.adding
            }
            value["removing_replicas"] = {
                str(n): each.removing for n, each in found.items() if each.removing
            }
        self.znodes.put(f"{TOPICS}/{topic}", encode(value))

    def _write_state(self, partition: TopicPartition, state: State) -> None:
        self.states[partition] = state
        self.znodes.put(state_path(partition), self._state(partition))

    def _state(self, partition: TopicPartition) -> bytes:
        state = self.states[partition]
        return encode(
            {
                "controller_epoch": self.epoch,
                "leader": state.leader,
                "version": 1,
                "leader_epoch": state.leader_epoch,
                "isr": state.isr,
            }
        )

    def in_sync(self, partition: TopicPartition, replicas: Iterable[int]) -> bool:
        state = self.states.get(partition)
        return state is not None and set(replicas) <= set(state.isr)

    def bump_leader_epoch(self, partition: TopicPartition) -> None:
        state = self.states[partition]
        self._write_state(partition, replace(state, leader_epoch=state.leader_epoch + 1))

    def lead_from(self, partition: TopicPartition, replicas: Replicas) -> Event:
        """Keep the leader where it is one of these and alive (its epoch grows), else elect from the
        ISR by order.
        """
        state = self.states[partition]
        can = [broker for broker in replicas if broker in self.live and broker in state.isr]
        leader = state.leader if state.leader in can else next(iter(can), None)
        if leader is not None:
            self._write_state(
                partition, replace(state, leader=leader, leader_epoch=state.leader_epoch + 1)
            )
            yield

    def _drop(self, partition: TopicPartition, brokers: Iterable[int]) -> Event:
        """Take brokers out of the ISR; its last member stays, and a partition without a live one
        has no leader.
        """
        state, gone = self.states[partition], set(brokers)
        if not gone & {*state.isr, state.leader}:
            return
        isr = tuple(broker for broker in state.isr if broker not in gone) or state.isr[-1:]
        leader = state.leader
        if leader in gone:
            replicas = self.assignment[partition].replicas
            leader = next((b for b in replicas if b in isr and b in self.live), NO_LEADER)
        self._write_state(partition, State(leader, isr, state.leader_epoch + 1))
        yield

    def stop_replicas(self, partition: TopicPartition, brokers: Replicas) -> Event:
        yield from self._drop(partition, brokers)

    def _settle_leaders(self) -> Event:
        for partition, state in sorted(self.states.items()):
            if state.leader not in self.live and partition.topic not in self.deleting:
                yield from self._drop(
                    partition, set(self.assignment[partition].replicas) - self.live
                )
                if self.states[partition].leader == NO_LEADER:
                    yield from self.lead_from(partition, self.assignment[partition].replicas)
                if self.states[partition].leader == NO_LEADER:
                    yield from self._lead_uncleanly(partition)

    def _lead_uncleanly(self, partition: TopicPartition) -> Event:
        """Let the first living replica of the list lead, where the config of the topic says so."""
        value = json.loads(self.znodes.get(f"/config/topics/{partition.topic}") or b"{}")
        allowed = value.get("config", {}).get("unclean.leader.election.enable") == "true"
        alive = [each for each in self.assignment[partition].replicas if each in self.live]
        if allowed and alive:
            epoch = self.states[partition].leader_epoch + 1
            self._write_state(partition, State(alive[0], (alive[0],), epoch))
            yield

    def _elect(self, *, starting: bool = False) -> Event:
        """Elect preferred leaders: one pass, then the node goes whatever came of it. Its decoder is
        lenient.

        Up to 2.1, a partition that does not exist keeps the node, unless the controller has just
        started.
        """
        watcher = self._on(self._elect, created_only=True)
        data = self.znodes.get(ELECTION, watcher) if self.znodes.exists(ELECTION, watcher) else None
        if data is None:
            return
        try:
            value = json.loads(data)
        except ValueError:
            value = None if self.era.watches_for_good else {"partitions": []}
        if not isinstance(value, dict) or not isinstance(value.get("partitions"), list):
            return  # poison: it stays
        wanted = [
            TopicPartition(entry["topic"], entry["partition"]) for entry in value["partitions"]
        ]
        for partition in wanted:
            yield from self._elect_preferred(partition)
        if (
            starting
            or self.era.skips_unknown
            or all(partition in self.assignment for partition in wanted)
        ):
            self.znodes.delete(ELECTION)
            self.events.append(self._elect())
            yield

    def _elect_preferred(self, partition: TopicPartition) -> Event:
        state = self.states.get(partition)
        if state is None or partition.topic in self.deleting:
            return
        preferred = self.assignment[partition].replicas[0]
        if state.leader != preferred and preferred in self.live and preferred in state.isr:
            self._write_state(
                partition, replace(state, leader=preferred, leader_epoch=state.leader_epoch + 1)
            )
            yield

    def _deletions_changed(self) -> Event:
        children = self.znodes.children(DELETE_TOPICS, self._on(self._deletions_changed))
        known = {partition.topic for partition in self.assignment}
        for topic in sorted(set(children) - known):
            self.znodes.delete(f"{DELETE_TOPICS}/{topic}")
            yield
        self.deleting |= set(children) & known
        for topic in sorted(self.deleting):
            yield from self._delete(topic)

    def _delete(self, topic: str) -> Event:
        """Live copies go at once; with a replica on a dead broker the rest waits for it. Moves are
        forgotten.
        """
        partitions = self.partitions(topic)
        for partition in partitions:
            self.moving.pop(partition, None)
            if partition in self.states and self.states[partition].leader != NO_LEADER:
                self._write_state(partition, replace(self.states[partition], leader=NO_LEADER))
                yield
        if any(set(self.assignment[partition].replicas) - self.live for partition in partitions):
            return
        for partition in partitions:
            self.znodes.delete(state_path(partition))
            self.znodes.delete(state_path(partition).removesuffix("/state"))
            self.states.pop(partition, None)
            self.assignment.pop(partition)
            yield
        for path in (
            f"{TOPICS}/{topic}/partitions",
            f"{TOPICS}/{topic}",
            f"/config/topics/{topic}",
        ):
            self.znodes.delete(path)
            yield
        self.deleting.discard(topic)
        self.znodes.delete(f"{DELETE_TOPICS}/{topic}")
        yield


def _topic_id(topic: str) -> str:
    return urlsafe_b64encode(uuid.uuid5(uuid.NAMESPACE_DNS, topic).bytes).decode().rstrip("=")
