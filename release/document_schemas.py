"""Schemas of documents and payloads, from the annotations of their shapes.

A type with the mark Defined is under `$defs`, once. The title of a field is its key, unless
Keywords have another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from kadmin.contexts.model import Contexts
from kadmin.documents.check import CONTEXTS, KINDS, PROMETHEUS_NAMES
from kadmin.documents.kinds import SHAPES
from kadmin.inventory.header import HeaderFields
from kadmin.plan.model import ElectionPlan, PlanHeader
from kadmin.planner.load_build.prometheus_names import PrometheusNames
from kadmin.schema.documents import document_fields, form_of, writer_of
from kadmin.schema.shapes import Defined, Keywords, exactly_one
from kadmin.worlds.zookeeper.znodes import admin

SCHEMA = "https://json-schema.org/draft/2020-12/schema"
TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}
IN_FRONT = ("$schema", "$id", "title", "description", "$ref", "type")
AT_THE_END = ("items", "default", "x-hint")


class Kind(NamedTuple):
    """A kind of document: descriptions of it and of its `spec`, and rules of `spec` as a whole."""

    description: str
    spec: str
    keywords: Keywords = Keywords()


SPECS = {
    "PartitionReassignment": Kind(
        "Target replicas per partition, and how to get there.", "The reassignment."
    ),
    "PreferredReplicaElection": Kind(
        "Partitions whose preferred leader is to be elected.",
        "Exactly one of the three ways to name partitions.",
        exactly_one(*(field.path[0] for field in document_fields(ElectionPlan))),
    ),
    "TopicDeletion": Kind("Topics to delete, by literal name.", "The deletion."),
    "TopicRecipe": Kind(
        "Topics to make again as they were before they were deleted.", "The topics."
    ),
    "BrokerMaintenance": Kind(
        "Brokers to be stopped and started, one round after the other.", "The maintenance."
    ),
    "BrokerDecommission": Kind("Brokers that leave the cluster for good.", "The decommission."),
    "UncleanLeaderElection": Kind(
        "The last resort: partitions without a leader, and the replica that is to lead each.",
        "The election; what the new leaders lack is lost.",
    ),
    "PartitionGrowth": Kind(
        "Topics that get more partitions, and the brokers of each new partition.",
        "The growth; it cannot be rolled back.",
    ),
    "RebalanceRequest": Kind(
        "What the planner is asked for.", "The request; what is left out is not asked for."
    ),
    "Policy": Kind(
        "What an organisation wants of every plan: which problems count, and which topics are "
        "guarded.",
        "The policy.",
    ),
    PROMETHEUS_NAMES: Kind(
        "Which series of Prometheus are samples of load, and which of their labels say of what.",
        "The names; each field adds to those of kadmin, and wins over them.",
        Keywords(minProperties=1),
    ),
}
"""Kinds with `metadata` and `spec`."""
OTHERS = {
    "ClusterInventory": (
        HeaderFields,
        (
            "inventory.json of an inventory folder: when it was taken, and of which cluster or "
            "clusters."
        ),
    ),
    CONTEXTS: (
        Contexts,
        (
            "Named clusters: addresses, credentials by reference, defaults and protection. "
            "Relative paths begin at the folder of this file."
        ),
    ),
}
PAYLOADS = {
    "delete_topics": (
        admin.DeletionPayload,
        (
            "Topics to delete: the data of the parent znode /admin/delete_topics in the document "
            "layout, and the names of its children in the layout that controllers read."
        ),
    ),
    "preferred_replica_election": (
        admin.ElectionPayload,
        "What kadmin writes to the znode /admin/preferred_replica_election.",
    ),
    "reassign_partitions": (
        admin.ReassignmentPayload,
        (
            "What kadmin writes to the znode /admin/reassign_partitions. Controllers from 2.0 on "
            "ignore the whole node for one unknown key, and an empty list destroys data."
        ),
    ),
}
METADATA = Annotated[
    PlanHeader,
    Keywords(title="metadata"),
    "Who this document is, for people and for the check of its cluster.",
    Defined("metadata"),
]


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas of documents and payloads, by their names."""
    found = {KINDS[kind]: _with_spec(kind, described) for kind, described in SPECS.items()}
    found |= {KINDS[kind]: _document(kind, *described) for kind, described in OTHERS.items()}
    return found | {
        f"payloads/{node}": _payload(node, *described) for node, described in PAYLOADS.items()
    }


def _with_spec(kind: str, described: Kind) -> dict[str, Any]:
    schema = DocumentSchema()
    shape = SHAPES.get(kind, PrometheusNames)
    spec = schema.of(Annotated[shape, described.keywords, Keywords(title="spec"), described.spec])
    below = {"metadata": schema.of(METADATA), "spec": spec}
    return _whole(
        kind, described.description, _object(_head(kind) | below, ["kind", "spec"]), schema
    )


def _document(kind: str, shape: type, description: str) -> dict[str, Any]:
    schema = DocumentSchema()
    found = schema.of(shape)
    below = _object(_head(kind) | found["properties"], ["kind", *found["required"]])
    return _whole(kind, description, below, schema)


def _payload(node: str, shape: type, description: str) -> dict[str, Any]:
    schema = DocumentSchema()
    head = {
        "$id": f"urn:kadmin:schema:payload:{node.replace('_', '-')}:v1",
        "title": f"/admin/{node}",
    }
    return (
        _arranged({"$schema": SCHEMA, **head, "description": description, **schema.of(shape)})
        | schema.defs
    )


def _whole(
    kind: str, description: str, body: dict[str, Any], schema: DocumentSchema
) -> dict[str, Any]:
    head = {"$schema": SCHEMA, "$id": f"urn:kadmin:schema:{KINDS[kind]}:v1", "title": kind}
    return {**head, "description": description, **body} | schema.defs


def _head(kind: str) -> dict[str, Any]:
    version = Annotated[
        str,
        Keywords(title="API version", const="kadmin/v1", default="kadmin/v1"),
        "The version of this schema; kadmin/v1 where absent.",
    ]
    named = Annotated[str, Keywords(title="kind", const=kind), "What the document is."]
    return {"apiVersion": DocumentSchema().of(version), "kind": DocumentSchema().of(named)}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    needed = {"required": required} if required else {}
    return {"type": "object", "additionalProperties": False, **needed, "properties": properties}


def _arranged(found: dict[str, Any]) -> dict[str, Any]:
    first = {key: found[key] for key in IN_FRONT if key in found}
    last = {key: found[key] for key in AT_THE_END if key in found}
    return first | {key: value for key, value in found.items() if key not in last} | last


class DocumentSchema:
    """The schema of one document, and its definitions."""

    def __init__(self) -> None:
        self._definitions: dict[str, dict[str, Any]] = {}

    @property
    def defs(self) -> dict[str, Any]:
        """The keyword `$defs`, if the schema refers to any definition."""
        return {"$defs": self._definitions} if self._definitions else {}

    def of(self, hint: Any) -> dict[str, Any]:  # noqa: ANN401 - any annotation
        """Return the schema of an annotation; definitions that it refers to are added to `defs`."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._annotated(*arguments)
        if origin in {Union, UnionType}:
            return self._union(*arguments)
        if origin in {tuple, frozenset}:
            unique = {"uniqueItems": True} if origin is frozenset else {}
            return {"type": "array", **unique, "items": self.of(arguments[0])}
        if origin is Mapping:
            names, values = map(self.of, arguments)
            rules = {} if names == {"type": "string"} else {"propertyNames": names}
            return {"type": "object", **rules, "additionalProperties": values}
        if is_dataclass(hint):
            return self._shape(hint)
        enum = (
            arguments
            if origin is Literal
            else [each.value for each in hint]
            if issubclass(hint, Enum)
            else None
        )
        return {"type": TYPES[hint]} if enum is None else {"type": "string", "enum": list(enum)}

    def _annotated(self, hint: Any, *marks: object) -> dict[str, Any]:  # noqa: ANN401 - any annotation
        written = form_of(marks)
        found = self.of(hint if written is None else written.form)
        for mark in marks:
            if isinstance(mark, Keywords):
                found |= mark.keywords
            elif isinstance(mark, Defined):
                self._definitions.setdefault(mark.name, _arranged(found))
                found = {"$ref": f"#/$defs/{mark.name}"}
            elif isinstance(mark, str):
                found["description"] = mark
        return _arranged(found)

    def _union(self, *hints: Any) -> dict[str, Any]:  # noqa: ANN401 - any annotation
        """Return the schema of an optional value, absent and not null, or of several scalars."""
        kinds = [self.of(each) for each in hints if each is not NoneType]
        return kinds[0] if len(kinds) == 1 else {"type": [kind["type"] for kind in kinds]}

    def _shape(self, shape: Any) -> dict[str, Any]:  # noqa: ANN401 - the class of a shape
        properties: dict[str, Any] = {}
        required: list[str] = []
        for field in document_fields(shape):
            found = self.of(field.hint)
            if field.key is None:
                properties |= found["properties"]
                required += found["required"]
                continue
            within = properties
            if field.group is not None:
                group = {
                    "title": field.group.key,
                    "description": field.group.description,
                    **_object({}, []),
                }
                within = properties.setdefault(field.group.key, group)["properties"]
            elif field.default is MISSING:
                required.append(field.key)
            within[field.key] = _arranged(
                _titled(found, field.key) | _default(found, field.hint, field.default)
            )
        return _object(properties, required)


def _titled(found: dict[str, Any], key: str) -> dict[str, Any]:
    return found if "$ref" in found else {"title": key.replace("_", " ")} | found


def _default(found: dict[str, Any], hint: Any, default: object) -> dict[str, Any]:  # noqa: ANN401 - any annotation
    """Return a field's default, unless it is empty, an object, or the field has one value only."""
    named = default is not MISSING and (default or default is False) and not is_dataclass(default)
    return {"default": writer_of(hint)(default)} if named and "const" not in found else {}
