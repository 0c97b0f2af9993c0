"""The examples at the end of each command's help.

Tests run those of one cluster and of none, and parse all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ZK, _B = "-z zk1:2181/kafka", "-b kafka1:9092"

_COMMANDS: Mapping[str, Sequence[str]] = {
    "validate": ("plans/drain-broker.yaml --inventory inventory", "plans --format github"),
    "convert": (
        "reassign.json --to plan --out plan.yaml",
        "plans/drain-broker.yaml --to kafka --lossy",
        "proposals.json --from cruise-control --to plan",
    ),
    "schema list": ("",),
    "schema show": ("partition-reassignment",),
    "schema export": ("schemas",),
    "diff": (
        f"plans/drain-broker.yaml {_ZK}",
        "plans/drain-broker.yaml --inventory inventory -o json",
    ),
    "apply": (f"plans/drain-broker.yaml {_ZK} --dry-run", f"plans/drain-broker.yaml {_B} --yes"),
    "status": (_ZK, f"{_B} --watch"),
    "resume": (_ZK, f"{_B} --timeout 3600 --yes", f"{_B} --due --yes"),
    "pause": (_ZK, _B),
    "cancel": (_ZK, f"{_B} --now", f"{_ZK} --foreign"),
    "rollback": (f"{_ZK} --dry-run", _B),
    "verify": (f"plans/drain-broker.yaml {_ZK}", f"plans/drain-broker.yaml {_B}"),
    "history": (_ZK, f"20260301T120000Z-4f9a1c {_B}"),
    "history import": (f"{_ZK} {_B}",),
    "lock show": (_ZK, _B),
    "lock release": (f"20260301T120000Z-4f9a1c {_ZK}",),
    "throttle show": (_ZK, _B),
    "throttle audit": (_ZK, _B),
    "throttle set": (
        f"--rate 50MB/s {_ZK}",
        f"--rate 20MB/s --topic orders {_B}",
        f"--hours sat-sun --zone Europe/Berlin {_ZK}",
    ),
    "throttle clear": (_ZK, f"--broker 4 {_B}"),
    "throttle catch-up": (
        f"--broker 4 --rate 50MB/s {_ZK}",
        f"--broker 4 --rate 10MB/s..200MB/s {_B}",
    ),
    "broker cordon": (f"4 {_B}",),
    "broker uncordon": (f"4 {_B}",),
    "broker unregister": (f"4 {_B}",),
    "doctor": (_ZK, _B),
    "doctor migration": (f"{_ZK} {_B}",),
    "inspect admin": (f"{_ZK} --watch",),
    "inspect brokers": (_ZK, f"{_B} --sort -size_bytes -o csv"),
    "inspect disks": (_ZK, f"{_B} --broker 3 --sort -fill_percent", "--inventory inventory"),
    "inspect topics": (f"{_ZK} --filter 'topic=pay-*'",),
    "inspect partitions": (f"{_ZK} --filter leader=3", f"{_B} --filter condition=offline -o csv"),
    "inspect controller": (_ZK, _B),
    "inspect admin-entries": (f"{_ZK} -o csv",),
    "inspect cluster": (_ZK, _B),
    "inspect configs": (f"{_ZK} --filter key=retention.ms",),
    "inspect consumers": (f"{_ZK} --filter group=billing",),
    "inspect notifications": (_ZK,),
    "inspect producer-ids": (_ZK,),
    "inspect acls": (_ZK,),
    "inspect tree": (_ZK, f"/ --depth 3 {_ZK}"),
    "inspect znode": (f"/ {_ZK} -o json",),
    "explain": ("KA044", "leftover-throttle", "exit 8"),
    "broker list": (_ZK, f"{_B} --sort safe_to_stop"),
    "broker check": (f"3 --stop {_B}", f"--rack r1 --stop --margin 1 {_ZK}"),
    "whatif lose": (f"--broker 3 {_ZK}", "--rack r1 --inventory inventory --fail-on offline"),
    "whatif plan": (
        f"plans/drain-broker.yaml {_ZK}",
        "plans/drain-broker.yaml --inventory inventory",
    ),
    "consumers preview": (
        f"--group billing --members 4 {_ZK}",
        f"--group billing --add-partitions 6 {_ZK}",
    ),
    "consumers coordinator": (f"billing audit {_ZK}",),
    "consumers disturbed": (f"plans/drain-broker.yaml {_ZK}",),
    "snapshot": (f"{_ZK} --out inventory", f"{_B} --out inventory --table csv"),
    "sample": (
        f"{_B} --out samples",
        f"{_ZK} --out samples --every 1m --for 14d",
        f"{_B} --out samples --once",
    ),
    "report": (
        f"{_ZK} --out report.html",
        "plans/drain-broker.yaml --inventory inventory --out p.html",
    ),
    "context list": ("", "-o json"),
    "context show": ("prod-eu",),
    "context use": ("prod-eu",),
    "context check": ("prod-eu",),
    "heal": (_ZK,),
    "recreate": (f"20260301T120000Z-4f9a1c {_ZK}", f"plans/recreate-topic.yaml {_B} --dry-run"),
    "propose rebalance": ("plans/rebalance.yaml --inventory inventory \\\n    --out plan.yaml",),
    "propose election": (f"{_ZK} --out elect.yaml", "--inventory inventory --out elect.yaml"),
    "propose demotion": (
        f"--broker 3 {_ZK} --out demote.yaml",
        "--rack r1 --keep-racks --inventory inventory \\\n    --out demote.yaml",
    ),
    "propose maintenance": (
        f"--broker 3 --throttle 50MB/s {_ZK} \\\n    --out maintenance.yaml",
        "--rack r1 --rack r2 --inventory inventory \\\n    --out roll.yaml",
    ),
    "propose decommission": (
        f"--broker 3 --throttle 50MB/s {_ZK} \\\n    --out decommission.yaml",
        "--broker 3 --drain plans/drain-broker.yaml \\\n    --inventory inventory --out leave.yaml",
    ),
    "propose recovery": (
        f"{_B} --out recovery.yaml",
        f"{_B} --samples samples \\\n    --html recovery.html --out recovery.yaml",
    ),
    "propose growth": (
        f"orders --partitions 24 {_B} --out growth.yaml",
        "'order*' --per-broker 2 --inventory inventory \\\n    --out growth.yaml",
    ),
    "load build": ("--samples samples --out load", "--samples samples --out load --per-week"),
    "sandbox up": ("--version 3.9.2 --brokers 4 --chroot /kafka", "--kraft --disks 2"),
    "sandbox seed": ("",),
    "sandbox traffic": ("--hour 1s --for 7d", "--topic orders --for 2h --seed 7"),
    "sandbox status": ("-o json",),
    "sandbox stop-broker": ("2",),
    "sandbox start-broker": ("2",),
    "sandbox add-broker": ("", "--rack r4"),
    "sandbox fail-disk": ("2 1",),
    "sandbox repair-disk": ("2 1",),
    "sandbox stop-controller": ("101",),
    "sandbox start-controller": ("101",),
    "sandbox freeze": ("2",),
    "sandbox thaw": ("2",),
    "sandbox migrate": ("start", "rollback --dir sandbox"),
    "sandbox down": ("",),
}
"""The arguments of each command in its examples."""

_GROUPS: Mapping[str, Sequence[str]] = {
    "": (
        "validate plans",
        f"diff plans/drain-broker.yaml {_B}",
        f"apply plans/drain-broker.yaml {_B}",
    ),
    "schema": ("schema list",),
    "lock": (f"lock show {_ZK}",),
    "throttle": (f"throttle audit {_ZK}", f"throttle set --rate 50MB/s {_B}"),
    "inspect": (f"inspect brokers {_ZK}", f"inspect partitions {_B} --filter leader=3"),
    "broker": (f"broker check 3 --stop {_ZK}", f"broker cordon 4 {_B}"),
    "whatif": (
        "whatif lose --broker 3 --inventory inventory",
        "whatif plan plans/drain-broker.yaml --inventory inventory",
    ),
    "consumers": (
        f"consumers coordinator billing {_ZK}",
        f"consumers disturbed plans/drain-broker.yaml {_B}",
    ),
    "context": ("context list", "context use prod-eu", "context check prod-eu"),
    "propose": (
        "propose election --inventory inventory --out elect.yaml",
        f"propose election {_ZK} --out elect.yaml",
    ),
    "load": ("load build --samples samples --out load",),
    "sandbox": ("sandbox up", "sandbox seed", "sandbox down"),
}
"""Commands below each name, in full."""

EXAMPLES: Mapping[str, Sequence[str]] = {
    **{
        name: [f"kadmin {name} {rest}".rstrip() for rest in lines]
        for name, lines in _COMMANDS.items()
    },
    **{name: [f"kadmin {line}" for line in lines] for name, lines in _GROUPS.items()},
}
"""By the command as it is typed, without `kadmin`."""
