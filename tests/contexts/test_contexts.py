"""Contexts: what a file may say, what `use` leaves alone, where values come from, and secrets that
are never shown.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.documents.invariants import check_document, is_valid

from kadmin.contexts.credentials import (
    KerberosUser,
    SaslUser,
    SecretCommand,
    SecretFile,
    SecretVariable,
    TlsFiles,
    User,
)
from kadmin.contexts.model import Protection, Signal, SignalUnit
from kadmin.contexts.secrets import read_secret
from kadmin.contexts.settings import Source, settings_of
from kadmin.documents.check import examine
from kadmin.documents.current_context import with_current
from kadmin.documents.parse import parse_contexts
from kadmin.errors import InvalidInputError, NotAuthorizedError
from kadmin.plan.model import ThrottleBy, ThrottleSpec

FILE = "/etc/kadmin/contexts.yaml"
WHOLE = b"""\
# of the platform team
apiVersion: kadmin/v1
kind: Contexts
current: prod-eu   # the usual one
contexts:
  prod-eu:
    cluster_id: abc
    zookeeper:
      connect: "zk1:2181,zk2:2181/kafka"
      sasl: {mechanism: DIGEST-MD5, username: kadmin, password: {file: zk.secret}}
      tls: {ca: ca.pem, certificate: me.pem, key: me.key, key_password: {env: KEY_PASSWORD}}
    kafka: {bootstrap_servers: "b1:9093", command_config: client.properties}
    policy: policy.yaml
    inventory: inventories/prod-eu
    protect: confirm            # none | confirm (type the name) | read-only
    allow: [PartitionReassignment]
    defaults: {throttle: 50MB/s, waves: {max_partitions: 10, max_bytes: 5GB}}
    signals:
      produce_p99:
        prometheus: https://prometheus.example.com/eu
        query: max(request_seconds)
        unit: s
        basic_auth: {username: kadmin, password: {file: prometheus.secret}}
        tls: {ca: prometheus.pem}
      load: {prometheus: "http://p:9090", query: node_load1, bearer_token: {env: TOKEN}}
  dev: {kafka: {bootstrap_servers: "localhost:9092"}}
"""
SECRET = "hunter2-canary"  # noqa: S105 - a canary


def problems(value: dict[str, Any] | str) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value)
    return [
        f"{each.path} {each.message}" for each in check_document(text.encode(), "contexts.yaml")[1]
    ]


def one(**entry: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a context
    return {"kind": "Contexts", "contexts": {"a": {"zookeeper": {"connect": "zk:1"}, **entry}}}


def sasl(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    return one(zookeeper={"connect": "zk:1", "sasl": fields})


def signal(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    return one(signals={"p99": {"prometheus": "https://p:9090", "query": "up", **fields}})


def test_a_file_is_read_whole_with_paths_from_its_folder() -> None:
    contexts = parse_contexts(WHOLE, FILE)
    found = contexts.contexts["prod-eu"]
    assert contexts.current == "prod-eu"
    assert found.zookeeper is not None
    assert isinstance(found.zookeeper.sasl, SaslUser)
    assert found.zookeeper.tls is not None
    assert found.zookeeper.sasl.password == SecretFile(Path("/etc/kadmin/zk.secret"))
    assert found.zookeeper.tls.key_password == SecretVariable("KEY_PASSWORD")
    assert found.kafka.command_config == Path("/etc/kadmin/client.properties")
    assert found.inventory == Path("/etc/kadmin/inventories/prod-eu")
    assert (found.protect, found.allow) == (
        Protection.CONFIRM,
        frozenset({"PartitionReassignment"}),
    )
    assert found.throttle == ThrottleSpec(ThrottleBy.RATE, 50_000_000)
    assert found.waves == {"max_partitions": 10, "max_bytes": 5_000_000_000}
    assert found.signals == {
        "produce_p99": Signal(
            "https://prometheus.example.com/eu",
            "max(request_seconds)",
            SignalUnit.SECONDS,
            User("kadmin", SecretFile(Path("/etc/kadmin/prometheus.secret"))),
            tls=TlsFiles(Path("/etc/kadmin/prometheus.pem")),
        ),
        "load": Signal("http://p:9090", "node_load1", bearer_token=SecretVariable("TOKEN")),
    }
    assert (found.address, contexts.contexts["dev"].address) == (
        "zk1:2181,zk2:2181/kafka",
        "localhost:9092",
    )


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"kind": "Contexts", "current": "b", "contexts": {}}, "$.current there is no context b"),
        ({"kind": "Contexts", "contexts": {"a": {}}}, "$.contexts.a the context has no address"),
        (one(zookeeper={"connect": "zk"}), "$.contexts.a.zookeeper.connect 'zk' has no port"),
        (
            one(kafka={"bootstrap_servers": "b"}),
            "$.contexts.a.kafka.bootstrap_servers 'b' has no port",
        ),
        (one(kafka={"records": "r"}), "$.contexts.a.kafka.records records goes with"),
        (
            one(zookeeper={"connect": "z:1", "tls": {"ca": "a", "key": "k"}}),
            "a certificate and its key belong together",
        ),
        (sasl(username="u"), "$.contexts.a.zookeeper.sasl the field password is missing"),
        (sasl(mechanism="GSSAPI"), "$.contexts.a.zookeeper.sasl the field principal is missing"),
        (
            sasl(mechanism="GSSAPI", principal="u", username="u"),
            (
                "$.contexts.a.zookeeper.sasl.username username goes with DIGEST-MD5, and the "
                "mechanism is GSSAPI"
            ),
        ),
        (
            sasl(username="u", password={"env": "P"}, keytab="k"),
            (
                "$.contexts.a.zookeeper.sasl.keytab keytab goes with GSSAPI, and the mechanism is "
                "DIGEST-MD5"
            ),
        ),
        (sasl(mechanism="PLAIN"), "mechanism is one of DIGEST-MD5, GSSAPI"),
        (
            one(defaults={"throttle": "0B/s"}),
            "$.contexts.a.defaults.throttle 0B/s would let nothing through",
        ),
        (one(defaults={"throttle": "50"}), "has no unit"),
        (one(protect="maybe"), "protection is one of none, confirm, read-only"),
        (one(allow=["Policy"]), "kind is one of PartitionReassignment"),
        (one(passwort="x"), "unknown field passwort"),
        ({"kind": "Contexts", "contexts": {"a*": {}}}, "is not a valid context name"),
        (signal(prometheus="ftp://p:9090"), "$.contexts.a.signals.p99.prometheus this is no URL"),
        (signal(prometheus="http://p:9090?tenant=a"), "prometheus this is no URL"),
        (signal(prometheus=9090), "$.contexts.a.signals.p99.prometheus this is no URL"),
        (signal(query=" "), "is not a valid query"),
        (signal(unit="seconds"), "unit is one of s, ms, B, B/s"),
        (signal(prometheus="http://p:1", tls={"ca": "a"}), "p99.tls tls goes with an https URL"),
        (signal(tls={"ca": "a", "key": "k"}), "a certificate and its key belong together"),
        (
            signal(
                basic_auth={"username": "u", "password": {"env": "P"}}, bearer_token={"env": "T"}
            ),
            "$.contexts.a.signals.p99 basic_auth and bearer_token exclude each other",
        ),
        (one(signals={"p99": {"query": "up"}}), "the field prometheus is missing"),
        (one(signals={"p 99": {}}), "is not a valid signal name"),
        (
            one(signals={"prometheus": {"prometheus": "http://p:1", "query": 5}}),
            "$.contexts.a.signals.prometheus.query 5 is a number",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(value: dict[str, Any], problem: str) -> None:
    assert any(problem in each for each in problems(value)), problems(value)


@pytest.mark.parametrize(
    "password",
    [
        f'"{SECRET}"',
        SECRET,
        f"&{SECRET} x",
        f"*{SECRET}",
        f"!{SECRET} x",
        f"[{SECRET}]",
        f"{{value: {SECRET}}}",
    ],
)
@pytest.mark.parametrize("ending", ["", "\n  - ] broken"])
def test_a_secret_that_is_written_into_the_file_is_in_no_message(
    password: str, ending: str
) -> None:
    sasl = f"{{username: u, password: {password}}}"
    text = (
        "kind: Contexts\ncontexts:\n  a:\n    zookeeper: {connect: 'z:1', sasl: "
        f"{sasl}}}{ending}\n"
    )
    checked = examine(text.encode(), "contexts.yaml")
    assert not is_valid(checked)
    assert SECRET not in repr(checked.problems)
    assert checked.text == ""
    with pytest.raises(InvalidInputError) as raised:
        parse_contexts(text.encode(), "contexts.yaml")
    assert SECRET not in "".join(raised.value.lines())


def test_a_number_for_a_password_is_in_no_message() -> None:
    text = (
        "kind: Contexts\ncontexts: {a: {zookeeper: {connect: 'z:1', digest: {username: u, "
        "password: 012345}}}}\n"
    )
    assert problems(text) == ["$.contexts.a.zookeeper.digest.password a secret is not written here"]


@pytest.mark.parametrize(
    "fields",
    [
        {"prometheus": f"https://me:{SECRET}@p:9090"},
        {"prometheus": f"https://p:9090/?token={SECRET}"},
        {"prometheus": f"{SECRET}\n"},
        {"prometheus": [f"https://me:{SECRET}@p:9090"]},
        {"basic_auth": {"username": "u", "password": SECRET}},
        {"bearer_token": SECRET},
        {"bearer_token": {"env": f"{SECRET} "}},
        {"tls": {"ca": "a", "key_password": SECRET}},
    ],
)
def test_a_secret_of_a_signal_is_in_no_message(fields: dict[str, Any]) -> None:
    text = json.dumps(signal(**fields))
    assert problems(text)
    assert SECRET not in repr(examine(text.encode(), "contexts.yaml").problems)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (WHOLE, WHOLE.replace(b"current: prod-eu ", b"current: dev ")),
        (
            WHOLE.replace(b"\n", b"\r\n"),
            WHOLE.replace(b"current: prod-eu ", b"current: dev ").replace(b"\n", b"\r\n"),
        ),
        (
            b"\xef\xbb\xbf" + WHOLE,
            b"\xef\xbb\xbf" + WHOLE.replace(b"current: prod-eu ", b"current: dev "),
        ),
        (
            WHOLE.replace(b"current: prod-eu   # the usual one\n", b"# current: dev\n"),
            WHOLE.replace(
                b"current: prod-eu   # the usual one\n", b"# current: dev\ncurrent: dev\n"
            ),
        ),
        (
            WHOLE.replace(b"t: prod-eu ", b"t: 'prod-eu' "),
            WHOLE.replace(b"t: prod-eu ", b"t: dev "),
        ),
        (
            WHOLE.replace(b"t: prod-eu ", b't: "prod\\u002deu" '),
            WHOLE.replace(b"t: prod-eu ", b"t: dev "),
        ),
    ],
    ids=["plain", "crlf", "bom", "absent", "quoted", "escaped"],
)
def test_use_replaces_one_value_and_no_other_byte(text: bytes, expected: bytes) -> None:
    assert with_current(text, "contexts.yaml", "dev") == expected


TWO = (
    '{"dev": {"kafka": {"bootstrap_servers": "b:1"}}, "no": {"kafka": {"bootstrap_servers": '
    '"b:1"}}}'
)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"kind": "Contexts", "current": "dev", "contexts": {TWO}}}',
        f'{{"contexts": {TWO}, "kind": "Contexts"}}',
        f"{{kind: Contexts, contexts: {TWO}}}",
        f"---\n'contexts': {TWO}\nkind: Contexts\ncurrent:\n  dev\n",
        f"contexts: {TWO} # current: dev\nkind: Contexts",
    ],
)
def test_use_in_any_layout_gives_the_same_contexts(text: str) -> None:
    """`no` is a name that older readers of YAML take for False."""
    source = "contexts.json" if text.startswith('{"') else "contexts.yaml"
    before = examine(text.encode(), source).value
    after = with_current(text.encode(), source, "no")
    assert examine(after, source).value == {**before, "current": "no"}
    assert b"current: no" not in after


def test_use_says_so_where_a_layout_has_no_place_for_it() -> None:
    text = WHOLE.replace(b"current: prod-eu   # the usual one\n", b"current: >-\n  prod-eu\n")
    with pytest.raises(InvalidInputError, match="cannot be replaced in this layout"):
        with_current(text, "contexts.yaml", "dev")


def test_every_value_says_where_it_comes_from() -> None:
    context = parse_contexts(WHOLE, FILE).contexts["prod-eu"]
    found = {each.name: each for each in settings_of(context, {"KADMIN_POLICY": "mine.yaml"}, FILE)}
    policy, password = found["policy"], found["zookeeper.sasl.password"]
    assert (policy.value, policy.source, policy.origin) == (
        "mine.yaml",
        Source.ENVIRONMENT,
        "KADMIN_POLICY",
    )
    assert (password.value, password.secret) == ("file /etc/kadmin/zk.secret", True)
    assert (found["defaults.waves.max_bytes"].value, found["defaults.waves.max_bytes"].source) == (
        "5GB",
        Source.CONTEXT,
    )
    assert found["defaults.waves.max_payload"].source is Source.DEFAULT
    signals = {
        name.removeprefix("signals."): (each.value, each.secret)
        for name, each in found.items()
        if name.startswith("signals.") and each.value is not None
    }
    assert signals == {
        "produce_p99.prometheus": ("https://prometheus.example.com/eu", False),
        "produce_p99.query": ("max(request_seconds)", False),
        "produce_p99.unit": ("s", False),
        "produce_p99.basic_auth.username": ("kadmin", False),
        "produce_p99.basic_auth.password": ("file /etc/kadmin/prometheus.secret", True),
        "produce_p99.tls.ca": ("/etc/kadmin/prometheus.pem", False),
        "load.prometheus": ("http://p:9090", False),
        "load.query": ("node_load1", False),
        "load.bearer_token": ("variable TOKEN", True),
    }


def test_a_user_of_kerberos_has_a_key_table_from_the_folder_of_the_file() -> None:
    text = json.dumps(sasl(mechanism="GSSAPI", principal="kadmin@EXAMPLE", keytab="me.keytab"))
    context = parse_contexts(text.encode(), "/etc/kadmin/contexts.json").contexts["a"]
    assert context.zookeeper is not None
    assert context.zookeeper.sasl == KerberosUser(
        "kadmin@EXAMPLE", Path("/etc/kadmin/me.keytab"), "zookeeper"
    )
    found = {each.name: (each.value, each.source) for each in settings_of(context, {}, FILE)}
    assert found["zookeeper.sasl.mechanism"] == ("GSSAPI", Source.CONTEXT)
    assert found["zookeeper.sasl.principal"] == ("kadmin@EXAMPLE", Source.CONTEXT)
    assert found["zookeeper.sasl.keytab"] == ("/etc/kadmin/me.keytab", Source.CONTEXT)
    assert found["zookeeper.sasl.service"] == ("zookeeper", Source.DEFAULT)


def test_secrets_are_read_from_a_file_a_variable_or_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\r\n")
    monkeypatch.setenv("KADMIN_TEST_SECRET", SECRET)
    program = SecretCommand(
        sys.executable, ("-c", "print(open('secret').read(), end='')"), tmp_path
    )
    for reference in (
        SecretFile(tmp_path / "secret"),
        SecretVariable("KADMIN_TEST_SECRET"),
        program,
    ):
        assert read_secret(reference) == SECRET
        assert SECRET not in f"{reference} {reference!r}"


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (
            f"import sys; print('{SECRET}'); print('{SECRET}', file=sys.stderr); sys.exit(3)",
            "it ended with 3",
        ),
        ("pass", "it is empty"),
        (f"import sys; sys.stdout.buffer.write(b'{SECRET}\\xff')", "it is not UTF-8 text"),
        (
            f"print('{SECRET}', flush=True); import threading; threading.Event().wait()",
            "it did not end within 1 s",
        ),
    ],
)
def test_a_secret_that_cannot_be_had_is_named_by_its_reference(
    code: str, cause: str, tmp_path: Path
) -> None:
    reference = SecretCommand(sys.executable, ("-c", code), tmp_path)
    with pytest.raises(NotAuthorizedError) as raised:
        read_secret(reference, 1.0 if "wait" in code else 60.0)
    assert raised.value.cause == cause
    assert SECRET not in "".join(raised.value.lines()) + repr(raised.value) + repr(reference)
