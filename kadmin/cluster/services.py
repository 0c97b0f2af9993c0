"""Managed services that speak Kafka's protocol, and the marks by which they are known.

docs/managed.md has a section for each, with the source of its mark.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Service(StrEnum):
    """A managed service; its value is the heading of its section in docs/managed.md."""

    MSK = "Amazon MSK"
    GOOGLE = "Google Managed Service for Apache Kafka"
    EVENT_HUBS = "Azure Event Hubs"
    CONFLUENT_CLOUD = "Confluent Cloud"
    WARPSTREAM = "WarpStream"
    REDPANDA = "Redpanda"

    @property
    def page(self) -> str:
        """The section of the documentation."""
        return f"docs/managed.md#{self.value.lower().replace(' ', '-')}"


def other_than_kafka(service: Service | None) -> Service | None:
    """Return a service whose brokers speak the protocol without being those of Apache Kafka."""
    return None if service in {Service.MSK, Service.GOOGLE} else service


_HOSTS = {
    service: re.compile(pattern, re.IGNORECASE)
    for service, pattern in (
        (Service.MSK, r".+\.kafka(-serverless)?\.[a-z0-9-]+\.amazonaws\.com"),
        (Service.GOOGLE, r".+\.managedkafka\..+\.cloud\.goog"),
        (
            Service.EVENT_HUBS,
            r".+\.servicebus\.(windows\.net|chinacloudapi\.cn|usgovcloudapi\.net)",
        ),
        (Service.CONFLUENT_CLOUD, r".+\.confluent\.cloud"),
        (Service.WARPSTREAM, r".+\.warpstream\.com"),
    )
}
_REDPANDA_ID = "redpanda."
"""Redpanda puts it before its cluster id, for clients to know it by."""


def service_of(hosts: Iterable[str], cluster_id: str | None = None) -> Service | None:
    """Return the service of the brokers that have these host names and this cluster id.

    None for Apache Kafka, and for a service without a mark, as behind host names of one's own.
    """
    if (cluster_id or "").startswith(_REDPANDA_ID):
        return Service.REDPANDA
    named = [host.rstrip(".") for host in hosts]
    return next(
        (
            service
            for service, pattern in _HOSTS.items()
            if any(pattern.fullmatch(host) for host in named)
        ),
        None,
    )
