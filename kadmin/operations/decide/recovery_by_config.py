"""Rules of a recovery whose brokers serve no unclean election (before Kafka 2.4).

The config of a topic lets its replicas lead, and the next controller elects the first living one of
each list. So list, config and another controller are one write; one topic goes first, alone.
Brokers up to 1.1 end when they return with records that their leader lacks, unless the config is
still there: it stays until every replica of the topic's elected partitions is in sync. The first
row that matches counts.

=====================================================  ==========================================
seen                                                   action
=====================================================  ==========================================
a replica alive that leads without a loss              Wait for its election
no leader, the chosen one alive                        ForceLeaders; again, where nothing shows
every replica in sync, or asked to cancel              RestoreConfigs: the values of before
replicas not in sync                                   Wait, for the person to start their brokers
a list that is not the one of before, in sync          as another order of replicas
nothing left                                           Finish, with what was lost as far as known
=====================================================  ==========================================

A topic is left alone as a whole where its config would elect another of its partitions, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kadmin.operations.decide.actions import (
    PUBLISH_ATTEMPTS,
    Finish,
    ForceLeaders,
    RestoreConfigs,
    Wait,
)
from kadmin.operations.decide.common import before_request, overdue
from kadmin.operations.decide.orders import publish_order
from kadmin.operations.decide.recovery import RecoveryWork, await_clean, is_cancelled
from kadmin.operations.decide.recovery_look import EntryStage, RecoveryLook
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import ConfigStep, UncleanElectionStep
from kadmin.plan.model import PartitionTarget
from kadmin.plan.progress import in_flight
from kadmin.plan.unclean import UNCLEAN_ELECTION, elected_too, unclean_changes
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.plan.model import ForcedLeader, RecoveryPlan
    from kadmin.plan.throttle import ConfigChanges

TOPICS_AT_ONCE = 50
"""Topics of one write: each has a config and a notification that every broker reads."""


@dataclass(frozen=True)
class ConfigLook(RecoveryLook):
    """One observation of a recovery by config."""

    plan: RecoveryPlan

    @cached_property
    def allowed(self) -> tuple[str, ...]:
        """The topics whose config we set, and did not set back."""
        found: dict[str, None] = {}
        for step in self.observed.steps:
            if isinstance(step, UncleanElectionStep):
                found |= dict.fromkeys(each.topic for each in step.partitions)
            elif isinstance(step, ConfigStep):
                found = dict.fromkeys(each for each in found if each not in step.topics)
        return tuple(found)

    @cached_property
    def awaited(self) -> Mapping[TopicPartition, frozenset[int]]:
        """Those that are behind, of these topics."""
        return {each: ids for each, ids in self.behind.items() if each.topic in self.allowed}

    @cached_property
    def behind(self) -> Mapping[TopicPartition, frozenset[int]]:
        """The brokers that are not in sync with partitions that were elected.

        Also of those whose elected leader is dead by now: it is one of the brokers.
        """
        found = {
            entry.partition: self._behind(entry.partition)
            for entry in self.plan.partitions
            if entry.partition in self.asked and self._was_elected(entry)
        }
        return {each: brokers for each, brokers in found.items() if brokers}

    def _was_elected(self, entry: ForcedLeader) -> bool:
        found = self.state.states.get(entry.partition)
        return found is not None and (self.has_leader(entry.partition) or entry.leader in found.isr)

    def _behind(self, partition: TopicPartition) -> frozenset[int]:
        replicas, isr = self.state.replicas(partition) or (), self.state.states[partition].isr
        led = self.has_leader(partition)
        return frozenset(
            each for each in replicas if each not in isr or not (led or each in self.state.brokers)
        )

    def stage(self, entry: ForcedLeader) -> EntryStage:
        """Return where a partition is; its list is restored when nothing else is left."""
        found = RecoveryLook.stage(self, entry)
        return EntryStage.LED if found is EntryStage.RESTORE else found

    def why_not(self, entry: ForcedLeader) -> str:
        """Return why the chosen replica does not lead."""
        if self.has_leader(entry.partition):
            return RecoveryLook.why_not(self, entry)
        if not self._is_as_planned(entry):
            return f"its replicas are {list(self.state.replicas(entry.partition) or ())} by now"
        if others := self._others.get(entry.partition.topic):
            return f"the config of its topic would let others lead, too: {name_some(others)}"
        return RecoveryLook.why_not(self, entry)

    @cached_property
    def _others(self) -> Mapping[str, list[TopicPartition]]:
        """Partitions that must not be elected, and would be, by topic."""
        listed = [each.partition for each in self.plan.partitions if self._can_lead(each)]
        found: dict[str, list[TopicPartition]] = {}
        for each in elected_too(self.state.topics, listed, self.state):
            found.setdefault(each.topic, []).append(each)
        return found

    @cached_property
    def _moving(self) -> frozenset[TopicPartition]:
        return frozenset(in_flight(self.state))

    def _is_as_planned(self, entry: ForcedLeader) -> bool:
        now = self.state.replicas(entry.partition)
        return now in {entry.current, entry.ordered.replicas} and (
            entry.partition not in self._moving
        )

    def _can_lead(self, entry: ForcedLeader) -> bool:
        return entry.leader in self.state.brokers and self._is_as_planned(entry)

    def _is_hopeless(self, entry: ForcedLeader) -> bool:
        partition = entry.partition
        if partition in self.asked and not self.late:
            return False  # the next controller may elect it yet
        attempts = sum(
            partition in step.partitions
            for step in self.observed.steps
            if isinstance(step, UncleanElectionStep)
        )
        return (
            not self._can_lead(entry)
            or attempts >= PUBLISH_ATTEMPTS
            or bool(self._others.get(partition.topic))
        )

    def _would_lead(self, _entry: ForcedLeader) -> bool:
        return True  # the write that elects has the order


@dataclass(frozen=True, slots=True)
class ConfigRecoveryWork(RecoveryWork):
    """A recovery as recorded; `unclean` is the config of each topic before, None without one."""

    unclean: Mapping[str, str | None]

    @property
    def means(self) -> str:
        """The means of its elections, as part of a sentence."""
        topics = count(len(self.unclean), "topic")
        return f"{UNCLEAN_ELECTION} of {topics} and moves of the whole cluster's controller"

    @property
    def effects(self) -> str:
        """The sentence that says what it does to the cluster."""
        return (
            f"brokers before Kafka 2.4 serve no unclean election, so kadmin uses {self.means}; the "
            "operation sets the config back, and ends, when every replica is in sync"
        )

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action of the recovery."""
        look = self._look(observed, late=overdue(memory, now))
        found, cancelled = self.sort(look), is_cancelled(observed)
        if not cancelled and (action := await_clean(found) or self._elect(found, look, memory)):
            return action
        if electing := self._electing(found, look):
            return electing
        waiting = set() if cancelled else {each.topic for each in look.awaited}
        if ready := [each for each in look.allowed if each not in waiting]:
            return RestoreConfigs(self._changes(ready))
        if waiting:
            return _await_sync(look)
        action, stays = self._restore(look, memory, now)
        if action:
            return action
        warning = _behind_in_words(look) if cancelled and look.behind else ""
        return self.result(found, look, cancelled=cancelled, remains=warning + stays)

    def in_flight(self, observed: Observed, _memory: Memory) -> bool:
        """Whether an election was published whose effect is not seen yet, or a list is pending."""
        look = self._look(observed, late=False)
        pending = observed.state.requests.reassignment is not None
        return pending or self._electing(self.sort(look), look) is not None

    def left_to_do(self, observed: Observed, _memory: Memory) -> tuple[str, ...]:
        """Name the partitions that have no leader, or are not in sync yet."""
        behind = self._look(observed, late=False).behind
        return (*self.open(observed.state), *(f"{each} in sync" for each in behind))

    def _look(self, observed: Observed, *, late: bool) -> ConfigLook:
        return ConfigLook(observed, late, self.plan)

    def _elect(
        self, found: Mapping[EntryStage, Sequence[ForcedLeader]], look: ConfigLook, memory: Memory
    ) -> Action | None:
        """Elect the partitions of one topic, then those of the others."""
        entries = found[EntryStage.ELECT]
        if not entries:
            return None
        if electing := self._electing(found, look):
            return electing
        # The first topic is elected and looked at before any other is touched.
        tried = any(look.has_leader(each) for each in look.asked)
        ordered = list(dict.fromkeys(entry.partition.topic for entry in entries))
        topics = ordered[: TOPICS_AT_ONCE if tried else 1]
        targets = tuple(entry.ordered for entry in entries if entry.partition.topic in topics)
        return before_request(look.observed, memory) or ForceLeaders(targets, self._changes(topics))

    def _changes(self, topics: Iterable[str]) -> ConfigChanges:
        return unclean_changes({each: self.unclean[each] for each in topics})

    @staticmethod
    def _electing(
        found: Mapping[EntryStage, Sequence[ForcedLeader]], look: ConfigLook
    ) -> Wait | None:
        waiting = [
            each.partition for each in found[EntryStage.ELECT] if each.partition in look.asked
        ]
        return Wait(f"electing {name_some(waiting)}") if waiting and not look.late else None

    def _restore(self, look: ConfigLook, memory: Memory, now: float) -> tuple[Action | None, str]:
        """Restore the lists of partitions that are in sync; return what stays, in words."""
        changed = [
            PartitionTarget(entry.partition, entry.current, entry.ordered.replicas)
            for entry in self.plan.partitions
            if entry.replicas is None
            and entry.partition in look.asked
            and entry.current != entry.ordered.replicas
        ]
        able = tuple(
            each
            for each in changed
            if look.has_leader(each.partition) and each.partition not in look.behind
        )
        action = publish_order((able,), look.observed, memory, now) if able else None
        if isinstance(action, Finish) and action.state is OperationState.FAILED:
            action, able = None, ()
        stays = [
            each.partition
            for each in changed
            if each not in able and look.state.replicas(each.partition) == each.current
        ]
        names = f"; the chosen leader stays first in the list of {name_some(stays)}"
        return action, names if stays else ""


def _await_sync(look: ConfigLook) -> Wait:
    brokers = frozenset[int]().union(*look.awaited.values())
    until = f"{UNCLEAN_ELECTION} stays on {name_some(look.allowed)} until every replica is in sync"
    if dead := brokers - look.state.brokers.keys():
        reason = f"start {brokers_in_words(dead)}, or cancel if it stays dead: {until}"
        return Wait(reason, for_person=True)
    partitions = name_some(look.awaited)
    return Wait(f"waiting for {brokers_in_words(brokers)} to be in sync with {partitions}: {until}")


def _behind_in_words(look: ConfigLook) -> str:
    brokers = frozenset[int]().union(*look.behind.values())
    return (
        f"; {UNCLEAN_ELECTION} is as before; not in sync are {name_some(look.behind)} on "
        f"{brokers_in_words(brokers)}; up to Kafka 1.1, a broker that returns with records that "
        "its leader lacks ends itself until the config is true again"
    )
