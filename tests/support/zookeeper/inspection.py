"""Reads tables of `kadmin inspect`, as rows that conform to the schema of the answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from support.cli.in_process import command

from kadmin.cli.inspect import TABLES
from kadmin.operations.context import Clock
from kadmin.report.cluster.tables import table_answer
from kadmin.schema import validate_value
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.inspection import inspect, inspect_tree, inspect_znode
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from kadmin.insight.tables.inspection import Inspection
    from kadmin.worlds.zookeeper.wire.store import Store


COMMANDS = [*([name] for name in TABLES), ["tree", "--depth", "9"], ["znode", "/brokers/ids/1"]]


def asked(store: Store, *arguments: str) -> dict[str, Any]:
    """Ask for JSON, and hold it against its schema."""
    answer = command("inspect", *arguments, "-z", store.connect_string, "-o", "json")
    assert answer.status == 0, answer.err
    value: dict[str, Any] = json.loads(answer.out)
    assert validate_value(value, f"answers/inspect-{arguments[0]}") == [], answer.out
    return value


def rows(store: Store, *arguments: str) -> list[dict[str, Any]]:
    """Ask for JSON where everything can be read."""
    value = asked(store, *arguments)
    assert value["unreadable"] == []
    found: list[dict[str, Any]] = value[arguments[0].replace("-", "_")]
    return found


def look(store: Store, arguments: list[str]) -> Inspection:
    """Read a table without a command line around it."""
    context = zookeeper_context(store, Paths(), Clock(), lambda _: None)
    match arguments:
        case ["tree", *_]:
            return inspect_tree(context, "/", 9)
        case ["znode", path]:
            return inspect_znode(context, path)
    return inspect(context, arguments[0])


def read(store: Store, *arguments: str) -> list[dict[str, Any]]:
    """Read a table where everything can be read, and hold it against its schema."""
    found = look(store, list(arguments))
    value = table_answer(found.table, found.unreadable, found.unavailable)
    assert validate_value(value, f"answers/inspect-{arguments[0]}") == [], value
    assert value["unreadable"] == []
    listed: list[dict[str, Any]] = value[arguments[0].replace("-", "_")]
    return listed
