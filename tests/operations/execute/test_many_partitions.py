"""F22: many partitions through a ZooKeeper with a heap of 256 MB, as every server of the sandbox
has.

Brokers of the sandbox do not hold so many logs, so the controller is the model. `make
bench-executor` tries 10,000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.executor.many_partitions import WAVE, reassign_many

if TYPE_CHECKING:
    from support.executor.runs import Site

pytestmark = [pytest.mark.zookeeper, pytest.mark.executor]


def test_f22_waves_of_the_default_size_leave_zookeeper_alive(site: Site) -> None:
    ended = reassign_many(site, 2 * WAVE)
    assert ended.error is None, ended.error
    assert (ended.waves, ended.done) == (2, 2 * WAVE)
