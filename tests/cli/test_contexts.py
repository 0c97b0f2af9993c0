"""Which cluster a context means, what its protection refuses, and that no secret of it is ever
shown.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, get_args

import pytest
from support.cli.in_process import command
from support.cli.terminal import in_terminal, python
from support.documents.plans import document, reassignment
from support.network.prometheus_server import answering, prometheus_server
from support.zookeeper.znode_cluster import seed

from kadmin.cli.plan_defaults import read_plan_for, throttle_for
from kadmin.contexts.address import ClusterAddress, address_of
from kadmin.contexts.model import SignalUnit
from kadmin.contexts.signals import SignalReading
from kadmin.documents.kinds import kind_name
from kadmin.documents.parse import parse_contexts
from kadmin.errors import UnreachableError
from kadmin.insight.diagnosis.rights import RightsFound
from kadmin.next_step import command as command_to_type
from kadmin.plan.model import Plan, ReassignmentPlan
from kadmin.report.contexts import rights_answer, rights_text
from kadmin.schema import validate_value
from kadmin.schema.shapes import to_json
from kadmin.worlds.zookeeper.model import Create
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = "127.0.0.1:1"
CANARY = "s3cr3t-canary"
VARIABLES = (
    "KADMIN_ZOOKEEPER",
    "KADMIN_BOOTSTRAP_SERVER",
    "KADMIN_CONTEXT",
    "KADMIN_CONFIG",
    "KADMIN_POLICY",
)
WRITES = {
    "apply": ["PLAN", "--yes"],
    "resume": ["--yes"],
    "pause": [],
    "cancel": ["--yes"],
    "rollback": ["--yes"],
    "heal": ["--yes"],
    "recreate": ["op", "--yes"],
    "throttle set": ["--rate", "1MB/s", "--yes"],
    "throttle clear": ["--yes"],
    "throttle catch-up": ["--broker", "1", "--rate", "1MB/s", "--yes"],
    "lock release": ["op", "--yes"],
}


@pytest.fixture(autouse=True)
def _no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with a context of each protection; `east` is current."""
    return contexts(
        tmp_path / "contexts.json",
        {
            "east": {"zookeeper": {"connect": f"{NOBODY}/east"}},
            "west": {"kafka": {"bootstrap_servers": NOBODY}, "protect": "read-only"},
            "north": {"zookeeper": {"connect": f"{NOBODY}/north"}, "protect": "confirm"},
            "south": {
                "zookeeper": {"connect": f"{NOBODY}/south"},
                "allow": ["TopicDeletion"],
                "cluster_id": "abc",
            },
        },
        current="east",
    )


def contexts(path: Path, entries: dict[str, dict[str, Any]], **more: str) -> Path:
    path.write_text(json.dumps({"kind": "Contexts", **more, "contexts": entries}))
    return path


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        ([], {}, f"{NOBODY}/east"),
        ([], {"KADMIN_CONTEXT": "north"}, f"{NOBODY}/north"),
        (["--context", "south"], {"KADMIN_CONTEXT": "north"}, f"{NOBODY}/south"),
        (["--context", "south"], {"KADMIN_ZOOKEEPER": f"{NOBODY}/env"}, f"{NOBODY}/south"),
        ([], {"KADMIN_ZOOKEEPER": f"{NOBODY}/env"}, f"{NOBODY}/env"),
        (["-z", f"{NOBODY}/typed"], {"KADMIN_CONTEXT": "north"}, f"{NOBODY}/typed"),
        (["-z", f"{NOBODY}/typed"], {}, f"{NOBODY}/typed"),
        (
            ["-z", f"{NOBODY}/typed", "--context", "east"],
            {},
            "by its address or by its context, not both",
        ),
        ([], {"KADMIN_ZOOKEEPER": f"{NOBODY}/env", "KADMIN_CONTEXT": "east"}, "not both"),
        (["--context", "nort"], {}, "did you mean north?"),
        (["--context", "east", "--records", "r"], {}, "--records goes with -b."),
    ],
)
def test_what_was_typed_outweighs_the_environment_and_that_the_file(
    file: Path, arguments: list[str], environment: dict[str, str], said: str
) -> None:
    environment = {"KADMIN_CONFIG": str(file), **environment}
    answer = command("status", "--timeout", "0.5", *arguments, environment=environment)
    assert answer.status in {6, 64}
    assert said in answer.err


def test_addresses_need_no_file_and_do_not_read_a_broken_one(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("kind: [")
    for name in ("none.yaml", "broken.yaml"):
        environment = {"KADMIN_CONFIG": str(tmp_path / name)}
        assert (
            command("status", "-z", NOBODY, "--timeout", "0.5", environment=environment).status == 6
        )
        assert command("status", environment=environment).status == 3
    assert command("status").status == 64


def test_commands_are_named_with_the_context_that_was_typed(file: Path) -> None:
    context = parse_contexts(file.read_bytes(), str(file)).contexts["west"]
    resume, show = command_to_type("resume", "op-1"), command_to_type("context show", "west")
    assert str(address_of(context, typed=True).named(resume)) == "kadmin resume op-1 --context west"
    assert address_of(context, typed=False).named(resume) == resume
    assert address_of(context, typed=True).named(show) == show


@pytest.mark.parametrize("name", WRITES)
def test_nothing_is_written_to_a_context_that_is_read_only(
    file: Path, tmp_path: Path, name: str
) -> None:
    plan = document(tmp_path / "plan.json", reassignment("orders", {0: [2, 3]}))
    given = [str(plan) if word == "PLAN" else word for word in WRITES[name]]
    answer = command(
        *name.split(), *given, "--context", "west", environment={"KADMIN_CONFIG": str(file)}
    )
    assert (answer.status, answer.out) == (64, "")
    assert answer.err.startswith("error: The context west is read-only")


@pytest.mark.parametrize("name", WRITES)
def test_yes_is_not_enough_for_a_context_that_wants_its_name(
    file: Path, tmp_path: Path, name: str
) -> None:
    plan = document(tmp_path / "plan.json", reassignment("orders", {0: [2, 3]}))
    given = [str(plan) if word == "PLAN" else word for word in WRITES[name]]
    line = [*name.split(), *given, "--context", "north", "--timeout", "0.5"]
    environment = {"KADMIN_CONFIG": str(file)}
    refused = command(*line, environment=environment)
    assert (refused.status, refused.err.splitlines()[-1]) == (64, "  next:  add --confirm north")
    assert command(*line, "--confirm", "east", environment=environment).status == 64
    confirmed = command(*line, "--confirm", "north", environment=environment)
    assert (confirmed.status, f"{NOBODY}/north" in confirmed.err) == (6, True)


def test_a_dry_run_needs_no_name_and_reads_a_protected_context(file: Path, tmp_path: Path) -> None:
    plan = document(tmp_path / "plan.json", reassignment("orders", {0: [2, 3]}))
    for name in ("north", "west"):
        line = ["apply", str(plan), "--dry-run", "--context", name, "--timeout", "0.5"]
        assert command(*line, environment={"KADMIN_CONFIG": str(file)}).status == 6


@pytest.mark.parametrize("plan", get_args(Plan))
def test_a_context_can_allow_each_kind_of_plan_alone(tmp_path: Path, plan: type[Plan]) -> None:
    entry = {"zookeeper": {"connect": NOBODY}, "allow": [kind_name(plan)]}
    file = contexts(tmp_path / "contexts.json", {"one": entry})
    shown = command("context", "show", "one", environment={"KADMIN_CONFIG": str(file)})
    assert (shown.status, kind_name(plan) in shown.out) == (0, True), shown.err


def test_a_kind_that_is_not_allowed_and_a_plan_of_another_cluster_are_refused(
    file: Path, tmp_path: Path
) -> None:
    environment = {"KADMIN_CONFIG": str(file), "KADMIN_CONTEXT": "south"}
    moves = document(tmp_path / "plan.json", reassignment("orders", {0: [2, 3]}))
    refused = command("apply", moves, "--yes", environment=environment)
    assert (refused.status, "does not allow a PartitionReassignment" in refused.err) == (64, True)
    deletion = {
        "kind": "TopicDeletion",
        "metadata": {"cluster_id": "xyz"},
        "spec": {"topics": ["old"]},
    }
    refused = command(
        "apply", document(tmp_path / "deletion.json", deletion), "--yes", environment=environment
    )
    assert (
        refused.status,
        "is of cluster xyz; the context south is cluster abc" in refused.err,
    ) == (4, True)


def test_a_plan_keeps_its_own_throttle_and_waves(tmp_path: Path) -> None:
    defaults = {"throttle": "50MB/s", "waves": {"max_partitions": 7, "max_moves_per_broker": 3}}
    path = contexts(
        tmp_path / "c.json", {"a": {"zookeeper": {"connect": NOBODY}, "defaults": defaults}}
    )
    cluster = address_of(parse_contexts(path.read_bytes(), str(path)).contexts["a"], typed=True)
    plan = reassignment("orders", {0: [2, 3]})
    plan["spec"].update({"waves": {"max_partitions": 500}})
    found = read_plan_for(cluster, document(tmp_path / "plan.json", plan))
    assert isinstance(found, ReassignmentPlan)
    assert (found.limits.max_partitions, found.limits.max_moves_per_broker) == (500, 3)
    throttle = throttle_for(cluster, found, None)
    assert throttle is not None
    assert throttle.amount == 50_000_000
    plan["spec"]["throttle"] = {"rate": "1MB/s"}
    assert (
        throttle_for(cluster, read_plan_for(cluster, document(tmp_path / "own.json", plan)), None)
        is None
    )
    plan["spec"]["throttle"] = "none"
    meant = read_plan_for(cluster, document(tmp_path / "none.json", plan))
    assert throttle_for(cluster, meant, None) is None, "that it has none is meant"
    given = throttle_for(cluster, meant, "2MB/s")
    assert given is not None
    assert given.amount == 2_000_000
    assert throttle_for(ClusterAddress(zookeeper=NOBODY), found, None) is None


@pytest.mark.zookeeper
def test_another_cluster_than_the_context_says_is_refused(tmp_path: Path, chroot: str) -> None:
    with Store.connect(chroot) as store:
        seed(store, {"orders": {0: [1, 2]}})
        store.multi(
            [Create("/cluster", b""), Create("/cluster/id", b'{"version": "1", "id": "xyz"}')]
        )
    for wanted, status in {"abc": 4, "xyz": 0}.items():
        entry = {"zookeeper": {"connect": chroot}, "cluster_id": wanted}
        environment = {
            "KADMIN_CONFIG": str(contexts(tmp_path / "c.json", {"a": entry})),
            "KADMIN_CONTEXT": "a",
        }
        assert command("status", environment=environment).status == status


@pytest.mark.zookeeper
def test_check_reads_each_signal_and_fails_where_one_has_no_value(
    tmp_path: Path, chroot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Store.connect(chroot) as store:
        seed(store, {"orders": {0: [1, 2]}})
    with prometheus_server() as server:
        signal = {"prometheus": server.origin, "query": "up", "bearer_token": {"env": "CANARY"}}
        entry = {"zookeeper": {"connect": chroot}, "signals": {"p99": {**signal, "unit": "ms"}}}
        environment = {
            "KADMIN_CONFIG": str(contexts(tmp_path / "c.json", {"a": entry})),
            "KADMIN_CONTEXT": "a",
            "CANARY": CANARY,
        }
        shown = command("context", "check", environment=environment)
        assert shown.out.splitlines()[-1] == "signal p99: 0.05 ms"
        assert "warning: signals.p99.prometheus has no TLS" in shown.err
        server.answer = answering(401, b"")
        refused = command("context", "check", environment=environment)
        told = json.loads(command("context", "check", "-o", "json", environment=environment).out)
    assert refused.status == 6
    assert f"The signal p99 has no value from {server.origin}.\n" in refused.out
    assert "  cause: it refuses the request: 401\n" in refused.out
    assert validate_value(told, "answers/context-check") == []
    assert (told["signals"][0]["value"], told["signals"][0]["unit"]) == (None, "ms")
    assert told["signals"][0]["error"]["cause"] == "it refuses the request: 401"
    assert CANARY not in refused.out + refused.err + shown.out + shown.err


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.0481234567, SignalUnit.SECONDS, "48.1 ms"),
        (48, SignalUnit.MILLISECONDS, "48 ms"),
        (1_240_000_000_000, SignalUnit.BYTES, "1.24 TB"),
        (51_200_000.4, SignalUnit.BYTES_PER_SECOND, "51.2 MB/s"),
        (-3, None, "-3"),
    ],
)
def test_a_signal_is_shown_in_its_unit(
    file: Path, value: float, unit: SignalUnit | None, shown: str
) -> None:
    context = parse_contexts(file.read_bytes(), str(file)).contexts["east"]
    rights = RightsFound("abc", None, (), ())
    failure = UnreachableError("The signal load has no value.", cause="why", next_step="do this")
    signals = (SignalReading("p99", unit, value), SignalReading("load", None, failure))
    assert rights_text(context, rights, signals).splitlines()[2:] == [
        f"signal p99: {shown}",
        "The signal load has no value.",
        "  cause: why",
        "  next:  do this",
    ]
    told = json.loads(to_json(rights_answer(context, rights, signals)))
    assert validate_value(told, "answers/context-check") == []
    assert told["signals"] == [
        {"name": "p99", "value": value, "unit": unit, "error": None},
        {
            "name": "load",
            "value": None,
            "unit": None,
            "error": {
                "message": "The signal load has no value.",
                "cause": "why",
                "next_command": "do this",
            },
        },
    ]


@pytest.mark.zookeeper
@pytest.mark.parametrize(("typed", "status"), [("north\n", 0), ("y\n", 64)])
def test_the_name_is_asked_for_on_a_terminal(
    tmp_path: Path, chroot: str, typed: str, status: int
) -> None:
    with Store.connect(chroot) as store:
        seed(store, {"orders": {0: [1, 2]}})
        store.multi([Create("/config/brokers", b""), Create("/admin", b"")])
    entry = {"zookeeper": {"connect": chroot}, "protect": "confirm"}
    file = contexts(tmp_path / "c.json", {"north": entry})
    line = ["throttle", "set", "--rate", "1MB/s", "--broker", "1", "--yes", "--context", "north"]
    code = f"from kadmin.cli import run; raise SystemExit(run({line!r}))"
    ended, shown = in_terminal(python(code), 200, typed=typed, KADMIN_CONFIG=str(file))
    assert "(type north to go on)" in shown
    assert ended == status, shown


def test_list_and_show_answer_by_their_schemas(file: Path) -> None:
    environment = {"KADMIN_CONFIG": str(file)}
    listed = json.loads(command("context", "list", "-o", "json", environment=environment).out)
    assert validate_value(listed, "answers/context-list") == []
    assert [(each["name"], each["current"], each["protect"]) for each in listed["contexts"]][
        :2
    ] == [("east", True, "none"), ("west", False, "read-only")]
    for arguments, source in (([], "context"), (["west"], "flag")):
        shown = json.loads(
            command("context", "show", *arguments, "-o", "json", environment=environment).out
        )
        assert validate_value(shown, "answers/context-show") == []
        assert shown["settings"][0]["source"] == source
    named = command("context", "show", environment={**environment, "KADMIN_CONTEXT": "north"})
    assert "environment: KADMIN_CONTEXT" in named.out


def test_use_writes_the_file_that_a_link_leads_to_and_keeps_its_permissions(
    file: Path, tmp_path: Path
) -> None:
    file.chmod(0o600)
    link = tmp_path / "link.json"
    link.symlink_to(file)
    assert (
        command("context", "use", "north", environment={"KADMIN_CONFIG": str(link)}).out
        == "current context: north\n"
    )
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text())["current"] == "north"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["contexts.json", "link.json"]
    before = file.read_bytes()
    assert command("context", "use", "nort", environment={"KADMIN_CONFIG": str(file)}).status == 64
    assert file.read_bytes() == before


def test_kerberos_without_its_package_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    sasl = {"mechanism": "GSSAPI", "principal": "kadmin@EXAMPLE"}
    file = contexts(
        tmp_path / "contexts.json", {"it": {"zookeeper": {"connect": NOBODY, "sasl": sasl}}}
    )
    assert command("validate", file).status == 0
    answer = command("doctor", "--context", "it", environment={"KADMIN_CONFIG": str(file)})
    assert answer.status == 3
    assert (
        "zookeeper.sasl of the context it has GSSAPI, which needs the package gssapi" in answer.err
    )
    assert "next:  pip install 'kadmin-kafka[kerberos]'" in answer.err


SECRETS: dict[str, Any] = {
    "file": {"file": "secret"},
    "env": {"env": "KADMIN_TEST_CANARY"},
    "command": {"command": [sys.executable, "-c", f"print('{CANARY}')"]},
    "failing": {"command": [sys.executable, "-c", f"import sys; sys.exit('{CANARY}')"]},
    "literal": CANARY,
}


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("form", ["human", "json"])
def test_no_secret_is_in_any_output_or_error(tmp_path: Path, kind: str, form: str) -> None:
    (tmp_path / "secret").write_text(CANARY)
    (tmp_path / "ca.pem").write_text("no certificate")
    user = {"username": "u", "password": SECRETS[kind]}
    zookeeper: dict[str, Any] = {"connect": NOBODY}
    entries = {
        "digest": {"zookeeper": {**zookeeper, "digest": user}},
        "sasl": {"zookeeper": {**zookeeper, "sasl": user}},
        "tls": {"zookeeper": {**zookeeper, "tls": {"ca": "ca.pem", "key_password": SECRETS[kind]}}},
    }
    file = contexts(tmp_path / "contexts.json", entries, current="digest")
    environment = {**os.environ, "KADMIN_CONFIG": str(file), "KADMIN_TEST_CANARY": CANARY}
    lines = [["context", "list"], ["doctor", "--context", "*", "--timeout", "0.5"]]
    lines += [["context", verb, name] for verb in ("show", "check") for name in entries]
    lines += [["doctor", "--context", name, "--timeout", "0.5"] for name in entries]
    for line in lines:
        bounded = [] if line[1] != "check" else ["--timeout", "0.5"]
        answer = command(*line, *bounded, "-o", form, environment=environment)
        assert CANARY not in answer.out + answer.err, line
        assert answer.status == (
            3 if kind == "literal" else 0 if line[1] in {"list", "show"} else answer.status
        ), line
    answer = command("validate", file, environment=environment)
    assert CANARY not in answer.out + answer.err
