"""The shape of a partition in answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.schema.shapes import Count


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition."""

    topic: Annotated[str, "Topic."]
    partition: Annotated[Count, "Partition number."]
