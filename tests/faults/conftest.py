from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.controller.simple_controller import SimpleController

from kadmin.cluster.connect_string import parse_connect_string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.zookeeper.fault_proxy import FaultProxy


@pytest.fixture
def cluster(chroot: str) -> Iterator[SimpleController]:
    """A cluster whose controller is a SimpleController, on a real ZooKeeper."""
    with SimpleController(chroot) as found:
        yield found


@pytest.fixture
def broken(chroot: str, proxy: FaultProxy) -> str:
    """The connect string through the proxy."""
    return f"{proxy.connect_string}{parse_connect_string(chroot).chroot}"
