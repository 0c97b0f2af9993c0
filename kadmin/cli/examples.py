"""The examples at the end of each command's help; a test runs those that need no cluster, and parses all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ZK = "-z zk1:2181/kafka"

EXAMPLES: Mapping[str, Sequence[str]] = {
    "": (
        "kadmin validate plans",
        f"kadmin diff plans/drain-broker.yaml {_ZK}",
        f"kadmin apply plans/drain-broker.yaml {_ZK}",
    ),
    "validate": (
        "kadmin validate plans/drain-broker.yaml --inventory inventory",
        "kadmin validate plans --format github",
    ),
    "convert": (
        "kadmin convert reassign.json --to plan --out plan.yaml",
        "kadmin convert plans/drain-broker.yaml --to kafka --lossy",
    ),
    "schema": ("kadmin schema list",),
    "schema list": ("kadmin schema list",),
    "schema show": ("kadmin schema show partition-reassignment",),
    "schema export": ("kadmin schema export schemas",),
    "diff": (
        f"kadmin diff plans/drain-broker.yaml {_ZK}",
        "kadmin diff plans/drain-broker.yaml --inventory inventory -o json",
    ),
    "apply": (
        f"kadmin apply plans/drain-broker.yaml {_ZK} --dry-run",
        f"kadmin apply plans/drain-broker.yaml {_ZK} --yes",
    ),
    "status": (f"kadmin status {_ZK}",),
    "resume": (f"kadmin resume {_ZK}", f"kadmin resume {_ZK} --timeout 3600 --yes"),
    "pause": (f"kadmin pause {_ZK}",),
    "cancel": (f"kadmin cancel {_ZK}", f"kadmin cancel {_ZK} --now"),
    "rollback": (f"kadmin rollback {_ZK} --dry-run", f"kadmin rollback {_ZK}"),
    "verify": (f"kadmin verify plans/drain-broker.yaml {_ZK}",),
    "history": (f"kadmin history {_ZK}", f"kadmin history {_ZK} -o json"),
    "lock": (f"kadmin lock show {_ZK}",),
    "lock show": (f"kadmin lock show {_ZK}",),
    "lock release": (f"kadmin lock release 20260301T120000Z-4f9a1c {_ZK}",),
    "throttle": (f"kadmin throttle audit {_ZK}", f"kadmin throttle set --rate 50MB/s {_ZK}"),
    "throttle show": (f"kadmin throttle show {_ZK}",),
    "throttle audit": (f"kadmin throttle audit {_ZK}",),
    "throttle set": (
        f"kadmin throttle set --rate 50MB/s {_ZK}",
        f"kadmin throttle set --rate 20MB/s --topic orders {_ZK}",
    ),
    "throttle clear": (f"kadmin throttle clear {_ZK}", f"kadmin throttle clear --broker 4 {_ZK}"),
    "doctor": (f"kadmin doctor {_ZK}",),
    "inspect": (f"kadmin inspect brokers {_ZK}", f"kadmin inspect partitions {_ZK} --filter leader=3"),
    "inspect admin": (f"kadmin inspect admin {_ZK} --watch",),
    "inspect brokers": (f"kadmin inspect brokers {_ZK}",),
    "inspect topics": (f"kadmin inspect topics {_ZK} --filter 'topic=pay-*'",),
    "inspect partitions": (
        f"kadmin inspect partitions {_ZK} --filter leader=3",
        f"kadmin inspect partitions {_ZK} --sort -size_bytes -o csv",
    ),
    "inspect controller": (f"kadmin inspect controller {_ZK}",),
    "inspect admin-entries": (f"kadmin inspect admin-entries {_ZK} -o csv",),
    "inspect cluster": (f"kadmin inspect cluster {_ZK}",),
    "inspect configs": (f"kadmin inspect configs {_ZK} --filter key=retention.ms",),
    "inspect consumers": (f"kadmin inspect consumers {_ZK} --filter group=billing",),
    "inspect notifications": (f"kadmin inspect notifications {_ZK}",),
    "inspect producer-ids": (f"kadmin inspect producer-ids {_ZK}",),
    "inspect acls": (f"kadmin inspect acls {_ZK}",),
    "inspect tree": (f"kadmin inspect tree {_ZK}", f"kadmin inspect tree / --depth 3 {_ZK}"),
    "inspect znode": (f"kadmin inspect znode / {_ZK} -o json",),
    "whatif": (
        "kadmin whatif lose --broker 3 --inventory inventory",
        "kadmin whatif plan plans/drain-broker.yaml --inventory inventory",
    ),
    "whatif lose": (
        f"kadmin whatif lose --broker 3 {_ZK}",
        "kadmin whatif lose --rack r1 --inventory inventory",
    ),
    "whatif plan": (
        f"kadmin whatif plan plans/drain-broker.yaml {_ZK}",
        "kadmin whatif plan plans/drain-broker.yaml --inventory inventory",
    ),
    "consumers": (
        f"kadmin consumers coordinator billing {_ZK}",
        f"kadmin consumers disturbed plans/drain-broker.yaml {_ZK}",
    ),
    "consumers preview": (
        f"kadmin consumers preview --group billing --members 4 {_ZK}",
        f"kadmin consumers preview --group billing --add-partitions 6 {_ZK}",
    ),
    "consumers coordinator": (f"kadmin consumers coordinator billing audit {_ZK}",),
    "consumers disturbed": (f"kadmin consumers disturbed plans/drain-broker.yaml {_ZK}",),
    "snapshot": (
        f"kadmin snapshot {_ZK} --out inventory",
        f"kadmin snapshot {_ZK} --out inventory --table csv",
    ),
    "report": (
        f"kadmin report {_ZK} --out report.html",
        "kadmin report plans/drain-broker.yaml --inventory inventory --out p.html",
    ),
    "heal": (f"kadmin heal {_ZK}",),
    "recreate": (
        f"kadmin recreate 20260301T120000Z-4f9a1c {_ZK}",
        f"kadmin recreate plans/recreate-topic.yaml {_ZK} --dry-run",
    ),
    "propose": (
        "kadmin propose election --inventory inventory --out elect.yaml",
        f"kadmin propose election {_ZK} --out elect.yaml",
    ),
    "propose rebalance": (
        "kadmin propose rebalance plans/rebalance.yaml --inventory inventory \\\n    --out plan.yaml --engine local",
    ),
    "propose election": (
        f"kadmin propose election {_ZK} --out elect.yaml",
        "kadmin propose election --inventory inventory --out elect.yaml",
    ),
    "sandbox": ("kadmin sandbox up", "kadmin sandbox seed", "kadmin sandbox down"),
    "sandbox up": ("kadmin sandbox up --version 3.9.2 --brokers 4 --chroot /kafka", "kadmin sandbox up --kraft"),
    "sandbox seed": ("kadmin sandbox seed",),
    "sandbox status": ("kadmin sandbox status -o json",),
    "sandbox stop-broker": ("kadmin sandbox stop-broker 2",),
    "sandbox start-broker": ("kadmin sandbox start-broker 2",),
    "sandbox stop-controller": ("kadmin sandbox stop-controller 101",),
    "sandbox start-controller": ("kadmin sandbox start-controller 101",),
    "sandbox freeze": ("kadmin sandbox freeze 2",),
    "sandbox thaw": ("kadmin sandbox thaw 2",),
    "sandbox down": ("kadmin sandbox down",),
}
"""By the command as it is typed, without `kadmin`."""
