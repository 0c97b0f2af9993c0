"""Every value of a context, and its source: option, environment, context, or default."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from kadmin.contexts.credentials import ZOOKEEPER_SERVICE, KerberosUser
from kadmin.contexts.model import WAVE_SIZES, Protection
from kadmin.plan.model import WaveLimits
from kadmin.plan.units import format_rate, format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.contexts.credentials import SaslUser, TlsFiles, User
    from kadmin.contexts.model import Contexts, NamedContext

CONTEXT_VARIABLE = "KADMIN_CONTEXT"
POLICY_VARIABLE = "KADMIN_POLICY"
_ALL = "every kind"


class Source(StrEnum):
    """The source of a value; the first source in this order that has one takes precedence."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    CONTEXT = "context"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Setting:
    """A value as text, None where there is none.

    `origin` is the option, the variable or the file that has it. Of a secret the text is the
    reference.
    """

    name: Annotated[str, "The setting, as zookeeper.connect."]
    value: Annotated[str | None, "Its value; of a secret where it is, never the secret."]
    source: Annotated[Source, "Where the value comes from."]
    origin: Annotated[
        str, "The option, the variable or the file that has it; empty for a default."
    ] = ""
    secret: Annotated[bool, "Whether the value is a reference to a secret."] = False


def name_of(environment: Mapping[str, str], contexts: Contexts, file: str) -> Setting:
    """Return the context of commands that name none: that of KADMIN_CONTEXT, or the current one."""
    if environment.get(CONTEXT_VARIABLE):
        return Setting(
            "context", environment[CONTEXT_VARIABLE], Source.ENVIRONMENT, CONTEXT_VARIABLE
        )
    if contexts.current is not None:
        return Setting("context", contexts.current, Source.CONTEXT, f"current in {file}")
    return Setting("context", None, Source.DEFAULT)


def settings_of(
    context: NamedContext, environment: Mapping[str, str], file: str
) -> Iterator[Setting]:
    """Yield every value that commands use with a context."""
    rows = [*_address(context), *_behaviour(context), *_signals(context)]
    variable = environment.get(POLICY_VARIABLE)
    for name, value, default, secret in rows:
        if name == "policy" and variable:
            yield Setting(name, variable, Source.ENVIRONMENT, POLICY_VARIABLE)
        elif value is not None:
            yield Setting(name, value, Source.CONTEXT, file, secret)
        else:
            yield Setting(name, default, Source.DEFAULT)


def _address(context: NamedContext) -> Iterator[tuple[str, str | None, str | None, bool]]:
    yield "description", context.description, None, False
    yield "cluster_id", context.cluster_id, None, False
    zookeeper, kafka = context.zookeeper, context.kafka
    yield "zookeeper.connect", None if zookeeper is None else zookeeper.connect, None, False
    if zookeeper is not None:
        yield from _sasl(zookeeper.sasl)
        yield from _user("zookeeper.digest", zookeeper.digest)
        yield from _tls("zookeeper.tls", zookeeper.tls)
    yield "kafka.bootstrap_servers", kafka.bootstrap_servers, None, False
    yield "kafka.command_config", _text(kafka.command_config), None, False
    yield "kafka.records", _text(kafka.records), None, False


def _sasl(
    user: SaslUser | KerberosUser | None,
) -> Iterator[tuple[str, str | None, str | None, bool]]:
    if user is not None:
        yield "zookeeper.sasl.mechanism", user.mechanism, None, False
    if isinstance(user, KerberosUser):
        service = None if user.service == ZOOKEEPER_SERVICE else user.service
        yield "zookeeper.sasl.principal", user.principal, None, False
        yield "zookeeper.sasl.keytab", _text(user.keytab), None, False
        yield "zookeeper.sasl.service", service, ZOOKEEPER_SERVICE, False
    else:
        yield from _user("zookeeper.sasl", user)


def _user(prefix: str, user: User | None) -> Iterator[tuple[str, str | None, str | None, bool]]:
    if user is not None:
        yield f"{prefix}.username", user.username, None, False
        yield f"{prefix}.password", str(user.password), None, True


def _tls(prefix: str, tls: TlsFiles | None) -> Iterator[tuple[str, str | None, str | None, bool]]:
    if tls is not None:
        yield f"{prefix}.ca", str(tls.ca), None, False
        yield f"{prefix}.certificate", _text(tls.certificate), None, False
        yield f"{prefix}.key", _text(tls.key), None, False
        yield f"{prefix}.key_password", _text(tls.key_password), None, True


def _signals(context: NamedContext) -> Iterator[tuple[str, str | None, str | None, bool]]:
    for name, signal in context.signals.items():
        prefix = f"signals.{name}"
        yield f"{prefix}.prometheus", signal.prometheus, None, False
        yield f"{prefix}.query", signal.query, None, False
        yield f"{prefix}.unit", _text(signal.unit), None, False
        yield from _user(f"{prefix}.basic_auth", signal.basic_auth)
        if signal.bearer_token is not None:
            yield f"{prefix}.bearer_token", str(signal.bearer_token), None, True
        yield from _tls(f"{prefix}.tls", signal.tls)


def _behaviour(context: NamedContext) -> Iterator[tuple[str, str | None, str | None, bool]]:
    yield "policy", _text(context.policy), None, False
    yield "inventory", _text(context.inventory), None, False
    protect = context.protect
    yield (
        "protect",
        None if protect is Protection.NONE else protect.value,
        Protection.NONE.value,
        False,
    )
    yield (
        "allow",
        None if context.allow is None else ", ".join(sorted(context.allow)) or "none",
        _ALL,
        False,
    )
    throttle = context.throttle
    yield (
        "defaults.throttle",
        None if throttle is None else format_rate(throttle.amount),
        None,
        False,
    )
    usual = WaveLimits()
    for name in usual.__slots__:
        write = format_size if name in WAVE_SIZES else str
        given, default = context.waves.get(name), getattr(usual, name)
        yield (
            f"defaults.waves.{name}",
            None if given is None else write(given),
            None if default is None else write(default),
            False,
        )


def _text(value: object) -> str | None:
    return None if value is None else str(value)
