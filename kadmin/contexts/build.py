"""Builds contexts from a value that their schema allows, and checks the rules that the schema cannot express."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kadmin.cluster.bootstrap import parse_bootstrap
from kadmin.cluster.connect_string import parse_connect_string
from kadmin.contexts.model import (
    WAVE_SIZES,
    ZOOKEEPER_SERVICE,
    Contexts,
    KafkaAccess,
    KerberosUser,
    NamedContext,
    Protection,
    SaslUser,
    SecretCommand,
    SecretFile,
    SecretVariable,
    TlsFiles,
    User,
    ZooKeeperAccess,
)
from kadmin.diagnostics import Diagnostic
from kadmin.errors import InvalidInputError
from kadmin.plan import codes
from kadmin.plan.model import ThrottleBy, ThrottleSpec
from kadmin.plan.units import parse_rate, parse_size
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kadmin.contexts.model import SecretReference
    from kadmin.diagnostics import Field

_SASL_FIELDS = {
    SaslUser.mechanism: {"username": True, "password": True},
    KerberosUser.mechanism: {"principal": True, "keytab": False, "service": False},
}
"""The fields of each mechanism of SASL, and whether it needs them."""
_SECRETS = frozenset({"password", "key_password"})
SECRETS_BELONG_ELSEWHERE = "a secret is not written here"
WRITE_A_REFERENCE = "write {file: PATH}, {env: NAME} or {command: [PROGRAM, ARGUMENT]}"


def holds_secret(path: Field) -> bool:
    """Whether a field of a contexts file names a secret, or is below one: its value is never shown."""
    return not _SECRETS.isdisjoint(path[2:])


def check_contexts(value: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield the problems of contexts whose schema holds."""
    current, contexts = value.get("current"), value["contexts"]
    if current is not None and current not in contexts:
        known = f"there are {name_some(contexts)}" if contexts else "there is none"
        yield Diagnostic(codes.NOT_ALLOWED, f"there is no context {current}", known, field=("current",))
    for name, entry in contexts.items():
        yield from _check_context(entry, ("contexts", name))


def build_contexts(value: Mapping[str, Any], folder: Path) -> Contexts:
    """Return the contexts of a value without problems in `check_contexts`; relative paths begin at `folder`."""
    contexts = {name: _Builder(folder).context(name, entry) for name, entry in value["contexts"].items()}
    return Contexts(contexts, value.get("current"))


def _check_context(entry: Mapping[str, Any], field: Field) -> Iterator[Diagnostic]:
    zookeeper, kafka = entry.get("zookeeper"), entry.get("kafka", {})
    if zookeeper is None and "bootstrap_servers" not in kafka:
        next_step = "add zookeeper.connect or kafka.bootstrap_servers"
        yield Diagnostic(codes.MISSING_FIELD, "the context has no address", next_step, field=field)
    if zookeeper is not None:
        yield from _refused(parse_connect_string, zookeeper["connect"], (*field, "zookeeper", "connect"))
        if "sasl" in zookeeper:
            yield from _check_sasl(zookeeper["sasl"], (*field, "zookeeper", "sasl"))
        tls = zookeeper.get("tls", {})
        if ("key" in tls) != ("certificate" in tls):
            message = "a certificate and its key belong together"
            yield Diagnostic(codes.MISSING_FIELD, message, "write both", field=(*field, "zookeeper", "tls"))
        if "records" in kafka:
            message = "records goes with a cluster that is reached through its brokers"
            yield Diagnostic(codes.CONTRADICTION, message, "remove it", field=(*field, "kafka", "records"))
    if "bootstrap_servers" in kafka:
        yield from _refused(parse_bootstrap, kafka["bootstrap_servers"], (*field, "kafka", "bootstrap_servers"))
    defaults = entry.get("defaults", {})
    if "throttle" in defaults:
        yield from _positive(parse_rate, defaults["throttle"], (*field, "defaults", "throttle"))
    for name in WAVE_SIZES:
        if name in (waves := defaults.get("waves", {})):
            yield from _positive(parse_size, waves[name], (*field, "defaults", "waves", name))


def _check_sasl(sasl: Mapping[str, Any], field: Field) -> Iterator[Diagnostic]:
    """Yield the fields that the mechanism needs and are not there, and those that are another mechanism's."""
    mechanism = _mechanism(sasl)
    for owner, fields in _SASL_FIELDS.items():
        for name, required in fields.items():
            if owner == mechanism and required and name not in sasl:
                next_step = f"{mechanism} needs {name_some(each for each, needed in fields.items() if needed)}"
                yield Diagnostic(codes.MISSING_FIELD, f"the field {name} is missing", next_step, field=field)
            elif owner != mechanism and name in sasl:
                message = f"{name} goes with {owner}, and the mechanism is {mechanism}"
                yield Diagnostic(codes.CONTRADICTION, message, "remove it", field=(*field, name))


def _mechanism(sasl: Mapping[str, Any]) -> str:
    found: str = sasl.get("mechanism", SaslUser.mechanism)
    return found


def _refused(parse: Callable[[str], object], text: str, field: Field) -> Iterator[Diagnostic]:
    try:
        parse(text)
    except InvalidInputError as error:
        yield Diagnostic(codes.MALFORMED, error.cause or error.message, error.next_step, field=field)


def _positive(parse: Callable[[str], int], text: str, field: Field) -> Iterator[Diagnostic]:
    try:
        problem = None if parse(text) else f"{text} would let nothing through"
    except ValueError as error:
        problem = str(error)
    if problem is not None:
        yield Diagnostic(codes.MALFORMED, problem, field=field)


class _Builder:
    """Builds the values of one file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def context(self, name: str, entry: Mapping[str, Any]) -> NamedContext:
        kafka, defaults, allow = entry.get("kafka", {}), entry.get("defaults", {}), entry.get("allow")
        rate, waves = defaults.get("throttle"), defaults.get("waves", {})
        return NamedContext(
            name,
            entry.get("description"),
            entry.get("cluster_id"),
            self._zookeeper(entry["zookeeper"]) if "zookeeper" in entry else None,
            KafkaAccess(
                kafka.get("bootstrap_servers"), self._path(kafka, "command_config"), self._path(kafka, "records")
            ),
            self._path(entry, "policy"),
            self._path(entry, "inventory"),
            Protection(entry.get("protect", Protection.NONE)),
            None if allow is None else frozenset(allow),
            None if rate is None else ThrottleSpec(ThrottleBy.RATE, parse_rate(rate)),
            {each: parse_size(amount) if each in WAVE_SIZES else amount for each, amount in waves.items()},
        )

    def _zookeeper(self, entry: Mapping[str, Any]) -> ZooKeeperAccess:
        sasl, digest, tls = entry.get("sasl"), entry.get("digest"), entry.get("tls")
        return ZooKeeperAccess(
            entry["connect"],
            None if sasl is None else self._sasl(sasl),
            None if digest is None else User(digest["username"], self._secret(digest["password"])),
            None if tls is None else self._tls(tls),
        )

    def _sasl(self, entry: Mapping[str, Any]) -> SaslUser | KerberosUser:
        if _mechanism(entry) == SaslUser.mechanism:
            return SaslUser(entry["username"], self._secret(entry["password"]))
        return KerberosUser(entry["principal"], self._path(entry, "keytab"), entry.get("service", ZOOKEEPER_SERVICE))

    def _tls(self, entry: Mapping[str, Any]) -> TlsFiles:
        password = self._secret(entry["key_password"]) if "key_password" in entry else None
        return TlsFiles(
            self._absolute(entry["ca"]), self._path(entry, "certificate"), self._path(entry, "key"), password
        )

    def _secret(self, entry: Mapping[str, Any]) -> SecretReference:
        if "file" in entry:
            return SecretFile(self._absolute(entry["file"]))
        if "env" in entry:
            return SecretVariable(entry["env"])
        program, *arguments = entry["command"]
        return SecretCommand(program, tuple(arguments), self._folder)

    def _path(self, entry: Mapping[str, Any], name: str) -> Path | None:
        return self._absolute(entry[name]) if name in entry else None

    def _absolute(self, text: str) -> Path:
        return self._folder / Path(text).expanduser()
