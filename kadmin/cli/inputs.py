"""Files that commands read and write: documents, sizes and figures; `-` reads standard input."""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kadmin.cli.files import STANDARD_INPUT
from kadmin.errors import InvalidInputError, NotCompletedError, StalePlanError, UsageError
from kadmin.next_step import command
from kadmin.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.hours import Window
    from kadmin.plan.model import (
        Document,
        Plan,
        Policy,
        RebalanceRequest,
        RecreationPlan,
        SignalLimit,
        ThrottleSpec,
    )

_Document = TypeVar("_Document")
NONE = "none"
"""The value of a repeatable option that takes away what it sets."""


def read_document(path: Path) -> bytes:
    """Read a document of at most MOST_BYTES and one byte, `-` from standard input.

    Raises InvalidInputError.
    """
    from kadmin.documents.text import MOST_BYTES

    return _read(path, MOST_BYTES + 1)


def _read(path: Path, most: int = -1) -> bytes:
    name = "standard input" if str(path) == STANDARD_INPUT else path
    try:
        if str(path) != STANDARD_INPUT:
            with path.open("rb") as file:
                return file.read(most)
        if sys.stdin is None:  # closed by the parent process
            raise InvalidInputError("Cannot read standard input.", cause="it is closed")
        return sys.stdin.buffer.read(most)
    except OSError as error:
        nearest = next((each for each in (path, *path.parents) if os.path.lexists(each)), Path())
        raise InvalidInputError(
            f"Cannot read {name}.",
            cause=error.strerror or str(error),
            next_step=f"ls -l {shlex.quote(str(nearest))}",
        ) from error


def read_plan(path: Path, approved: str | None = None) -> Plan:
    """Read a plan that can be applied.

    Raises InvalidInputError for a request, a recipe or a policy. Raises StalePlanError for a file
    whose SHA-256 is not `approved`.
    """
    from kadmin.plan.model import (
        DeletionPlan,
        ElectionPlan,
        GrowthPlan,
        MaintenancePlan,
        ReassignmentPlan,
        RebalanceRequest,
        RecoveryPlan,
        RecreationPlan,
    )

    document = _read_document_in(path, approved)
    if isinstance(
        document,
        ReassignmentPlan
        | ElectionPlan
        | DeletionPlan
        | MaintenancePlan
        | RecoveryPlan
        | GrowthPlan,
    ):
        return document
    others = {
        RebalanceRequest: (
            "RebalanceRequest",
            command("propose rebalance", path, "--inventory", "DIR", "--out", "PLAN"),
        ),
        RecreationPlan: ("TopicRecipe", command("recreate", path)),
    }
    kind, use = others.get(type(document), ("Policy", "give it with --policy"))
    raise InvalidInputError(f"{path} is a {kind}, not a plan.", next_step=use)


def read_origin(path: Path) -> Mapping[TopicPartition, Replicas]:
    """Read each partition's replicas from a PartitionReassignment or Kafka's reassignment JSON."""
    from kadmin.documents import parse_document
    from kadmin.documents.kafka_files import parse_kafka_file
    from kadmin.plan.model import ReassignmentPlan

    data = read_document(path)
    if b"PartitionReassignment" in data:
        document = parse_document(data, str(path))
    else:
        document = parse_kafka_file(data, str(path)).document
    if not isinstance(document, ReassignmentPlan):
        raise InvalidInputError(f"{path} holds no replicas of partitions.")
    return {target.partition: target.replicas for target in document.reassignments}


def read_recipe(path: Path) -> RecreationPlan:
    """Read a TopicRecipe."""
    from kadmin.plan.model import RecreationPlan

    return _read_kind(path, RecreationPlan, "TopicRecipe", "topic-recipe")


def read_request(path: Path) -> RebalanceRequest:
    """Read a RebalanceRequest."""
    from kadmin.plan.model import RebalanceRequest

    return _read_kind(path, RebalanceRequest, "RebalanceRequest", "rebalance-request")


def read_policy(path: Path | None) -> Policy:
    """Read a Policy; no path gives the default one."""
    from kadmin.plan.model import Policy

    return Policy() if path is None else _read_kind(path, Policy, "Policy", "policy")


def read_duration(option: str, text: str) -> int:
    """Return the seconds of an option's duration, as `5m`; raises InvalidInputError."""
    from kadmin.plan.units import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise InvalidInputError(f"{option} cannot be read.", cause=str(error)) from error


def broker_ids(texts: Iterable[str], example: str) -> tuple[int, ...]:
    """Return the broker ids of an option or argument, `1` or `1,2`; raises UsageError."""
    found = [each for text in texts for each in text.split(",")]
    for each in found:
        if not (each.isascii() and each.isdigit()):
            raise UsageError(f"{each!a} is not a broker id.", next_step=example)
    return tuple(map(int, found))


def read_throttle(
    *, rate: str | None = None, finish_in: str | None = None, link_budget: str | None = None
) -> ThrottleSpec:
    """Read a throttle that options give in one of its three ways, as `spec.throttle` does."""
    from kadmin.plan.model import ThrottleBy, ThrottleSpec
    from kadmin.plan.units import parse_duration, parse_rate

    options = {
        ThrottleBy.RATE: rate,
        ThrottleBy.FINISH_IN: finish_in,
        ThrottleBy.LINK_BUDGET: link_budget,
    }
    given = [(by, text) for by, text in options.items() if text is not None]
    if len(given) != 1:
        raise UsageError(
            "One of --rate, --finish-in and --link-budget is needed.", next_step="--rate 50MB/s"
        )
    by, text = given[0]
    noun, parse = (
        ("duration", parse_duration) if by is ThrottleBy.FINISH_IN else ("rate", parse_rate)
    )
    least, _, most = text.partition("..") if by is ThrottleBy.RATE else (text, "", "")
    with _reading(noun):
        amount, highest = parse(least), parse(most) if most else None
    if amount == 0:
        raise InvalidInputError(
            f"{text} would stop replication.", next_step="give more, as 50MB/s or 6h"
        )
    if highest is not None and highest <= amount:
        raise InvalidInputError(
            f"{text} is no range.", next_step="write the lowest rate first, as 10MB/s..200MB/s"
        )
    return ThrottleSpec(by, amount, highest)


def read_limits(options: Sequence[str]) -> Mapping[str, SignalLimit]:
    """Read limits of signals that options give, NAME=LIMIT each, or `none`."""
    from kadmin.plan.model import SignalLimit, read_limit

    limits: dict[str, SignalLimit] = {}
    for option in () if list(options) == [NONE] else options:
        name, equals, text = option.partition("=")
        if not name or not equals or name in limits:
            raise UsageError(
                f"--while {option} is no signal with its limit, or the second of its name.",
                next_step="--while produce_p99=50ms, or --while none",
            )
        with _reading("limit"):
            limits[name] = SignalLimit(read_limit(text))
    return limits


def read_windows(options: Sequence[str]) -> tuple[Window, ...]:
    """Read windows of hours that options give, or `none`."""
    from kadmin.plan.hours import parse_window

    with _reading("window"):
        return () if list(options) == [NONE] else tuple(map(parse_window, options))


def read_rate_outside(text: str) -> int:
    """Read the rate outside hours, in bytes per second; 0 for a pause."""
    from kadmin.plan.model import read_outside

    with _reading("rate"):
        return read_outside(text)


@contextmanager
def _reading(noun: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise InvalidInputError(f"The {noun} cannot be read.", cause=str(error)) from error


def _read_kind(path: Path, model: type[_Document], kind: str, schema: str) -> _Document:
    document = _read_document_in(path)
    if isinstance(document, model):
        return document
    raise InvalidInputError(f"{path} is not a {kind}.", next_step=command("schema show", schema))


def _read_document_in(path: Path, approved: str | None = None) -> Document:
    """Read a document, with its file in the header.

    The bytes that are approved are the bytes that are parsed.
    """
    from kadmin.cli.approval import require_approved
    from kadmin.documents import parse_document
    from kadmin.documents.text import MOST_BYTES
    from kadmin.plan.model import DocumentFile

    file = DocumentFile(str(path), read_document(path))
    # A larger one is not read whole, and not parsed.
    if approved is not None and len(file.data) <= MOST_BYTES:
        require_approved(file, approved)
    document = parse_document(file.data, file.name)
    return replace(document, header=replace(document.header, file=file))


def read_sizes(path: Path | None) -> Mapping[TopicPartition, int]:
    """Read bytes per partition from the output of `kafka-log-dirs --describe`.

    No path gives no sizes.
    """
    from kadmin.inventory.log_dirs_file import parse_log_dirs_json

    return (
        {} if path is None else parse_log_dirs_json(_read(path).decode("utf-8", errors="replace"))
    )


def read_facts(sizes: Path | None, inventory: Path | None = None) -> ClusterFacts:
    """Read the facts that go with a live cluster.

    They are those of a snapshot, and bytes per partition, which take precedence. The brokers are
    asked later for facts that neither has.
    """
    from kadmin.plan.facts import ClusterFacts

    disk_sizes = read_sizes(sizes)
    if inventory is None:
        return ClusterFacts(sizes=disk_sizes)
    from kadmin.inventory import facts_of, read_inventory

    return facts_of(read_inventory(inventory).single(), disk_sizes)


def read_figures(path: Path, cluster_id: str | None) -> Mapping[str, Any]:
    """Read one cluster of schemas/answers/figures.

    Raises StalePlanError where it is not in the file.
    """
    from kadmin.schema import validate_value

    try:
        value = json.loads(read_document(path))
    except ValueError as error:
        raise InvalidInputError(f"{path} is not JSON.", cause=str(error)) from error
    if validate_value(value, "answers/figures"):
        raise InvalidInputError(
            f"{path} holds no figures of a proposal.",
            next_step=command(
                "propose rebalance",
                "REQUEST",
                "--inventory",
                "DIR",
                "--out",
                "PLAN",
                "--figures",
                path,
            ),
        )
    for each in value["clusters"]:
        if each["cluster_id"] == cluster_id:
            found: dict[str, Any] = each
            return found
    raise StalePlanError(f"{path} holds no figures of cluster {cluster_id}.")


def write_plan(path: Path, plan: Plan) -> None:
    """Write a plan in the format that its suffix names: JSON for .json, YAML otherwise."""
    from kadmin.documents import dump_json, dump_yaml

    write_text(path, dump_json(plan) if path.suffix == ".json" else dump_yaml(plan))


def write_text(path: Path, text: str) -> None:
    """Replace a file whole or not at all; a pipe or a device is written to directly."""
    with writing(path):
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_text(text, encoding="utf-8")
        else:
            # Through links: /dev/stdout must not be replaced by a file.
            write_whole(path.resolve(), text)


def replace_file(path: Path, text: str) -> None:
    """Replace a file whole or not at all.

    Raises NotCompletedError for a pipe, a device or a folder, too.
    """
    with writing(path):
        if path.exists() and not path.is_file():
            raise NotCompletedError(f"Cannot write {path}.", cause="it is no regular file")
        write_whole(path.resolve(), text)


def make_folder(path: Path) -> None:
    """Make a folder and those above it."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Raise NotCompletedError where a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise NotCompletedError(
            f"Cannot write {path}.", cause=error.strerror or str(error)
        ) from error
