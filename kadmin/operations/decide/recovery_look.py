"""Where each partition of a recovery is, by the cluster and the steps on record."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from kadmin.operations.decide.actions import PUBLISH_ATTEMPTS
from kadmin.operations.record.steps import WaveStep, elected_uncleanly, refused_by_cluster
from kadmin.plan.recovery import clean_leaders, living_replicas
from kadmin.wording import brokers_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.decide.actions import Observed
    from kadmin.plan.model import ForcedLeader

ORDER, RESTORE = 0, 1
"""The waves of a recovery: lists with the chosen leader first, and the lists of before."""


class EntryStage(StrEnum):
    """Where a partition is."""

    ORDER = "another replica would be elected"
    ELECT = "no leader"
    CLEAN = "a replica that leads without a loss is alive"
    RESTORE = "its list is not the one of before"
    LED = "led"
    GIVEN_UP = "cannot be elected"


@dataclass(frozen=True)
class RecoveryLook:
    """One observation; `late`: the last step should have shown its effect."""

    observed: Observed
    late: bool

    @property
    def state(self) -> ClusterState:
        """The cluster."""
        return self.observed.state

    @cached_property
    def asked(self) -> frozenset[TopicPartition]:
        """The partitions that an unclean election of ours named."""
        return elected_uncleanly(self.observed.steps)

    @cached_property
    def refused(self) -> Mapping[TopicPartition, str]:
        """The partitions that the cluster refused to change, with its reasons."""
        return refused_by_cluster(self.observed.steps)

    @cached_property
    def kept(self) -> Mapping[TopicPartition, str]:
        """The partitions whose list of before was refused, with the reasons."""
        return refused_by_cluster(
            step
            for step in self.observed.steps
            if isinstance(step, WaveStep) and step.wave == RESTORE
        )

    @cached_property
    def _in_vain(self) -> int | None:
        """The wave that was published again and again without an effect, None without one."""
        last = [
            step.wave if isinstance(step, WaveStep) else None
            for step in self.observed.steps[-PUBLISH_ATTEMPTS:]
        ]
        vain = self.late and len(last) == PUBLISH_ATTEMPTS and len(set(last)) == 1
        return last[0] if vain else None

    def has_leader(self, partition: TopicPartition) -> bool:
        """Whether a partition has a leader."""
        return self.state.has_leader(partition)

    def stage(self, entry: ForcedLeader) -> EntryStage:
        """Return where a partition is."""
        partition = entry.partition
        if self.has_leader(partition):
            return EntryStage.RESTORE if self.is_misplaced(entry) else EntryStage.LED
        if clean_leaders(partition, self.state):
            return EntryStage.CLEAN
        if self._is_hopeless(entry):
            reordered = entry.replicas is None and self.is_misplaced(entry)
            return EntryStage.RESTORE if reordered else EntryStage.GIVEN_UP
        if self._would_lead(entry):
            return EntryStage.ELECT
        return EntryStage.GIVEN_UP if self._in_vain == ORDER else EntryStage.ORDER

    def is_misplaced(self, entry: ForcedLeader) -> bool:
        """Whether we put another list there, which is to be restored, or whose move is to end."""
        partition = entry.partition
        if partition in self.kept or self._in_vain == RESTORE:
            return False
        if entry.replicas is not None:
            return self._moves_to(entry)
        now = self.state.replicas(partition)
        return not self._is_moving(partition) and now == entry.ordered.replicas != entry.current

    def led_by_another(self, entry: ForcedLeader) -> bool:
        """Whether another replica than the chosen one was elected by our request.

        A leader that came back by itself is no such replica.
        """
        if entry.partition not in self.asked:
            return False
        found = self.state.states[entry.partition]
        return entry.leader not in {found.leader, *found.isr}

    def why_not(self, entry: ForcedLeader) -> str:
        """Return why the chosen replica does not lead."""
        if reason := self.refused.get(entry.partition):
            return reason
        if self.has_leader(entry.partition):
            leader = self.state.states[entry.partition].leader
            return f"broker {leader} leads, not {entry.leader}"
        if entry.leader not in self.state.brokers:
            return f"{brokers_in_words([entry.leader])} is not alive any more"
        return "the controller did not do it; its log says why"

    def _is_hopeless(self, entry: ForcedLeader) -> bool:
        partition = entry.partition
        return (
            partition in self.refused
            or (partition in self.asked and self.late)
            or (entry.replicas is None and self._is_moving(partition))
            or entry.leader not in self.state.brokers
        )

    def _would_lead(self, entry: ForcedLeader) -> bool:
        if entry.replicas is not None:
            return self._moves_to(entry)
        return living_replicas(entry.partition, self.state)[:1] == (entry.leader,)

    def _moves_to(self, entry: ForcedLeader) -> bool:
        """Whether the reassignment to the replicas of an empty partition is in flight."""
        partition = entry.partition
        topic = self.state.topics[partition.topic]
        return self._is_moving(partition) and (
            topic.target(partition.partition) == entry.ordered.replicas
        )

    def _is_moving(self, partition: TopicPartition) -> bool:
        return self.state.topics[partition.topic].is_moving(partition.partition)
