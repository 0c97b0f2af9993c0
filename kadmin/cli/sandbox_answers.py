"""The answers of `kadmin sandbox` as text and as JSON: its servers, and the records of traffic."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kadmin.cli import options
from kadmin.cli.inputs import writing
from kadmin.cli.output import answer
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from kadmin.sandbox import Sandbox
    from kadmin.sandbox.processes import Process
    from kadmin.sandbox.traffic import Moved


def answer_sandbox(sandbox: Sandbox, output: options.OutputFormat) -> None:
    """Print the addresses of a sandbox and which of its servers run."""
    value = _value(sandbox)
    answer(output, lambda: _text(value), lambda: value)


def moved_text(moved: Moved) -> str:
    """Describe the records that were produced and read, in one line."""
    produced = count(sum(records for records, _ in moved.produced.values()), "record")
    read = [f"{name} read {sum(each.values()):,}" for name, each in moved.consumed.items()]
    return "; ".join([f"produced {produced} to {count(len(moved.produced), 'partition')}", *read])


def moved_value(moved: Moved) -> dict[str, Any]:
    """Return the records that each partition got, and those that each group read."""
    return {
        "produced": [
            {
                "topic": each.topic,
                "partition": each.partition,
                "records": records,
                "value_bytes": value_bytes,
            }
            for each, (records, value_bytes) in sorted(moved.produced.items())
        ],
        "consumed": [
            {"group": name, "topic": each.topic, "partition": each.partition, "records": records}
            for name, read in sorted(moved.consumed.items())
            for each, records in sorted(read.items())
        ],
    }


@contextmanager
def lines_to(path: Path | None) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Yield a function that writes a value to a file as a line of JSON; for None, nothing."""
    if path is None:
        yield lambda _: None
        return
    with writing(path):
        file = path.open("w", encoding="utf-8")

    def write(value: Mapping[str, Any]) -> None:
        with writing(path):
            print(json.dumps(value), file=file, flush=True)

    with file:
        yield write


def _text(value: Mapping[str, Any]) -> str:
    from kadmin.report.text import table

    rows = [
        [
            f"{kind} {each[f'{kind}_id']}",
            each.get("rack", ""),
            each["address"],
            "runs" if each["alive"] else "stopped",
        ]
        for kind in ("controller", "broker")
        for each in value[f"{kind}s"]
    ]
    address = value["connect"] or ",".join(value["bootstrap"])
    return f"Kafka {value['version']} at {address}\n" + table(
        ["server", "rack", "address", ""], rows
    )


def _value(sandbox: Sandbox) -> dict[str, Any]:
    spec, controllers, brokers = sandbox.spec, sandbox.controllers, sandbox.brokers
    return {
        "version": spec.version,
        "mode": spec.mode,
        "phase": sandbox.phase.value,
        "connect": None if spec.kraft else sandbox.connect_string,
        "bootstrap": list(sandbox.bootstrap),
        "zookeepers": [
            {"port": port, "alive": process.alive}
            for port, process in zip(
                sandbox.zookeeper_ports, sandbox.zookeepers.values(), strict=True
            )
        ],
        "controllers": [
            {"controller_id": each, **_seen(sandbox, each, controllers)}
            for each in sorted(sandbox.controller_ports)
        ],
        "brokers": [
            {
                "broker_id": each,
                "rack": sandbox.rack(each),
                **_seen(sandbox, each, brokers),
                "log_dirs": list(map(str, sandbox.log_dirs(each))),
            }
            for each in sorted(sandbox.broker_ports)
        ],
    }


def _seen(sandbox: Sandbox, server_id: int, running: Mapping[int, Process]) -> dict[str, Any]:
    return {
        "address": sandbox.address(server_id),
        "alive": server_id in running and running[server_id].alive,
    }
