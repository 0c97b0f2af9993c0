"""Asks if the controller would see a request where requests go into a store of metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.model import Listening

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.port import Backend
    from kadmin.operations.record.steps import Channel


def listening_of(backend: Backend, channel: Channel, state: ClusterState) -> Listening:
    """Return whether the controller would see a request on the channel.

    One that answers each request does.
    """
    store = backend.metadata_store
    return Listening.LISTENING if store is None else store.listening(channel, state)
