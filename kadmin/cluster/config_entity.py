"""Entities with dynamic configs: topics and brokers.

In ZooKeeper also users, clients and IP addresses.
"""

from __future__ import annotations

from dataclasses import dataclass

TOPIC_KIND = "topics"
BROKER_KIND = "brokers"


@dataclass(frozen=True, order=True, slots=True)
class ConfigEntity:
    """An entity with dynamic configs.

    Its text is `topics/orders`, `brokers/1` or `brokers/<default>`. Entities sort by kind, then by
    name. `kind` is topics, brokers, users, clients or ips.
    """

    kind: str
    name: str

    @classmethod
    def of_topic(cls, topic: str) -> ConfigEntity:
        """Return the entity of a topic."""
        return cls(TOPIC_KIND, topic)

    @classmethod
    def of_broker(cls, broker_id: int) -> ConfigEntity:
        """Return the entity of one broker."""
        return cls(BROKER_KIND, str(broker_id))

    @classmethod
    def parse(cls, text: str) -> ConfigEntity:
        """Parse the text of an entity; a text without a slash is a kind with an empty name."""
        kind, _, name = text.partition("/")
        return cls(kind, name)

    @property
    def is_topic(self) -> bool:
        """Whether the entity is a topic."""
        return self.kind == TOPIC_KIND

    @property
    def broker_id(self) -> int | None:
        """The id of a broker; None for a topic, and for the default of all brokers."""
        is_broker = self.kind == BROKER_KIND and self.name.isascii() and self.name.isdecimal()
        return int(self.name) if is_broker else None

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


DEFAULT_ENTITY = ConfigEntity(BROKER_KIND, "<default>")
"""The entity of the dynamic configs that all brokers have by default."""
