"""The three strategies against Kafka's own assignors: the clients of 3.9.2, called on random groups."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from py4j.java_gateway import (  # type: ignore[import-untyped]
    GatewayParameters,
    JavaGateway,
    launch_gateway,
)

from kadmin.insight.predict.consumers import range_shares, round_robin_shares, sticky_shares
from kadmin.java import cache_folder, find_java
from kadmin.sandbox.jars import class_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.insight.predict.consumers import Shares

GROUPS = 200
TOPICS = ("a", "bb", "c-3", "d.d")
NAMES = [f"{'xYz-_09' * (n % 4)}{n * n}" for n in range(200)]


class Assignors:
    """Kafka's own, in a Java of their own."""

    def __init__(self, gateway: JavaGateway) -> None:
        self.java = gateway.jvm.java.util
        self.consumer = gateway.jvm.org.apache.kafka.clients.consumer
        self.partition = gateway.jvm.org.apache.kafka.common.TopicPartition

    def share(
        self, name: str, topics: Mapping[str, Sequence[str]], partitions: Mapping[str, int], owned: Shares
    ) -> dict[str, list[str]]:
        """Return what the assignor called `name` gives each member, who says what it `owned`."""
        subscription = getattr(self.consumer, "ConsumerPartitionAssignor$Subscription")
        told = self.java.HashMap()
        for member in sorted(topics):
            subscribed = self.filled(topics[member])
            told.put(member, subscription(subscribed, self.remembered(owned[member]) if owned.get(member) else None))
        counts = self.java.HashMap()
        for topic, number in partitions.items():
            counts.put(topic, number)
        given = getattr(self.consumer, name)().assign(counts, told).toString()
        return {
            member: listed.split(", ") if listed else []
            for member, listed in re.findall(r"([^{,= ]+)=\[([^\]]*)\]", given)
        }

    def remembered(self, owned: Sequence[TopicPartition]) -> Any:  # noqa: ANN401 - an object of Java
        """Return the bytes with which a member tells what it owns."""
        assignor = self.consumer.StickyAssignor()
        listed = self.filled([self.partition(each.topic, each.partition) for each in owned])
        assignment = getattr(self.consumer, "ConsumerPartitionAssignor$Assignment")(listed)
        metadata = self.consumer.ConsumerGroupMetadata("group", 1, "member", self.java.Optional.empty())
        assignor.onAssignment(assignment, metadata)
        return assignor.subscriptionUserData(self.java.HashSet())

    def filled(self, values: Sequence[object]) -> Any:  # noqa: ANN401 - an object of Java
        """Return a list of Java."""
        made = self.java.ArrayList()
        for value in values:
            made.add(value)
        return made


@pytest.fixture(scope="module")
def kafkas() -> Iterator[Assignors]:
    """Start a Java with the clients of 3.9.2."""
    cache = cache_folder(os.environ)
    java = find_java(os.environ, cache)
    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("py4j-*.jar")
    port, token = launch_gateway(
        jarpath=str(jar),
        classpath=class_path("3.9.2", java, cache),
        java_path=str(java.executable),
        die_on_exit=True,
        enable_auth=True,
    )[:2]
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
    yield Assignors(gateway)
    gateway.shutdown()


def plain(shares: Shares) -> dict[str, list[str]]:
    return {member: [str(partition) for partition in found] for member, found in shares.items()}


def in_any_order(shares: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {member: sorted(found) for member, found in shares.items()}


def test_range_and_round_robin_are_kafkas(kafkas: Assignors) -> None:
    for seed in range(GROUPS // 4):
        luck = random.Random(seed)  # noqa: S311 - reproducible
        partitions = {topic: luck.randint(1, 9) for topic in TOPICS}
        topics = {name: luck.sample(TOPICS, luck.randint(1, 4)) for name in luck.sample(NAMES, luck.randint(1, 8))}
        known = {
            topic: number for topic, number in partitions.items() if any(topic in each for each in topics.values())
        }
        by_range = kafkas.share("RangeAssignor", topics, known, {})
        # It goes through the topics in the order of a hash table, so only who gets what is its word.
        assert in_any_order(plain(range_shares(topics, partitions))) == in_any_order(by_range), seed
        assert plain(round_robin_shares(topics, partitions)) == kafkas.share("RoundRobinAssignor", topics, known, {}), (
            seed
        )


def test_sticky_is_kafkas_before_and_after_a_change(kafkas: Assignors) -> None:
    """Groups of up to 40 threads, too many for the smallest hash table, that lose and win members and partitions."""
    for seed in range(GROUPS):
        luck = random.Random(seed)  # noqa: S311 - reproducible
        members = luck.sample(NAMES, luck.choice([1, 2, 3, 5, 8, 13, 40]))
        subscribed = luck.sample(TOPICS, luck.randint(1, 4))
        partitions = {topic: luck.randint(1, 12) for topic in subscribed}
        before = sticky_shares(dict.fromkeys(members, subscribed), partitions, {})
        assert plain(before) == kafkas.share("StickyAssignor", dict.fromkeys(members, subscribed), partitions, {}), seed
        others = [name for name in NAMES if name not in members]
        left = luck.sample(members, luck.randint(1, len(members))) + luck.sample(others, luck.randint(0, 4))
        grown = {topic: number + luck.choice([0, 0, 1, 5]) for topic, number in partitions.items()}
        topics = dict.fromkeys(left, subscribed)
        after = sticky_shares(topics, grown, before)
        assert plain(after) == kafkas.share("StickyAssignor", topics, grown, before), seed
