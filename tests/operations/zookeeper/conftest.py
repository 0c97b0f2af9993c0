from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.zookeeper.recorded_znodes import load

from kadmin.worlds.kafka.wire import connection
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator


QUESTION_S = 0.1
"""A recording has no running brokers that could answer."""


@pytest.fixture
def unanswered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait briefly for brokers."""
    monkeypatch.setattr(connection, "BOOTSTRAP_S", QUESTION_S)


@pytest.fixture
def brokers(chroot: str) -> Iterator[Store]:
    """A recorded 2.8.2 cluster."""
    with Store.connect(chroot) as store:
        load(store, "2.8.2")
        yield store
