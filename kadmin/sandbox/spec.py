"""The specification of a sandbox, checked before anything starts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.next_step import command
from kadmin.sandbox.disks import require_mounts
from kadmin.sandbox.jars import (
    DEFAULT_VERSION,
    require_version,
    runs_disks,
    runs_kraft,
    runs_zookeeper,
    tiered_versions,
)
from kadmin.sandbox.links import require_links
from kadmin.sandbox.settings import MANAGED_SETTINGS
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kadmin.sandbox.disks import Disks
    from kadmin.sandbox.links import Link

ZOOKEEPER, KRAFT = "zookeeper", "kraft"
CONTROLLER_IDS = (101, 102, 103)


_CHROOT = re.compile(r"(/[A-Za-z0-9._-]+)*")


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """The servers to run.

    Brokers have ids from 1 and racks r1, r2, ... in turn; `chroot` is empty or `/path`. `mode` is
    zookeeper or kraft: KRaft mode has three controllers, and `zookeepers`, `chroot` and
    `four_letter_words` keep their defaults. A sandbox without brokers is a bare ZooKeeper.
    `broker_config` overrides settings of every broker and of every controller. `link` limits the
    network of each broker; None: loopback, not limited. `disks` are the log directories of each
    broker; None: one, in the folder of the sandbox. `tiered`: topics may have remote storage.
    """

    directory: Path
    version: str = DEFAULT_VERSION
    brokers: int = 3
    racks: int = 3
    zookeepers: int = 1
    chroot: str = ""
    four_letter_words: bool = True
    broker_config: Mapping[str, str] = field(default_factory=dict)
    mode: str = ZOOKEEPER
    link: Link | None = None
    disks: Disks | None = None
    tiered: bool = False

    @property
    def kraft(self) -> bool:
        """Whether the metadata is in the controllers' log and not in ZooKeeper."""
        return self.mode == KRAFT

    def rack(self, broker_id: int) -> str:
        """Return a broker's rack."""
        return f"r{(broker_id - 1) % self.racks + 1}"

    def check(self) -> None:
        """Raise InvalidInputError for a specification that cannot be run."""
        require_version(self.version)
        self._check_mode()
        if self.brokers < self.kraft or self.racks < 1:
            raise InvalidInputError(
                f"{count(self.brokers, 'broker')} on {count(self.racks, 'rack')}: not possible."
            )
        if self.link is not None:
            require_links(self.brokers)
        self._check_storage()
        managed = sorted(MANAGED_SETTINGS & set(self.broker_config))
        if managed:
            raise InvalidInputError(
                f"The sandbox itself sets {', '.join(managed)}.", next_step="leave it out"
            )
        if self.directory.exists() and any(self.directory.iterdir()):
            raise InvalidInputError(
                f"{self.directory} is not empty; a sandbox owns its folder and removes it at the "
                "end.",
                next_step="name a new folder with --dir, or: " + command("sandbox down"),
            )

    def _check_storage(self) -> None:
        if self.disks is not None and not runs_disks(self.version, kraft=self.kraft):
            raise InvalidInputError(
                f"The sandbox has no disks for Kafka {self.version} in {self.mode} mode.",
                cause="they need Kafka 2.8 or later, in KRaft mode 3.7 or later",
                next_step="name another version by --version, or leave out --disks",
            )
        if self.disks is not None and self.disks.size_bytes is not None:
            require_mounts()
        if self.tiered and self.version not in (versions := tiered_versions()):
            raise InvalidInputError(
                f"The sandbox has no tier for Kafka {self.version}.",
                cause="it runs Kafka's own LocalTieredStorage, which is published up to Kafka 4.1",
                next_step=f"name one of these by --version: {', '.join(versions)}",
            )

    def _check_mode(self) -> None:
        if not self.kraft and not runs_zookeeper(self.version):
            raise InvalidInputError(
                f"Kafka {self.version} has no ZooKeeper mode.", next_step="add --kraft"
            )
        if self.kraft and not runs_kraft(self.version):
            raise InvalidInputError(
                f"Kafka {self.version} does not run in KRaft mode.",
                next_step="name Kafka 3.3 or later by --version",
            )
        if self.kraft and (self.zookeepers, self.chroot, self.four_letter_words) != (1, "", True):
            raise InvalidInputError(
                "A sandbox in KRaft mode has no ZooKeeper.",
                next_step="leave out --zookeepers, --chroot and --no-four-letter-words",
            )
        if self.zookeepers not in {1, 3}:
            raise InvalidInputError(
                f"A sandbox has 1 or 3 ZooKeeper servers, not {self.zookeepers}."
            )
        if not _CHROOT.fullmatch(self.chroot):
            raise InvalidInputError(
                f"Not a chroot: {self.chroot!r}.", next_step="write it as /path, or leave it out"
            )
