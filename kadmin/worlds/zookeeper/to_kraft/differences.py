"""Compares the metadata of a migrating cluster in ZooKeeper with that of its brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import escaped

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState


def differences(zookeeper_state: ClusterState, kraft_state: ClusterState) -> tuple[str, ...]:
    """Compare topics, replicas and configs of topics in ZooKeeper and at the brokers."""
    gone = set(zookeeper_state.requests.deletions)
    names = {
        side: set(state.topics) - gone
        for side, state in (("ZooKeeper", zookeeper_state), ("the brokers", kraft_state))
    }
    only = {
        "ZooKeeper": names["ZooKeeper"] - names["the brokers"],
        "the brokers": names["the brokers"] - names["ZooKeeper"],
    }
    if kraft_state.may_hide_topics:
        del only["ZooKeeper"]
    found = [
        f"only {side}: topic {escaped(each)}"
        for side, some in only.items()
        for each in sorted(some)
    ]
    for name in sorted(names["ZooKeeper"] & names["the brokers"]):
        one, other = zookeeper_state.topics[name].replicas, kraft_state.topics[name].replicas
        lists = {
            number: (list(one.get(number, ())), list(other.get(number, ())))
            for number in one.keys() | other.keys()
        }
        found += [
            f"{escaped(name)}-{number}: ZooKeeper has {old}, the brokers have {new}"
            for number, (old, new) in sorted(lists.items())
            if old != new
        ]
        configs = zookeeper_state.topic_configs.get(name, {})
        # Where they were not read, nothing is known.
        others = kraft_state.topic_configs.get(name, configs)
        keys = sorted(
            key for key in configs.keys() | others.keys() if configs.get(key) != others.get(key)
        )
        found += [f"topic {escaped(name)}: config {escaped(key)} differs" for key in keys]
    return tuple(found)
