"""Builds contexts from a value that their schema allows, and checks rules beyond the schema."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kadmin.cluster.addresses import is_http_url
from kadmin.cluster.bootstrap import parse_bootstrap
from kadmin.cluster.connect_string import parse_connect_string
from kadmin.contexts.credentials import KerberosUser, SaslUser
from kadmin.contexts.model import Contexts, NamedContext
from kadmin.diagnostics import Diagnostic
from kadmin.errors import InvalidInputError
from kadmin.plan import codes
from kadmin.schema.documents import ImpossibleAmountsError, read
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kadmin.diagnostics import Field

_SASL_FIELDS = {
    user.mechanism: {each.name: each.default is MISSING for each in fields(user)}
    for user in (SaslUser, KerberosUser)
}
"""The fields of each mechanism of SASL, and whether it needs them."""
_A_REFERENCE = (
    "a secret is not written here",
    "write {file: PATH}, {env: NAME} or {command: [PROGRAM, ARGUMENT]}",
)
_A_URL = (
    "this is no URL of a server; it may hold a secret, and is not shown",
    "write https://HOST:PORT/PATH up to /api/v1/query, without blank, user, password, ? and #",
)
_UNSHOWN = {
    "password": _A_REFERENCE,
    "key_password": _A_REFERENCE,
    "bearer_token": _A_REFERENCE,
    "prometheus": _A_URL,
}


def words_for_secret(path: Field) -> tuple[str, str] | None:
    """Return message and next step for a field that may hold a secret, or is below one.

    Its value is never shown. None for every other field.
    """
    # The names of a context and of a signal are no fields.
    fields_only = path[4:] if path[2:3] == ("signals",) else path[2:]
    return next((_UNSHOWN[str(key)] for key in fields_only if key in _UNSHOWN), None)


def check_contexts(value: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield the problems of contexts whose schema holds."""
    current, contexts = value.get("current"), value["contexts"]
    if current is not None and current not in contexts:
        context_names = f"there are {name_some(contexts)}" if contexts else "there is none"
        yield Diagnostic(
            codes.NOT_ALLOWED, f"there is no context {current}", context_names, field=("current",)
        )
    for name, entry in contexts.items():
        yield from _check_context(entry, ("contexts", name))


def build_contexts(value: Mapping[str, Any], folder: Path) -> Contexts:
    """Return the contexts of a value without problems in `check_contexts`.

    Relative paths begin at `folder`.
    """
    contexts = {
        name: _anchored(read(NamedContext, entry, name=name), folder)
        for name, entry in value["contexts"].items()
    }
    return Contexts(contexts, value.get("current"))


def _check_context(entry: Mapping[str, Any], field: Field) -> Iterator[Diagnostic]:
    zookeeper, kafka = entry.get("zookeeper"), entry.get("kafka", {})
    if zookeeper is None and "bootstrap_servers" not in kafka:
        next_step = "add zookeeper.connect or kafka.bootstrap_servers"
        yield Diagnostic(codes.MISSING_FIELD, "the context has no address", next_step, field=field)
    if zookeeper is not None:
        yield from _refused(
            parse_connect_string, zookeeper["connect"], (*field, "zookeeper", "connect")
        )
        if "sasl" in zookeeper:
            yield from _check_sasl(zookeeper["sasl"], (*field, "zookeeper", "sasl"))
        yield from _check_tls(zookeeper, (*field, "zookeeper"))
        if "records" in kafka:
            message = "records goes with a cluster that is reached through its brokers"
            yield Diagnostic(
                codes.CONTRADICTION, message, "remove it", field=(*field, "kafka", "records")
            )
    if "bootstrap_servers" in kafka:
        yield from _refused(
            parse_bootstrap, kafka["bootstrap_servers"], (*field, "kafka", "bootstrap_servers")
        )
    for name, signal in entry.get("signals", {}).items():
        yield from _check_signal(signal, (*field, "signals", name))
    try:
        read(NamedContext, entry, name="")
    except ImpossibleAmountsError as error:
        for path, message in error.problems:
            yield Diagnostic(codes.MALFORMED, message, field=(*field, *path))


def _check_tls(entry: Mapping[str, Any], field: Field) -> Iterator[Diagnostic]:
    tls = entry.get("tls", {})
    if ("key" in tls) != ("certificate" in tls):
        message = "a certificate and its key belong together"
        yield Diagnostic(codes.MISSING_FIELD, message, "write both", field=(*field, "tls"))


def _check_signal(signal: Mapping[str, Any], field: Field) -> Iterator[Diagnostic]:
    url = signal["prometheus"]
    if not is_http_url(url) or not {"?", "#"}.isdisjoint(url):
        yield Diagnostic(codes.MALFORMED, *_A_URL, field=(*field, "prometheus"))
    elif "tls" in signal and urlsplit(url).scheme == "http":
        message = "tls goes with an https URL"
        yield Diagnostic(codes.CONTRADICTION, message, "remove it", field=(*field, "tls"))
    if "basic_auth" in signal and "bearer_token" in signal:
        message = "basic_auth and bearer_token exclude each other"
        yield Diagnostic(codes.CONTRADICTION, message, "remove one of them", field=field)
    yield from _check_tls(signal, field)


def _check_sasl(sasl: Mapping[str, Any], field: Field) -> Iterator[Diagnostic]:
    """Yield the mechanism's fields that are missing, and fields of another mechanism."""
    mechanism = _mechanism(sasl)
    for owner, needs in _SASL_FIELDS.items():
        for name, required in needs.items():
            if owner == mechanism and required and name not in sasl:
                next_step = (
                    f"{mechanism} needs "
                    f"{name_some(each for each, needed in needs.items() if needed)}"
                )
                yield Diagnostic(
                    codes.MISSING_FIELD, f"the field {name} is missing", next_step, field=field
                )
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
        yield Diagnostic(
            codes.MALFORMED, error.cause or error.message, error.next_step, field=field
        )


def _anchored(value: Any, folder: Path) -> Any:  # noqa: ANN401 - any value of a context
    """Return a value whose relative paths begin at a folder."""
    if isinstance(value, Path):
        return folder / value.expanduser()
    if isinstance(value, dict):
        return {name: _anchored(each, folder) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value,
            **{each.name: _anchored(getattr(value, each.name), folder) for each in fields(value)},
        )
    return value
