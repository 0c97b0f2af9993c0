"""Infers the possible Kafka versions of a cluster from the znodes of its brokers.

Brokers create their znodes at every start, so an absent one means that all brokers are older than it. Versions 1.0 to
2.6 cannot be distinguished until a controller of 2.4 or later has rewritten a topic znode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.versions import NEWEST, OLDEST, KafkaVersions
from kadmin.worlds.zookeeper.model import details_of
from kadmin.worlds.zookeeper.znodes.controller import FEATURE
from kadmin.worlds.zookeeper.znodes.notifications import LOG_DIR_EVENTS, PRODUCER_ID_BLOCK

if TYPE_CHECKING:
    from collections.abc import Collection

    from kadmin.cluster.model import ClusterState
    from kadmin.cluster.versions import Version

IP_CONFIGS = "/config/ips"

# Each folder, the first version that makes it, and the last that does not.
_FOLDERS: tuple[tuple[str, Version, Version], ...] = (
    (PRODUCER_ID_BLOCK, (0, 11), (0, 10)),
    (LOG_DIR_EVENTS, (1, 0), (0, 11)),
    (FEATURE, (2, 7), (2, 6)),
    (IP_CONFIGS, (2, 8), (2, 7)),
)
TELLING_PATHS = tuple(path for path, _, _ in _FOLDERS)
_BY_TOPIC_FORMAT: dict[int, Version] = {2: (2, 4), 3: (2, 8)}


def infer_versions(present: Collection[str], state: ClusterState) -> KafkaVersions:
    """Infer from which of TELLING_PATHS are present, from registrations, topic znodes and `/controller`."""
    lows, highs = [OLDEST], [NEWEST]
    for path, since, before in _FOLDERS:
        (lows if path in present else highs).append(since if path in present else before)
    lows += [(2, 7) for broker in state.brokers.values() if (broker.registration_version or 0) >= 5]  # noqa: PLR2004 - 2.7's
    lows += [_BY_TOPIC_FORMAT.get(topic.format_version or 1, OLDEST) for topic in state.topics.values()]
    controller = details_of(state).controller
    if controller is not None:
        new = controller.kraft_epoch is not None
        (lows if new else highs).append((3, 4) if new else (3, 3))
    return KafkaVersions(max(lows), max(*lows, min(highs)))
