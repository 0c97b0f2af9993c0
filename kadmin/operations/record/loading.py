"""Decoders of the parts of values on record, from JSON.

Each raises TypeError or ValueError for a wrong value.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author, HighWatermark
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.operations.record.throttle_request import ThrottleRequest
from kadmin.plan.model import HoursSpec, TopicRecipe, hours_of, read_throttle
from kadmin.plan.throttle import ConfigChange, is_throttle
from kadmin.plan.units import MOST_BYTES
from kadmin.schema.documents import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import Assignment, Replicas
    from kadmin.plan.model import ThrottleSpec
    from kadmin.plan.throttle import ConfigChanges


def require(wanted: type, *values: object) -> None:
    """Raise TypeError for a value that is not exactly of a type."""
    for value in values:
        if type(value) is not wanted:
            raise TypeError(f"{value!r} is no {wanted.__name__}")


def require_any(wanted: type, *values: object) -> None:
    """Raise TypeError for a value that is neither None nor exactly of a type."""
    require(wanted, *(value for value in values if value is not None))


def require_rate(value: int) -> None:
    """Raise TypeError or ValueError for a rate that no broker accepts."""
    require(int, value)
    if not 0 < value <= MOST_BYTES:
        raise ValueError(f"{value} is no rate")


def load_author(value: Mapping[str, Any]) -> Author:
    """Return the user, host and process of a record."""
    author = Author(**value)
    require(str, author.user, author.host)
    require(int, author.pid)
    return author


def load_partition(topic: str, number: int) -> TopicPartition:
    """Return a partition."""
    require(str, topic)
    require(int, number)
    return TopicPartition(topic, number)


def load_partitions(value: Iterable[list[Any]]) -> tuple[TopicPartition, ...]:
    """Return partitions in order."""
    return tuple(load_partition(topic, number) for topic, number in value)


def load_numbers(value: Iterable[int]) -> Replicas:
    """Return ordered replicas, or other numbers."""
    numbers = tuple(value)
    require(int, *numbers)
    return numbers


def load_assignment(value: Iterable[list[Any]]) -> Assignment:
    """Return replicas by partition."""
    return {
        load_partition(topic, number): load_numbers(replicas) for topic, number, replicas in value
    }


def load_recipe(value: Mapping[str, Any]) -> TopicRecipe:
    """Return the recipe of a topic."""
    replicas = {number: load_numbers(ids) for number, ids in value["replicas"]}
    require(str, value["topic"], *value["configs"].values())
    require(int, *replicas)
    return TopicRecipe(value["topic"], replicas, value["configs"])


def load_texts(value: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """Return texts by name; None where the value is null."""
    require(str, *value)
    require_any(str, *value.values())
    return value


def load_changes(value: Mapping[str, Any]) -> ConfigChanges:
    """Return config changes, which must be those of throttles of topics and of single brokers."""
    changes: dict[ConfigEntity, dict[str, ConfigChange]] = {}
    for text, keys in value.items():
        entity = ConfigEntity.parse(text)
        for key, change in keys.items():
            if not is_throttle(entity, key) or not (
                entity.is_topic or entity.broker_id is not None
            ):
                raise ValueError(f"{key} of {text} is no throttle of an operation")
            require_any(str, *change.values())
        changes[entity] = {key: ConfigChange(**change) for key, change in keys.items()}
    return changes


def load_asked(value: Mapping[str, Any]) -> tuple[ThrottleSpec | None, HoursSpec | None]:
    """Return the throttle as it was asked for, and its hours, None where they are not there."""
    spec = None if value.get("spec") is None else read_throttle(value["spec"])
    hours = None if value.get("hours") is None else read(HoursSpec, value["hours"])
    if hours is not None:
        hours_of(hours)  # its zone is in this machine's data
    return spec, hours


def load_throttle_request(value: Mapping[str, Any]) -> ThrottleRequest:
    """Return a request to change the throttle."""
    if odd := value.keys() - {"rate", "by", "at", "spec", "hours"}:
        raise ValueError(f"no request has {', '.join(sorted(odd))}")
    request = ThrottleRequest(value["rate"], value["by"], value["at"], *load_asked(value))
    require(str, request.by, request.at)
    require_rate(request.rate)
    return request


def load_stop_request(value: Mapping[str, Any]) -> StopRequest:
    """Return a request to stop."""
    request = StopRequest(**{**value, "stop": Stop[value["stop"]]})
    require(str, request.by, request.at)
    require(bool, request.allow_foreign)
    return request


def load_answered(status: Mapping[str, Any]) -> StopRequest | None:
    """Return the request to stop that a status confirms.

    A runner of an older version confirms it by its text alone.
    """
    if "answered" not in status:
        return StopRequest.parse(status["message"])
    return None if status["answered"] is None else load_stop_request(status["answered"])


def load_holder(value: Mapping[str, Any]) -> Holder:
    """Return the holder of a lock."""
    holder = Holder(**{**value, "author": load_author(value["author"])})
    require(str, holder.operation_id, holder.started_at)
    require(int, holder.session_id)
    if not 0 <= holder.session_timeout_s < math.inf:
        raise ValueError(f"{holder.session_timeout_s!r} is no time")
    return holder


def load_high_watermarks(health: Mapping[str, Any]) -> dict[TopicPartition, HighWatermark]:
    """Return the high watermarks, which are kept beside the health."""
    marks = health.get("high_watermarks", ())  # records of older versions have none
    require(int, *(value for mark in marks for value in mark[2:]))
    return {
        load_partition(topic, number): HighWatermark(offset, epoch)
        for topic, number, offset, epoch in marks
    }
