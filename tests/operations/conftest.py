from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kadmin.cluster.model import Create
from kadmin.cluster.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def store(chroot: str) -> Iterator[Store]:
    """A session on a chroot that has an /admin, as every Kafka cluster has."""
    with Store.connect(chroot) as opened:
        opened.multi([Create("/admin", b"")])
        yield opened
