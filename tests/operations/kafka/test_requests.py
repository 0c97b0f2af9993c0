"""Requests that change topics, and what their steps say of the outcome."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, cast

import pytest
from support.stores import in_folder

from kadmin.cli.deadline import alarm
from kadmin.errors import NotCompletedError
from kadmin.operations.decide.actions import PublishTopic
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author
from kadmin.operations.record.steps import CreationStep, Sending
from kadmin.plan.model import TopicRecipe
from kadmin.worlds.kafka.requests import TopicPublisher

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.worlds.kafka.wire.connection import KafkaConnection


def test_a_creation_that_the_alarm_ends_was_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have left, and nobody has seen an answer."""

    def create_topic(*_: object, **__: object) -> None:
        with alarm(0.1):
            signal.pause()

    monkeypatch.setattr("kadmin.worlds.kafka.requests.create_topic", create_topic)
    operations = in_folder(tmp_path)
    operation_id = "20260101T000000Z-000001"
    lease = operations.lock.take(Holder(Author("ann", "host", 7), operation_id, "now", 0.0), 0)
    publisher = TopicPublisher(cast("KafkaConnection", None), operations)
    recipe = TopicRecipe("a", {0: (1, 2)}, {})
    with pytest.raises(NotCompletedError, match="Not finished"):
        publisher.creation(CreationStep(1, "now", ("a",)), PublishTopic(recipe), lease)
    (step,) = operations.steps(operation_id)
    assert step == CreationStep(1, "now", ("a",), sending=Sending.UNANSWERED)
