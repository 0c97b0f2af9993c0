"""Types of the fields of documents: names and ids of Kafka, amounts with their units, and text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.payloads import MAX_INT32
from kadmin.plan.units import (
    UNITS_HINT,
    format_duration,
    format_percent,
    format_rate,
    format_size,
    parse_duration,
    parse_percent,
    parse_rate,
    parse_size,
)
from kadmin.schema.shapes import Defined, Keywords, WrittenAs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_INT16 = 2**15 - 1


def _positive(parse: Callable[[str], int]) -> Callable[[str], int]:
    def parse_positive(text: str) -> int:
        if (amount := parse(text)) == 0:
            raise ValueError(f"{text} would let nothing through")
        return amount

    return parse_positive


read_size = _positive(parse_size)
read_rate = _positive(parse_rate)
_AMOUNT = r"[0-9]{1,19}(?:\.[0-9]{1,12})? ?(?:B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)"
RATE = f"{_AMOUNT}/s"
RATE_HINT = (
    "units are B/s, kB/s, MB/s, GB/s, TB/s (powers of 1000) and KiB/s, MiB/s, GiB/s, TiB/s (powers "
    "of 1024)"
)
CLUSTER_ID = "^[A-Za-z0-9_-]{1,64}$"
PERCENT = r"^[0-9]{1,3}(?:\.[0-9]{1,6})? ?%$"
_NAME = r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}"
_NAME_HINT = "a topic name is 1 to 249 characters of a-z A-Z 0-9 . _ -, and not . or .."
_NO_ID = "broker ids are whole numbers from 0 to 2147483647"
_UP_TO_MAX_INT32 = (
    "^(?:0|[1-9][0-9]{0,8}|1[0-9]{9}|2(?:0[0-9]{8}|1(?:[0-3][0-9]{7}|4(?:[0-6][0-9]{6}|7(?:[0-3][0-9]{5}"
    "|4(?:[0-7][0-9]{4}|8(?:[0-2][0-9]{3}|3(?:[0-5][0-9]{2}|6(?:[0-3][0-9]|4[0-7])))))))))$"
)
PRINTABLE = Keywords(
    pattern=r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$",
    x_hint="control characters cannot be printed",
)
NON_NEGATIVE = Keywords(minimum=0, maximum=MAX_INT32)
POSITIVE = Keywords(minimum=1, maximum=MAX_INT32)
NOT_EMPTY = Keywords(minItems=1)

TopicName: TypeAlias = Annotated[
    str,
    Keywords(title="topic name", pattern=f"^{_NAME}$", x_hint=_NAME_HINT),
    "A topic's literal name, as Kafka allows it.",
    Defined("topicName"),
]
TopicOrProbe: TypeAlias = Annotated[
    str,
    Keywords(title="topic name", pattern=f"^(?:!probe|{_NAME})$", x_hint=_NAME_HINT),
    "A topic's literal name, or !probe: a name that no topic can have, to probe whether the "
    "controller listens.",
    Defined("namedTopic"),
]
TopicPattern: TypeAlias = Annotated[
    str,
    Keywords(
        title="topic pattern",
        pattern=r"^[a-zA-Z0-9._*?!\[\]-]{1,249}$",
        x_hint="a pattern is made of a-z A-Z 0-9 . _ - and the globs * ? [ab]",
    ),
    "A glob over whole topic names: * any characters, ? one, [ab] one of these.",
    Defined("topicPattern"),
]
PartitionNumber: TypeAlias = Annotated[
    int,
    NON_NEGATIVE,
    Keywords(
        title="partition number", x_hint="partition numbers are whole numbers from 0 to 2147483647"
    ),
    "A partition's number within its topic, counted from 0.",
    Defined("partitionNumber"),
]
BrokerId: TypeAlias = Annotated[
    int,
    NON_NEGATIVE,
    Keywords(title="broker id", x_hint=_NO_ID),
    "A broker's id, as in its broker.id.",
    Defined("brokerId"),
]
BrokerIdKey: TypeAlias = Annotated[
    int,
    WrittenAs(str, int, str),
    Keywords(title="broker id", pattern=_UP_TO_MAX_INT32, x_hint=_NO_ID),
]
"""The key of a mapping."""
BrokerIds: TypeAlias = Annotated[
    tuple[BrokerId, ...],
    Keywords(title="list of broker ids", uniqueItems=True),
    "Brokers, each once; the order means nothing.",
    Defined("brokerIds"),
]
OrderedReplicas: TypeAlias = Annotated[
    tuple[BrokerId, ...],
    NOT_EMPTY,
    Keywords(
        title="list of replicas",
        uniqueItems=True,
        x_hint="replicas are a list of broker ids; an empty one would destroy the partition's data",
    ),
    "Broker ids in order: the first is the preferred leader.",
    Defined("replicas"),
]
ANY_LOG_DIR = "any"
"""The entry of a replica whose log directory the broker chooses."""
LogDir: TypeAlias = Annotated[
    str,
    Keywords(
        title="log directory",
        pattern=r"^(?:any|/[^\u0000-\u001f\u007f]{0,4095})$",
        x_hint="a path as the broker's log.dirs has it, or any",
    ),
    "The path of a log directory, as its broker names it, or any: the broker chooses.",
    Defined("logDir"),
]
ByteSize: TypeAlias = Annotated[
    int,
    WrittenAs(str, read_size, format_size),
    Keywords(title="size", pattern=f"^{_AMOUNT}$", x_hint=UNITS_HINT),
    "Bytes with their unit: 500GB, 64KiB.",
    Defined("byteSize"),
]
ByteRate: TypeAlias = Annotated[
    int,
    WrittenAs(str, read_rate, format_rate),
    Keywords(
        title="rate",
        pattern=f"^{RATE}$",
        x_hint=RATE_HINT,
    ),
    "Bytes per second with their unit: 50MB/s.",
    Defined("byteRate"),
]
Duration: TypeAlias = Annotated[
    int,
    WrittenAs(str, parse_duration, format_duration),
    Keywords(
        title="duration",
        pattern=r"^[0-9]{1,9}(?:\.[0-9]{1,6})? ?(?:s|m|h|d)$",
        x_hint="units are s, m (minutes), h, d",
    ),
    "A time with its unit: 90m, 6h.",
    Defined("duration"),
]
Percentage: TypeAlias = Annotated[
    float,
    WrittenAs(str, parse_percent, format_percent),
    Keywords(title="percentage", pattern=PERCENT, x_hint="write for example 2%"),
    "A percentage: 2%.",
    Defined("percentage"),
]
ClusterId: TypeAlias = Annotated[
    str,
    Keywords(
        title="cluster id",
        pattern=CLUSTER_ID,
        x_hint="a cluster id is up to 64 characters of A-Z a-z 0-9 _ -",
    ),
    "The cluster's id, as its brokers have it.",
    Defined("clusterId"),
]
HistoryFolder: TypeAlias = Annotated[
    str,
    Keywords(
        title="folder",
        pattern=r"^[^\u0000-\u001f\u007f]{1,4096}$",
        x_hint="name the folder that has partition_load.parquet",
    ),
]
"""The folder of a load history."""
SignalName: TypeAlias = Annotated[
    str,
    Keywords(
        title="signal name",
        pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
        x_hint="a signal's name is up to 63 characters of a-z A-Z 0-9 . _ -",
    ),
    "The name of a signal.",
]
Text: TypeAlias = Annotated[
    str, Keywords(title="text", maxLength=4096), PRINTABLE, "Printable text.", Defined("text")
]


@dataclass(frozen=True, slots=True)
class NamedPartition:
    """The fields of an entry that name its partition."""

    topic: Annotated[TopicName, "The topic."]
    partition: Annotated[PartitionNumber, "The partition's number."]


def _read_partition(entry: Mapping[str, Any]) -> TopicPartition:
    return TopicPartition(entry["topic"], entry["partition"])


def _write_partition(partition: TopicPartition) -> dict[str, Any]:
    return {"topic": partition.topic, "partition": partition.partition}


PartitionFields: TypeAlias = Annotated[
    TopicPartition, WrittenAs(NamedPartition, _read_partition, _write_partition)
]
