"""Work that copies replicas, with a throttle: a reassignment, or the catch-up of a broker."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from kadmin.operations.decide.spec import OperationSpec, Tally
from kadmin.plan.copied import copied
from kadmin.plan.directories import is_placed
from kadmin.plan.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.decide.actions import Memory, Observed
    from kadmin.plan.copied import Copied
    from kadmin.plan.model import PartitionTarget


class CopyingSpec(OperationSpec):
    """Work on waves of targets; the brokers that a target adds copy its partition.

    `targets` are those of all waves, and those with nothing to do.
    """

    UNDER_WAY: ClassVar = "in flight"
    """What partitions are that keep the throttle."""
    KEEPS_THROTTLE: ClassVar = True
    """Whether they keep it where the operation has ended."""

    waves: tuple[tuple[PartitionTarget, ...], ...]
    targets: tuple[PartitionTarget, ...]

    @abstractmethod
    def progress_of(self, target: PartitionTarget, state: ClusterState) -> Progress:
        """Judge the progress of a target that was published."""

    @abstractmethod
    def to_throttle(self, state: ClusterState) -> tuple[TopicPartition, ...]:
        """Return the partitions whose copies would go on without a throttle, were it removed."""

    def wave(self, memory: Memory) -> tuple[PartitionTarget, ...]:
        """Return the wave under way, empty after the last."""
        return self.waves[memory.wave] if memory.wave < len(self.waves) else ()

    def copying(
        self, targets: Iterable[PartitionTarget], state: ClusterState
    ) -> tuple[PartitionTarget, ...]:
        """Return the published targets whose new replicas copy, or may copy."""
        return self._with({Progress.RUNNING, Progress.SETTLED}, targets, state)

    def left_to_copy(
        self, targets: Iterable[PartitionTarget], state: ClusterState
    ) -> tuple[PartitionTarget, ...]:
        """Return the targets whose copies are in progress or have not begun."""
        return self._with({Progress.WAITING, Progress.RUNNING}, targets, state)

    def has_copies_to_make(self, state: ClusterState) -> bool:
        """Whether replicas are to be copied, between brokers or, perhaps, between their disks."""
        return bool(self.left_to_copy(self.targets, state)) or any(
            target.directories for target in self.targets if target.log_dirs
        )

    def tally(self, observed: Observed, memory: Memory) -> Tally:
        """Count partitions and bytes."""
        total, waves = sum(map(len, self.waves)), len(self.waves)
        done, under_way = len(self._finished(observed, memory)), min(memory.wave + 1, waves)
        found = self.copied(observed, memory)
        if found is None:
            return Tally(done, total, None, None, under_way, waves)
        return Tally(done, total, found.done, found.total, under_way, waves)

    def left_to_do(self, observed: Observed, memory: Memory) -> tuple[str, ...]:
        """Name the partitions that are not at their target."""
        finished = set(self._finished(observed, memory))
        return tuple(
            str(target.partition)
            for wave in self.waves
            for target in wave
            if target not in finished
        )

    def copied(self, observed: Observed, memory: Memory) -> Copied | None:
        """Add up the bytes of the copies of all waves; None where a size is unknown."""
        finished = {target.partition for target in self._finished(observed, memory)}
        return copied(self.waves, finished, observed.state, observed.sizes, observed.on_disk)

    def _finished(self, observed: Observed, memory: Memory) -> tuple[PartitionTarget, ...]:
        earlier = (target for wave in self.waves[: memory.wave] for target in wave)
        done = self._with({Progress.DONE}, self.wave(memory), observed.state)
        return (*earlier, *(each for each in done if is_placed(each, observed.directories)))

    def _with(
        self, progress: set[Progress], targets: Iterable[PartitionTarget], state: ClusterState
    ) -> tuple[PartitionTarget, ...]:
        return tuple(each for each in targets if self.progress_of(each, state) in progress)
