"""Checks whether the controller watches a path, by the four-letter words of every server.

Each server lists only its own connections: `wchp` the data watches by full path, `cons` the
sessions. The controller does not watch (DEAF) where every server answered, its session is
connected, and no server lists its watch; without an answer from every server that is unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import Listening

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kadmin.worlds.zookeeper.model import ControllerNode
    from kadmin.worlds.zookeeper.wire.store import Store

SECOND_CHECK_S = 2.5
"""A controller sets its watch again within 40 ms after a node was deleted."""

_SESSION = re.compile(r"sid=0x([0-9a-f]+)")
_MASK = 0xFFFF_FFFF_FFFF_FFFF


@dataclass(frozen=True, slots=True)
class Watchers:
    """The sessions, in hex, that watch a path; `complete`: every server answered."""

    sessions: frozenset[str]
    complete: bool


def who_watches(store: Store, path: str) -> Watchers:
    """Return the sessions that any server lists under the path."""
    answers = store.four_letter_words("wchp").values()
    found = [watchers(answer, store.chroot + path) for answer in answers if answer is not None]
    return Watchers(frozenset().union(*found), len(found) == len(answers))


def in_hex(session_id: int) -> str:
    """Return a session's id in the format of four-letter words."""
    return f"{session_id & _MASK:x}"


def confirmed_listening(
    store: Store, paths: Sequence[str], controller: ControllerNode, wait: Callable[[float], None]
) -> dict[str, Listening]:
    """Check by path; a missing watch counts only after a second check, SECOND_CHECK_S later."""
    found = {path: controller_listens(store, path, controller) for path in paths}
    not_watching = [path for path, answer in found.items() if answer is Listening.DEAF]
    if not_watching:
        wait(SECOND_CHECK_S)
    return found | {path: controller_listens(store, path, controller) for path in not_watching}


def controller_listens(store: Store, path: str, controller: ControllerNode) -> Listening:
    """Check once for the controller's watch on `path`.

    A missing watch needs a second check (`confirmed_listening`).
    """
    watches = store.four_letter_words("wchp")
    if all(answer is None for answer in watches.values()):
        return Listening.UNKNOWN
    connections = store.four_letter_words("cons")
    return judge_listening(watches, connections, store.chroot + path, controller.session_id)


def judge_listening(
    watches: Mapping[str, str | None],
    connections: Mapping[str, str | None],
    full_path: str,
    session_id: int,
) -> Listening:
    """Judge the answers of all servers (None: no answer); `full_path` includes the chroot."""
    session = in_hex(session_id)
    if any(
        session in watchers(answer, full_path) for answer in watches.values() if answer is not None
    ):
        return Listening.LISTENING
    answered = all(answer is not None for answer in (*watches.values(), *connections.values()))
    connected = any(
        session in sessions(answer) for answer in connections.values() if answer is not None
    )
    return Listening.DEAF if answered and connected else Listening.UNKNOWN


def watchers(answer: str, full_path: str) -> frozenset[str]:
    """Return the sessions, in hex, that watch the path by one server's `wchp`."""
    found: set[str] = set()
    inside = False
    for line in answer.splitlines():
        if line.startswith("\t"):
            if inside:
                found.add(line.strip().removeprefix("0x"))
        else:
            inside = line == full_path
    return frozenset(found)


def sessions(answer: str) -> frozenset[str]:
    """Return the sessions, in hex, that are connected by one server's `cons`."""
    return frozenset(match.lstrip("0") or "0" for match in _SESSION.findall(answer))
