"""Models what an ensemble does with sessions, ephemeral znodes, versions and multis.

tests/operations/zookeeper/test_lock_model.py holds the model against a real ZooKeeper. A value of
`Ensemble` never changes: each call returns the next one, so that every order of calls can be tried.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.worlds.zookeeper.model import Check, Create, Delete, MultiResult, SetData, Znode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.worlds.zookeeper.model import Op

COMMITTED = MultiResult(committed=True)


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Znodes in the order of their creation, and the sessions that are alive; `opened` counts
    them.
    """

    znodes: tuple[Znode, ...] = ()
    sessions: frozenset[int] = frozenset()
    opened: int = 0

    def open(self) -> tuple[Ensemble, int]:
        """Open a session."""
        session_id = self.opened + 1
        return replace(self, sessions=self.sessions | {session_id}, opened=session_id), session_id

    def expire(self, session_id: int) -> Ensemble:
        """End a session; its ephemeral znodes go with it."""
        left = tuple(each for each in self.znodes if each.ephemeral_owner != session_id)
        return replace(self, znodes=left, sessions=self.sessions - {session_id})

    def get(self, path: str) -> Znode | None:
        """Return a znode."""
        return next((each for each in self.znodes if each.path == path), None)

    def owns(self, session_id: int) -> bool:
        """Whether a session has ephemeral znodes."""
        return any(each.ephemeral_owner == session_id for each in self.znodes)

    def multi(self, session_id: int, ops: Sequence[Op]) -> tuple[Ensemble, MultiResult]:
        """Apply all the ops or, where one is refused, none."""
        assert session_id in self.sessions
        changed = self
        for op in ops:
            reason = changed._refusal(op)
            if reason is not None:
                return self, MultiResult(committed=False, failed=op, reason=reason)
            changed = changed._applied(session_id, op)
        return changed, COMMITTED

    def _refusal(self, op: Op) -> str | None:
        found = self.get(op.path)
        if isinstance(op, Create):
            parent = op.path.rpartition("/")[0]
            if parent and self.get(parent) is None:
                return "NoNode"
            return None if found is None else "NodeExists"
        if found is None:
            return "NoNode"
        return None if op.version in {-1, found.version} else "BadVersion"

    def _applied(self, session_id: int, op: Op) -> Ensemble:
        others = tuple(each for each in self.znodes if each.path != op.path)
        match op:
            case Create():
                made = Znode(op.path, op.data, 0, ephemeral_owner=session_id if op.ephemeral else 0)
                return replace(self, znodes=(*self.znodes, made))
            case SetData():
                at = [each.path for each in self.znodes].index(op.path)
                written = replace(
                    self.znodes[at], data=op.data, version=self.znodes[at].version + 1
                )
                return replace(self, znodes=(*self.znodes[:at], written, *self.znodes[at + 1 :]))
            case Delete():
                return replace(self, znodes=others)
            case Check():
                return self
