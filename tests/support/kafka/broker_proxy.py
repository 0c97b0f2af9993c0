"""Proxies every broker of a cluster, and breaks connections at chosen frames.

A request is `api key, api version, correlation id, ...`, a reply `correlation id, ...`; the op of a
frame is the api key of its request. Answers that name brokers name the ports of the proxy instead,
so that a client never leaves it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from kafka.protocol.admin import (
    AlterPartitionReassignmentsRequest,
    AlterReplicaLogDirsRequest,
    CreateTopicsRequest,
    DescribeClusterRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    ListPartitionReassignmentsRequest,
)
from kafka.protocol.metadata import FindCoordinatorRequest, MetadataRequest
from kafka.protocol.producer import EndTxnRequest, ProduceRequest
from support.network.frame_proxy import LOOPBACK, FrameProxy, Side

if TYPE_CHECKING:
    from support.network.frame_proxy import Frame, Link

    from kadmin.sandbox import Sandbox

PRODUCE: int = ProduceRequest.API_KEY
END_TXN: int = EndTxnRequest.API_KEY
ALTER_REASSIGNMENTS: int = AlterPartitionReassignmentsRequest.API_KEY
LIST_REASSIGNMENTS: int = ListPartitionReassignmentsRequest.API_KEY
ALTER_CONFIGS: int = IncrementalAlterConfigsRequest.API_KEY
ALTER_LOG_DIRS: int = AlterReplicaLogDirsRequest.API_KEY
CREATE_TOPICS: int = CreateTopicsRequest.API_KEY
ELECT_LEADERS: int = ElectLeadersRequest.API_KEY

_NAMES_BROKERS = {
    MetadataRequest.API_KEY,
    DescribeClusterRequest.API_KEY,
    FindCoordinatorRequest.API_KEY,
}
_HOST = LOOPBACK.encode()


class BrokerProxy(FrameProxy):
    """Forwards to the brokers of a sandbox, each on a port of its own."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__((LOOPBACK, port) for port in sandbox.broker_ports.values())

    @property
    def bootstrap(self) -> tuple[str, ...]:
        """The addresses of the proxied brokers."""
        return tuple(f"{LOOPBACK}:{port}" for port in self._ports.values())

    def _op(self, link: Link, side: Side, body: bytes) -> int | None:
        del link, side
        op: int = struct.unpack_from("!h", body)[0]
        return op

    def _rewritten(self, frame: Frame) -> bytes:
        """Put the proxy's ports in place of the brokers': in every version a host's last byte is
        before its port.
        """
        body = frame.body
        if frame.side is Side.REPLY and frame.op in _NAMES_BROKERS:
            for (_, port), listens_at in self._ports.items():
                body = body.replace(
                    _HOST + struct.pack("!i", port), _HOST + struct.pack("!i", listens_at)
                )
        return body
