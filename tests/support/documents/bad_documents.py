"""Lists bad documents as bytes, by the row of docs/bad-input.md; each has a golden file."""

from __future__ import annotations


def _lines(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _reassign(*entries: str, before: str = "") -> bytes:
    lines = "".join(f"    - {entry}\n" for entry in entries)
    return f"kind: PartitionReassignment\nspec:\n{before}  partitions:\n{lines}".encode()


def _topics(*names: str) -> bytes:
    return _reassign(
        *(f"{{topic: {name}, partition: {i}, replicas: [1]}}" for i, name in enumerate(names))
    )


def _replicas(*lists: str) -> bytes:
    return _reassign(
        *(f"{{topic: t, partition: {i}, replicas: {each}}}" for i, each in enumerate(lists))
    )


def _partitions(*numbers: str) -> bytes:
    return _reassign(*(f"{{topic: t, partition: {number}, replicas: [1]}}" for number in numbers))


def _laughs() -> bytes:
    levels = ["a: &a [x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        levels.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    return "\n".join(levels).encode()


def _json(spec: str) -> bytes:
    return f'{{"kind": "PartitionReassignment",\n "spec": {spec}}}\n'.encode()


BAD: dict[str, tuple[str, bytes]] = {
    "b01-duplicate-keys": (
        "plan.yaml",
        _lines(
            "kind: TopicDeletion",
            "kind: TopicDeletion",
            "spec:",
            "  topics: [a]",
            "  allow:",
            "    internal: true",
            "    more_than: 1",
            "    internal: false",
        ),
    ),
    "b01-duplicate-keys-json": (
        "plan.json",
        _json('{"partitions": [],\n  "elect": "none", "elect": "none"}'),
    ),
    "b02-anchor-alias-merge-tag": (
        "plan.yaml",
        _reassign(
            "{topic: &name orders, partition: 0, replicas: &r [1, 2]}",
            "{topic: *name, partition: 1, replicas: *r}",
            "{<<: {topic: a}, partition: 2, replicas: !!set [1]}",
            "{topic: !name orders, partition: 3, replicas: [1]}",
        ),
    ),
    "b02-self-reference": (
        "plan.yaml",
        b"kind: TopicDeletion\nspec: &s {topics: [a], allow: *s}\n",
    ),
    "b02-laughs": ("plan.yaml", _laughs()),
    "b02-directive": ("plan.yaml", b"%TAG ! tag:example.org,2000:\n---\nkind: TopicDeletion\n"),
    "b03-depth-yaml": ("plan.yaml", b"[" * 10_000),
    "b03-depth-json": ("plan.json", b"[" * 10_000 + b"]" * 10_000),
    "b03-depth-json-moderate": ("plan.json", _json("[" * 300 + "]" * 300)),
    "b03-nul": ("plan.yaml", b"kind: TopicDeletion\nspec: {topics: [a\x00b]}\n"),
    "b03-utf16": ("plan.yaml", "kind: TopicDeletion\n".encode("utf-16")),
    "b03-utf16-no-bom": ("plan.yaml", "kind: TopicDeletion\n".encode("utf-16-le")),
    "b03-not-utf8": ("plan.yaml", b"kind: TopicDeletion\nspec: {topics: [caf\xe9]}\n"),
    "b03-line-separator": ("plan.yaml", "kind: TopicDeletion\u2028spec: {topics: [a]}\n".encode()),
    "b03-syntax-yaml": ("plan.yaml", b"kind: TopicDeletion\nspec: {topics: [a}\n"),
    "b03-syntax-json": ("plan.json", b'{"kind": "TopicDeletion",\n "spec": {"topics": ["a"],}}\n'),
    "b04-scalars-as-topics": (
        "plan.yaml",
        _topics(
            "no",
            "on",
            "null",
            "1.0",
            "0123",
            "1e3",
            "~",
            "2024-01-01",
            "12:30:45",
            "true",
            "",
            "1_000",
            "0x1F",
        ),
    ),
    "b04-scalars-as-numbers": (
        "plan.yaml",
        _partitions(
            "0123", "1_000", "0x1F", "0o17", "+5", "12:30:45", "1e3", "~", "9" * 30, ".inf"
        ),
    ),
    "b04-number-keys": (
        "plan.yaml",
        b"kind: TopicDeletion\n5: x\nnull: y\nspec: {topics: [a], true: z}\n",
    ),
    "b05-topics": (
        "plan.yaml",
        _topics(
            '""',
            ".",
            "..",
            "a/b",
            "a" * 250,
            "é",
            '"a b"',
            '"a\\n"',
            '"a\\0b"',
            '"[red]x"',
            '"\\e[31mx"',
        ),
    ),
    "b05-surrogate-json": (
        "plan.json",
        _json('{"partitions": [\n  {"topic": "a\\ud800", "partition": 0, "replicas": [1]}]}'),
    ),
    "b06-replicas": (
        "plan.yaml",
        _replicas(
            "[]",
            "[1, 1]",
            "[-1]",
            "[1.0]",
            '["1"]',
            "[true]",
            "[null]",
            "[2147483648]",
            "[NaN]",
            "[010]",
            "1",
            "[[1]]",
        ),
    ),
    "b06-replicas-json": (
        "plan.json",
        _json(
            '{"partitions": [\n  {"topic": "t", "partition": 0, "replicas": [NaN, 1e999, 1.0, '
            "-0]}]}"
        ),
    ),
    "b07-partitions": ("plan.yaml", _partitions("-1", "1.0", '"0"', "true", "2147483648")),
    "b07-partition-twice": (
        "plan.yaml",
        _reassign(
            "{topic: a, partition: 0, replicas: [1]}",
            "{topic: b, partition: 0, replicas: [1]}",
            "{topic: a, partition: 0, replicas: [2]}",
        ),
    ),
    "b08-fields": (
        "plan.yaml",
        _reassign(
            "{topic: a, partition: 0}",
            "{topic: a, partition: 1, replica: [1]}",
            "{topic: a, partition: 2, replicas: [1], log_dirs: [any]}",
            before="  elect: atend\n  wave: {}\n",
        ),
    ),
    "b08-hours": (
        "plan.yaml",
        _reassign(
            "{topic: a, partition: 0, replicas: [1]}",
            before="  hours: {within: [22-6, Sat, mon-fri], outside: 5, of: load}\n",
        ),
    ),
    "b08-kind": ("plan.yaml", b"kind: PartitionReasignment\nspec: {}\n"),
    "b08-kind-missing": ("plan.yaml", b"spec: {partitions: []}\n"),
    "b08-kind-null": ("plan.yaml", b"kind:\nspec: {partitions: []}\n"),
    "b08-api-version": (
        "plan.yaml",
        b"apiVersion: kadmin/v2\nkind: PartitionReassignment\nspec: {partitions: []}\n",
    ),
    "b08-list": ("plan.yaml", b"- kind: TopicDeletion\n"),
    "b08-empty": ("plan.yaml", b"# nothing but a comment\n"),
    "b08-empty-json": ("plan.json", b""),
    "b08-two-documents": (
        "plan.yaml",
        b"kind: TopicDeletion\nspec: {topics: [a]}\n---\nkind: TopicDeletion\n",
    ),
    "b08-complex-key": ("plan.yaml", b"kind: TopicDeletion\n? [a]\n: b\n"),
    "b08-deletion-empty": ("plan.yaml", b"kind: TopicDeletion\nspec: {topics: []}\n"),
    "b08-election-none": ("plan.yaml", b"kind: PreferredReplicaElection\nspec: {}\n"),
    "b08-election-two": (
        "plan.yaml",
        b"kind: PreferredReplicaElection\nspec: {all: true, topics: [a]}\n",
    ),
    "b08-election-all-false": (
        "plan.yaml",
        b"kind: PreferredReplicaElection\nspec: {all: false}\n",
    ),
    "b08-amounts": (
        "plan.yaml",
        _reassign(
            "{topic: a, partition: 0, replicas: [1]}",
            before=(
                "  throttle: {rate: 50}\n  waves: {max_bytes: 10GBit, max_payload: 0B, "
                "max_partitions: 0}\n"
            ),
        ),
    ),
    "b08-throttle-two": (
        "plan.yaml",
        _reassign(
            "{topic: a, partition: 0, replicas: [1]}",
            before="  throttle: {rate: 50MB/s, finish_in: 6h}\n",
        ),
    ),
    "b08-throttle-amounts": (
        "plan.yaml",
        _reassign("{topic: a, partition: 0, replicas: [1]}", before="  throttle: {finish_in: 6}\n"),
    ),
    "b08-throttle-none": (
        "plan.yaml",
        _reassign("{topic: a, partition: 0, replicas: [1]}", before="  throttle: {}\n"),
    ),
    "b08-throttle-sizes": (
        "plan.yaml",
        _reassign(
            "{topic: a, partition: 0, current: [1], replicas: [2]}",
            before="  throttle: {finish_in: 6h}\n",
        ),
    ),
    "b08-request": (
        "plan.yaml",
        _lines(
            "kind: RebalanceRequest",
            "spec:",
            "  brokers: {drain: [1], substitute: {3: 1, 4: 4, x: 5}, weights: {99999999999: 1}}",
            "  tolerance: {bytes: 2}",
            "  replication_factor: {7: 3}",
            "  racks: loose",
        ),
    ),
    "b08-request-contradictions": (
        "plan.yaml",
        _lines(
            "kind: RebalanceRequest",
            "spec:",
            "  brokers: {drain: [1], substitute: {3: 1, 4: 4}}",
            "  leaders_only: true",
            "  pins:",
            "    - {topic: a, partition: 0, replicas: [1, 2]}",
            "    - {topic: a, partition: 0, replicas: [2, 3]}",
        ),
    ),
    "b08-throttle-limits": (
        "plan.yaml",
        _reassign(
            "{topic: a, partition: 0, replicas: [1]}",
            before="  throttle:\n    rate: {min: 1MB/s, max: 2MB/s}\n    while:\n"
            "      produce_p99: {below: 50ms}\n      lag: {below: 5xs}\n"
            "      heap: {below: 0.5B}\n",
        ),
    ),
    "b08-throttle-without-a-range": (
        "plan.yaml",
        _reassign(
            "{topic: a, partition: 0, replicas: [1]}",
            before="  throttle: {link_budget: 50MB/s, while: {lag: {below: 5}}}\n",
        ),
    ),
    "b08-request-amounts": (
        "plan.yaml",
        _lines(
            "kind: RebalanceRequest",
            "spec:",
            "  tolerance: {bytes: 101%}",
            "  limits: {max_bytes: 0.5B, max_bytes_in_per_broker: 99999999TB}",
            "  free: {broker: 1, bytes: 0B}",
        ),
    ),
    "b10-replication-factor-and-no-op": (
        "plan.yaml",
        _reassign(
            "{topic: a, partition: 0, current: [1, 2], replicas: [1, 2, 3]}",
            "{topic: a, partition: 1, current: [1, 2], replicas: [1, 2]}",
            "{topic: a, partition: 2, current: [1, 2], replicas: [2, 1]}",
        ),
    ),
    "b10-wave-limits": (
        "plan.yaml",
        _reassign(
            "{topic: a, partition: 0, current: [1, 2], replicas: [1, 3]}",
            "{topic: a, partition: 1, current: [1, 2], replicas: [1, 3], size_bytes: 2000}",
            "{topic: a, partition: 2, current: [1, 2], replicas: [2, 1]}",
            "{topic: a-long-name-for-a-small-payload, partition: 2, replicas: [2, 1]}",
            before="  waves: {max_bytes: 1kB, max_payload: 90B}\n",
        ),
    ),
    "b11-collision": (
        "plan.yaml",
        b"kind: TopicDeletion\nspec:\n  topics:\n    - a.b\n    - a_b\n",
    ),
    "b14-deletion-guards": (
        "plan.yaml",
        (
            b"kind: TopicDeletion\nspec:\n  topics:\n    - __consumer_offsets\n    - a\n    - a\n"
            b"  allow: {more_than: 2}\n"
        ),
    ),
    "b14-deletion-star": ("plan.yaml", b'kind: TopicDeletion\nspec: {topics: ["*"]}\n'),
    "long-json-line": (
        "plan.json",
        b'{"kind": "TopicDeletion", "spec": {"topics": ['
        + b'"topic-name", ' * 40
        + b'"bad name", "more"]}}',
    ),
}
