"""Models reassignments: union of both lists in the topic znode up to 2.3, adding and removing
replicas from 2.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.controller.elected_controller import ElectedController
from support.controller.znodes import REASSIGN, Assigned, decode_targets, reassignment_payload

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from support.controller.elected_controller import Event
    from support.controller.eras import Era
    from support.controller.znodes import Znodes

    from kadmin.cluster.model import Replicas, TopicPartition

    Remove = Callable[[TopicPartition, Replicas], bool]

SMALL_SET = 4
"""Scala's sets up to this size keep the order of insertion."""


def elect(znodes: Znodes, era: Era, broker_id: int, epoch: int) -> ElectedController:
    """Build the controller of an era."""
    return (MarkingController if era.marks_moves else UnionController)(
        znodes, era, broker_id, epoch
    )


class UnionController(ElectedController):
    """0.10.2 to 2.3. `moving` is the truth from 1.1 on: what a third party writes into the node is
    overwritten.
    """

    def pick_up(self) -> Event:
        data = self.reassignment_node()
        if data is None:
            return
        entries = decode_targets(data, strict=self.era.strict_json)
        if self.era.watches_for_good:
            entries = {
                partition: target
                for partition, target in entries.items()
                if partition not in self.moving
            }
        self.moving.update(entries)
        yield from self._advance_all(entries)

    def resume_moves(self) -> Event:
        yield from self.pick_up()

    def isr_changed(self, partition: TopicPartition) -> Event:
        if partition in self.moving and self.in_sync(partition, self.moving[partition]):
            yield from self._advance(partition)

    def _advance_all(self, partitions: Collection[TopicPartition]) -> Event:
        dropped: set[TopicPartition] = set()
        for partition in partitions:
            found = self.assignment.get(partition)
            if (
                found is None
                or partition.topic in self.deleting
                or found.replicas == self.moving[partition]
            ):
                dropped.add(partition)
                if not self.era.batches_removals:
                    yield from self._forget({partition})
            else:
                yield from self._advance(partition)
        if self.era.batches_removals:
            yield from self._forget(dropped)

    def _advance(self, partition: TopicPartition) -> Event:
        target, replicas = self.moving[partition], self.assignment[partition].replicas
        if not self.in_sync(partition, target):
            self.assignment[partition] = Assigned(_union(target, replicas))
            self.write_topic(partition.topic)
            yield
            self.bump_leader_epoch(partition)
            yield
            return
        self.assignment[partition] = Assigned(target)
        yield from self.lead_from(partition, target)
        yield from self.stop_replicas(
            partition, tuple(broker for broker in replicas if broker not in target)
        )
        self.write_topic(partition.topic)
        yield
        yield from self._forget({partition})

    def _forget(self, partitions: set[TopicPartition]) -> Event:
        """Rewrite the whole remainder, from memory (from 1.1 on); an empty one is deleted and
        looked for again.
        """
        known = self.moving
        if self.era.watches_for_good:
            known = decode_targets(self.znodes.get(REASSIGN) or b"", strict=False)
        left = {
            partition: target for partition, target in known.items() if partition not in partitions
        }
        for partition in partitions:
            self.moving.pop(partition, None)
        if left:
            self.znodes.put(REASSIGN, reassignment_payload(left))
        else:
            self.znodes.delete(REASSIGN)
            self.events.append(self.pick_up())
        yield


class MarkingController(ElectedController):
    """2.4 to 3.9. The node is read again whenever a move ends: foreign entries stay there and never
    start.
    """

    def pick_up(self) -> Event:
        data = self.reassignment_node()
        if data is None:
            return
        failed: set[TopicPartition] = set()
        for partition, target in decode_targets(data, strict=True).items():
            if partition in self.assignment and partition.topic not in self.deleting:
                yield from self._advance(partition, self.assignment[partition].towards(target))
            else:
                failed.add(partition)
        if failed:
            yield from self._remove(lambda partition, _: partition in failed)

    def resume_moves(self) -> Event:
        yield from self.pick_up()
        for partition in sorted(self.assignment):
            if self.assignment[partition].moving and partition not in self.moving:
                yield from self._advance(partition, self.assignment[partition])

    def isr_changed(self, partition: TopicPartition) -> Event:
        assigned = self.assignment.get(partition)
        if (
            partition in self.moving
            and assigned is not None
            and self.in_sync(partition, assigned.target)
        ):
            yield from self._advance(partition, assigned)

    def _advance(self, partition: TopicPartition, assigned: Assigned) -> Event:
        before = self.assignment[partition]
        if before != assigned:
            self.assignment[partition] = assigned
            self.write_topic(partition.topic)
            yield
            yield from self.stop_replicas(
                partition, tuple(b for b in before.replicas if b not in assigned.replicas)
            )
        self.moving[partition] = assigned.target
        if assigned.moving and not self.in_sync(partition, assigned.target):
            self.bump_leader_epoch(partition)
            yield
            return
        self.assignment[partition] = Assigned(assigned.target)
        yield from self.lead_from(partition, assigned.target)
        yield from self.stop_replicas(partition, assigned.removing)
        self.write_topic(partition.topic)
        yield
        del self.moving[partition]
        yield from self._remove(
            lambda each, target: each == partition and target == assigned.target
        )

    def _remove(self, gone: Remove) -> Event:
        """Write what is left of the node as it is now; reading it arms the watch, and the own write
        uses it up.
        """
        data = self.reassignment_node()
        if data is None:
            return
        left = {
            p: target
            for p, target in decode_targets(data, strict=True).items()
            if not gone(p, target)
        }
        if left:
            self.znodes.put(REASSIGN, reassignment_payload(left))
        else:
            self.znodes.delete(REASSIGN)
            self.events.append(self.pick_up())
        yield


def _union(target: Replicas, replicas: Replicas) -> Replicas:
    union = tuple(dict.fromkeys((*target, *replicas)))
    return union if len(union) <= SMALL_SET else tuple(sorted(union))
