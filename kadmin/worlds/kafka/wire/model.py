"""Frozen values that only brokers have."""

from __future__ import annotations

from dataclasses import dataclass

from kadmin.cluster.model import Controller, QuorumMember


@dataclass(frozen=True, slots=True)
class QuorumReplica:
    """A replica of the metadata log.

    It has its last offset (-1: unknown), and when it last fetched and was last caught up. Times are
    the active controller's, in ms since 1970; -1 where it has none, and before Kafka 3.3.
    """

    replica_id: int
    log_end_offset: int
    last_fetch_ms: int
    last_caught_up_ms: int


@dataclass(frozen=True, slots=True)
class Quorum:
    """The active controller (-1: none), its epoch, and every voter by id.

    The observers (brokers among them) are beside them. What is below `high_watermark` in the
    metadata log is committed.
    """

    leader_id: int
    leader_epoch: int
    high_watermark: int
    voter_states: tuple[QuorumReplica, ...]
    observers: tuple[QuorumReplica, ...]

    @property
    def controller(self) -> Controller | None:
        """The active controller with those that follow it; None where there is none."""
        now_ms = next(
            (each.last_fetch_ms for each in self.voter_states if each.replica_id == self.leader_id),
            -1,
        )
        if now_ms < 0:
            return None
        voters, observers = (
            tuple(QuorumMember(each.replica_id, *_ago(each, now_ms)) for each in replicas)
            for replicas in (self.voter_states, self.observers)
        )
        return Controller(self.leader_id, voters=voters, observers=observers)


def _ago(replica: QuorumReplica, now_ms: int) -> tuple[float | None, float | None]:
    """Return the seconds since a replica fetched and was caught up.

    The active controller's own time is now.
    """
    fetched, caught_up = (
        max(0, now_ms - each) / 1000 if each >= 0 else None
        for each in (replica.last_fetch_ms, replica.last_caught_up_ms)
    )
    return fetched, caught_up
