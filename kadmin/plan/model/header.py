"""The header of documents, and the file of a document."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from kadmin.plan.model.field_types import ClusterId, Text
from kadmin.schema.shapes import Dumped, Keywords

Name: TypeAlias = Annotated[
    str,
    Keywords(
        title="name",
        pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$",
        x_hint="a name is up to 253 characters of a-z A-Z 0-9 . _ -",
    ),
]
Label: TypeAlias = Annotated[
    str,
    Keywords(
        title="label",
        pattern="^[A-Za-z0-9][A-Za-z0-9._/-]{0,252}$",
        x_hint="a label is up to 253 characters of a-z A-Z 0-9 . _ / -",
    ),
]


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A file: the name that the user typed, and the bytes."""

    name: str
    data: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes, as `sha256sum` prints it."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class PlanHeader:
    """`metadata` of a document. `cluster_id` is checked against the live cluster when present.

    `file` is the file from which a command read the document: refusals name its lines.
    """

    name: Annotated[Name | None, "A short name, shown in history and reports."] = None
    cluster_id: Annotated[
        ClusterId | None,
        "The id of the cluster that the document was made for; on another cluster it is refused.",
    ] = None
    description: Annotated[Text | None, "The reason, in a sentence."] = None
    labels: Annotated[
        Mapping[Label, Text], Dumped.SORTED, "Free key and value pairs, for searching."
    ] = field(default_factory=dict)
    file: DocumentFile | None = field(default=None, compare=False, repr=False)
