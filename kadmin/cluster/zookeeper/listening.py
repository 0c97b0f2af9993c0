"""Whether the controller watches a path, from the four-letter words of every server.

`wchp` lists data watches by full path, `cons` the sessions, each per server: only what is connected there. So all are
asked and joined. Absent node and watched: the next create will be seen. In nobody's list although every server answered
and the session is connected somewhere: deaf. Anything else: unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import Listening

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.zookeeper.model import ControllerNode
    from kadmin.cluster.zookeeper.store import Store

_SESSION = re.compile(r"sid=0x([0-9a-f]+)")
_MASK = 0xFFFF_FFFF_FFFF_FFFF


@dataclass(frozen=True, slots=True)
class Watchers:
    """The sessions, in hex, that watch a path; not `complete` when some server did not tell."""

    sessions: frozenset[str]
    complete: bool


def who_watches(store: Store, path: str) -> Watchers:
    """Join what every server of the ensemble lists under the path."""
    answers = store.four_letter_words("wchp").values()
    told = [watchers(answer, store.chroot + path) for answer in answers if answer is not None]
    return Watchers(frozenset().union(*told), len(told) == len(answers))


def in_hex(session_id: int) -> str:
    """Write a session's id as four-letter words do."""
    return f"{session_id & _MASK:x}"


def controller_listens(store: Store, path: str, controller: ControllerNode) -> Listening:
    """Look once; call it deaf only after a second look, seconds later."""
    watches = store.four_letter_words("wchp")
    if all(answer is None for answer in watches.values()):
        return Listening.UNKNOWN
    connections = store.four_letter_words("cons")
    return judge_listening(watches, connections, store.chroot + path, controller.session_id)


def judge_listening(
    watches: Mapping[str, str | None], connections: Mapping[str, str | None], full_path: str, session_id: int
) -> Listening:
    """Join the answers of all servers (None: no answer) on a path with its chroot."""
    session = in_hex(session_id)
    if any(session in watchers(answer, full_path) for answer in watches.values() if answer is not None):
        return Listening.LISTENING
    answered = all(answer is not None for answer in (*watches.values(), *connections.values()))
    connected = any(session in sessions(answer) for answer in connections.values() if answer is not None)
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
