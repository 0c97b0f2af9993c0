"""Writes the schemas in schemas/ from shapes.

They are those of answers from kadmin/answers, those of documents by their kinds.

Usage: python release/write_schemas.py [--check], where --check names the files that differ instead,
and fails.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import document_schemas

from kadmin.answers import (
    brokers,
    contexts,
    diff,
    doctor,
    events,
    figures,
    fleet,
    growth,
    operations,
    proposals,
    recovery,
    snapshots,
    tables,
    throttles,
    validation,
    whatif,
    zookeeper,
)
from kadmin.operations.execute.apply import Outcome
from kadmin.planner.load_build.figures import BuiltLoad
from kadmin.schema import schema_file_name
from kadmin.schema.shapes import ABSENT, Absent, Keywords, key_of, to_json

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMAS = Path(__file__).parents[1] / "schemas"
CLOSED = {"additionalProperties": False}


class Published(NamedTuple):
    """A schema with its title, the shape it is written from, and what the title does not say."""

    title: str
    shape: type | UnionType
    description: str | None = None


ANSWERS = {
    "apply": Published("Answer of kadmin apply, resume, pause, cancel, rollback and heal", Outcome),
    "broker-check": Published("Answer of kadmin broker check", brokers.StopAnswer),
    "broker-list": Published("Answer of kadmin broker list", brokers.BrokerListAnswer),
    "clusters": Published(
        "Answer of doctor, status, inspect and snapshot for several contexts", fleet.ClusterAnswers
    ),
    "consumers-coordinator": Published(
        "Answer of kadmin consumers coordinator", tables.CoordinatorsAnswer
    ),
    "consumers-disturbed": Published(
        "Answer of kadmin consumers disturbed", tables.DisturbancesAnswer
    ),
    "consumers-preview": Published("Answer of kadmin consumers preview", tables.PreviewAnswer),
    "context-check": Published("Answer of kadmin context check", contexts.RightsAnswer),
    "context-list": Published("Answer of kadmin context list", contexts.ContextsAnswer),
    "context-show": Published("Answer of kadmin context show", contexts.ContextAnswer),
    "broker-cordon": Published(
        "Answer of kadmin broker cordon and kadmin broker uncordon", brokers.CordonAnswer
    ),
    "broker-unregister": Published(
        "Answer of kadmin broker unregister", brokers.UnregisteredAnswer
    ),
    "diff": Published("Answer of kadmin diff", diff.DiffAnswer),
    "doctor": Published("Answer of kadmin doctor", doctor.DoctorAnswer),
    "doctor-migration": Published("Answer of kadmin doctor migration", doctor.MigrationAnswer),
    "event": Published(
        "One event of a running operation, on stderr with --log-format json or -o json; what "
        "--notify posts",
        events.EventAnswer,
    ),
    "figures": Published(
        "Answer of kadmin propose rebalance, and its --figures file", figures.FiguresAnswer
    ),
    "history": Published("Answer of kadmin history", operations.HistoryAnswer),
    "history-import": Published("Answer of kadmin history import", doctor.ImportAnswer),
    "inspect-acls": Published("Answer of kadmin inspect acls", zookeeper.AclsAnswer),
    "inspect-admin": Published(
        "Answer of kadmin inspect admin", zookeeper.AdminAnswer | tables.ReassignmentsAnswer
    ),
    "inspect-admin-entries": Published(
        "Answer of kadmin inspect admin-entries", zookeeper.AdminEntriesAnswer
    ),
    "inspect-brokers": Published("Answer of kadmin inspect brokers", tables.BrokersAnswer),
    "inspect-cluster": Published("Answer of kadmin inspect cluster", tables.ClusterTableAnswer),
    "inspect-configs": Published("Answer of kadmin inspect configs", tables.ConfigsAnswer),
    "inspect-consumers": Published(
        "Answer of kadmin inspect consumers", zookeeper.OldConsumersAnswer | tables.GroupsAnswer
    ),
    "inspect-controller": Published(
        "Answer of kadmin inspect controller", zookeeper.ControllersAnswer | tables.QuorumAnswer
    ),
    "inspect-notifications": Published(
        "Answer of kadmin inspect notifications", zookeeper.NotificationsAnswer
    ),
    "inspect-disks": Published("Answer of kadmin inspect disks", tables.DisksAnswer),
    "inspect-partitions": Published("Answer of kadmin inspect partitions", tables.PartitionsAnswer),
    "inspect-producer-ids": Published(
        "Answer of kadmin inspect producer-ids", zookeeper.ProducerIdsAnswer
    ),
    "inspect-topics": Published("Answer of kadmin inspect topics", tables.TopicsAnswer),
    "inspect-tree": Published("Answer of kadmin inspect tree", zookeeper.TreeAnswer),
    "inspect-znode": Published("Answer of kadmin inspect znode", zookeeper.ZnodeAnswer),
    "load-build": Published("Answer of kadmin load build, and load.json", BuiltLoad),
    "lock-show": Published("Answer of kadmin lock show", operations.LockAnswer),
    "propose-decommission": Published(
        "Answer of kadmin propose decommission", proposals.DecommissionAnswer
    ),
    "propose-demotion": Published("Answer of kadmin propose demotion", proposals.DemotionAnswer),
    "propose-growth": Published("Answer of kadmin propose growth", growth.GrowthAnswer),
    "propose-maintenance": Published(
        "Answer of kadmin propose maintenance", proposals.MaintenanceAnswer
    ),
    "propose-recovery": Published("Answer of kadmin propose recovery", recovery.RecoveryAnswer),
    "propose-election": Published("Answer of kadmin propose election", proposals.ElectionAnswer),
    "sample": Published("Answer of kadmin sample", snapshots.SamplesAnswer),
    "snapshot": Published("Answer of kadmin snapshot", snapshots.SnapshotAnswer),
    "status": Published("Answer of kadmin status", operations.StatusAnswer),
    "status-watch": Published(
        "A line of kadmin status --watch for several contexts", fleet.WatchedStatus
    ),
    "throttle-audit": Published("Answer of kadmin throttle audit", throttles.AuditAnswer),
    "throttle-clear": Published("Answer of kadmin throttle clear", throttles.ThrottleChangesAnswer),
    "throttle-set": Published("Answer of kadmin throttle set", throttles.ThrottleChangesAnswer),
    "throttle-show": Published("Answer of kadmin throttle show", throttles.ThrottlesAnswer),
    "validate": Published(
        "answer of validate",
        validation.ValidationAnswer,
        "What `kadmin validate --format json` prints.",
    ),
    "verify": Published("Answer of kadmin verify", operations.VerificationAnswer),
    "whatif-lose": Published("Answer of kadmin whatif lose", whatif.LossAnswer),
    "whatif-plan": Published("Answer of kadmin whatif plan", whatif.PlanEffectsAnswer),
}


def schema_of(hint: Any) -> dict[str, Any]:  # noqa: ANN401 - any annotation
    """Return the schema of an annotation; raises TypeError for one that JSON has no type for."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in GENERIC:
        return GENERIC[origin](*arguments)
    if is_dataclass(hint):
        return _object(hint)
    if issubclass(hint, Enum):
        return {"type": "string", "enum": [each.value for each in hint]}
    return {} if hint is object else {"type": document_schemas.TYPES[hint]}


def _annotated(hint: Any, *marks: object) -> dict[str, Any]:  # noqa: ANN401 - any annotation
    found = schema_of(hint)
    for mark in marks:
        if isinstance(mark, Keywords):
            found |= mark.keywords
        else:  # what an alias says of itself comes after
            found["description"] = " ".join(filter(None, (str(mark), found.get("description"))))
    return {**{key: found[key] for key in document_schemas.IN_FRONT if key in found}, **found}


def _union(*hints: Any) -> dict[str, Any]:  # noqa: ANN401 - any annotation
    kind, *others = [each for each in hints if each not in (NoneType, Absent)]
    found = _one_of(kind, *others) if others else schema_of(kind)
    if NoneType in hints:
        found["type"] = [found["type"], "null"]
        found |= {"enum": [*found["enum"], None]} if "enum" in found else {}
    return found


def _one_of(*shapes: Any) -> dict[str, Any]:  # noqa: ANN401 - the classes of shapes
    """Return the schema of an object of exactly one of these shapes, which share some fields."""
    found = [_object(each) for each in shapes]
    common = [key for key in found[0]["required"] if all(key in each["required"] for each in found)]
    only = [{"required": [key for key in each["required"] if key not in common]} for each in found]
    properties = {key: value for each in found for key, value in each["properties"].items()}
    return {"type": "object", "properties": properties, "required": common, "oneOf": only, **CLOSED}


def _mapping(key: Any, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any annotation
    names = schema_of(key)
    rules = {"propertyNames": names} if "enum" in names or "pattern" in names else {}
    return {"type": "object", **rules, "additionalProperties": schema_of(value) or True}


def _list(item: Any, *_: Any) -> dict[str, Any]:  # noqa: ANN401 - any annotation
    return {"type": "array", "items": schema_of(item)}


def _literal(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _object(shape: Any) -> dict[str, Any]:  # noqa: ANN401 - the class of a shape
    hints = get_type_hints(shape, include_extras=True)
    required = [key_of(each.name) for each in fields(shape) if each.default is not ABSENT]
    properties = {key_of(each.name): schema_of(hints[each.name]) for each in fields(shape)}
    if undescribed := [key for key, schema in properties.items() if "description" not in schema]:
        raise TypeError(
            f"{shape.__name__} has fields without a description: {', '.join(undescribed)}"
        )
    return {"type": "object", "properties": properties, "required": required, **CLOSED}


GENERIC: dict[Any, Callable[..., dict[str, Any]]] = {
    Annotated: _annotated,
    Union: _union,
    UnionType: _union,
    Literal: _literal,
    tuple: _list,
    Mapping: _mapping,
}


def texts() -> dict[Path, str]:
    """Return the text of every schema that is written from a shape, by its file."""
    found = document_schemas.schemas()
    for name, answer in ANSWERS.items():
        head = {
            "$schema": document_schemas.SCHEMA,
            "$id": f"urn:kadmin:schema:answer:{name}:v1",
            "title": answer.title,
            **({} if answer.description is None else {"description": answer.description}),
        }
        found[f"answers/{name}"] = head | schema_of(answer.shape)
    return {
        SCHEMAS / schema_file_name(name): to_json(schema) + "\n" for name, schema in found.items()
    }


def differing() -> dict[Path, str | None]:
    """Return the files that are not as their shapes, with the text that they should have.

    None: of no shape.
    """
    wanted = texts()
    found = {path: path.read_text("utf-8") for path in SCHEMAS.rglob("*.json")}
    return {
        path: wanted.get(path)
        for path in sorted(wanted | found)
        if wanted.get(path) != found.get(path)
    }


def main(arguments: list[str]) -> str | None:
    """Write the schemas, or with --check return which of them differ from their shapes."""
    found = differing()
    if "--check" in arguments:
        named = ", ".join(str(path.relative_to(SCHEMAS.parent)) for path in found)
        return f"not as their shapes: {named}; run: make schemas" if found else None
    for path, text in found.items():
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
