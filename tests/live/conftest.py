from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.sandbox import Sandbox


@pytest.fixture(scope="session")
def cluster(live: Sandbox) -> Iterator[Cluster]:
    found = Cluster(live.connect_string, live.bootstrap, live.spec.version, live)
    yield found
    found.close()
