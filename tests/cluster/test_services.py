"""Managed services are known by host names and cluster ids, and each has its section."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka.errors import IncompatibleBrokerVersion

from kadmin.cluster.servers import Servers
from kadmin.cluster.services import Service, service_of
from kadmin.worlds.kafka.doctor.gather import records_elsewhere
from kadmin.worlds.kafka.wire.errors import NotServedError, translated

PAGE = Path(__file__).parents[2] / "docs" / "managed.md"
HOSTS = {
    "b-1.mytestcluster.123z8u.c2.kafka.us-west-1.amazonaws.com": Service.MSK,
    "b-2-public.mytestcluster.v4ni96.c2.kafka.us-east-1.amazonaws.com": Service.MSK,
    "boot-1234abcd.c1.kafka-serverless.us-east-1.amazonaws.com": Service.MSK,
    "bootstrap-nol2mecj8p94jhx2ge2rg54579a.c0aad26f.europe-west1.managedkafka.s.cloud.goog": (
        Service.GOOGLE
    ),
    "bootstrap.my-cluster.us-central1.managedkafka.my-project.cloud.goog": Service.GOOGLE,
    "mynamespace.servicebus.windows.net": Service.EVENT_HUBS,
    "MyNamespace.ServiceBus.chinacloudapi.cn.": Service.EVENT_HUBS,
    "pkc-abcde.eastus.azure.confluent.cloud": Service.CONFLUENT_CLOUD,
    "api-0d2d.kafka.discoveryv2.prod-z.us-east-1.warpstream.com": Service.WARPSTREAM,
}
OWN = (
    "127.0.0.1",
    "[::1]",
    "kafka1",
    "",
    "ec2-203-0-113-25.compute-1.amazonaws.com",
    "kafka-1.elb.us-east-1.amazonaws.com",
    "kafka.us-east-1.amazonaws.com.example.org",
    "storage.cloud.goog",
    "confluent.cloud.example.org",
    "notservicebus.windows.net",
)
"""Names behind which people run Apache Kafka themselves, or could."""


@pytest.mark.parametrize("host", HOSTS)
def test_a_service_is_known_by_the_name_of_one_broker(host: str) -> None:
    assert service_of(("10.0.0.1", host), "kHD57VOWjTBKdUaz6n7K6n") is HOSTS[host]


def test_redpanda_is_known_by_its_cluster_id() -> None:
    assert service_of(OWN, "redpanda.0e8a5e0e-3ae8-4d9f-8a44-38ba1f0ba5a7") is Service.REDPANDA


@pytest.mark.parametrize("cluster_id", ["kHD57VOWjTBKdUaz6n7K6n", "", None])
def test_nothing_else_is_taken_for_a_service(cluster_id: str | None) -> None:
    assert service_of(OWN, cluster_id) is None


@pytest.mark.parametrize("service", Service)
def test_each_service_has_its_section(service: Service) -> None:
    assert f"\n## {service}\n" in PAGE.read_text(encoding="utf-8")
    assert service.page == f"docs/managed.md#{'-'.join(service.lower().split())}"


def test_a_request_that_a_service_does_not_serve_is_no_matter_of_age() -> None:
    refused = IncompatibleBrokerVersion("no ListPartitionReassignments")
    servers = Servers(("mynamespace.servicebus.windows.net:9093",))
    with pytest.raises(NotServedError) as named, translated(servers, "list reassignments"):
        raise refused
    assert named.value.message == (
        "mynamespace.servicebus.windows.net:9093 is Azure Event Hubs, through which kadmin cannot "
        "list reassignments."
    )
    assert named.value.next_command == "what it serves: docs/managed.md#azure-event-hubs"
    with (
        pytest.raises(NotServedError, match="too old to list reassignments"),
        translated(Servers(("kafka1:9092",)), "list reassignments"),
    ):
        raise refused


def test_operations_on_record_are_in_zookeeper_only_where_there_is_one() -> None:
    assert "ZooKeeper" in records_elsewhere(None)
    assert "ZooKeeper" in records_elsewhere(Service.MSK)
    assert records_elsewhere(Service.REDPANDA).endswith(
        "kadmin keeps no operations on record in Redpanda (docs/managed.md#redpanda)"
    )
