"""The rights that requests to brokers need."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kadmin.cluster.servers import Servers


@dataclass(frozen=True, slots=True)
class Right:
    """The right that a request needs: an ACL operation on the cluster or a named resource."""

    operation: str
    topic: str | None = None
    transactional_id: str | None = None
    group: str | None = None

    def __str__(self) -> str:
        kind, name = self._resource
        return f"the right {self.operation} on {f'{kind} {name}' if name else f'the {kind}'}"

    @property
    def options(self) -> str:
        """The options of kafka-acls that name it."""
        kind, name = self._resource
        return (
            f"--operation {self.operation} "
            f"--{kind.replace(' ', '-')}{f' {shlex.quote(name)}' if name else ''}"
        )

    def granted_by(self, servers: Servers) -> str:
        """Return the command that grants it to this client."""
        return (
            f"kafka-acls.sh {servers.options} --add --allow-principal {servers.principal} "
            f"{self.options}"
        )

    @property
    def _resource(self) -> tuple[str, str | None]:
        if self.transactional_id is not None:
            return "transactional id", self.transactional_id
        if self.group is not None:
            return "group", self.group
        return ("cluster", None) if self.topic is None else ("topic", self.topic)
