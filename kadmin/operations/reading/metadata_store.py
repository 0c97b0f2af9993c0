"""Asks the store of a cluster's metadata, where it has one beside its controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.model import Listening

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.port import Backend
    from kadmin.operations.record.steps import Channel


def listening_of(backend: Backend, channel: Channel, state: ClusterState) -> Listening:
    """Return whether the controller would see a request on the channel; one that answers each request does."""
    store = backend.metadata_store
    return Listening.LISTENING if store is None else store.listening(channel, state)


def groups_in_metadata(backend: Backend, topics: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return, by topic, the groups that keep their offsets in the cluster's metadata."""
    return {} if backend.metadata_store is None else backend.metadata_store.groups_of_topics(topics)
