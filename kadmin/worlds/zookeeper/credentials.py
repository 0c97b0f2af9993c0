"""Builds the ZooKeeper credentials of a context.

Its secrets are read here, when a command connects.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError

if TYPE_CHECKING:
    from kadmin.cluster.kerberos import Kerberos
    from kadmin.contexts.credentials import KerberosUser, SecretReference
    from kadmin.contexts.model import NamedContext
    from kadmin.worlds.zookeeper.wire.authentication import Authentication


def authentication_of(context: NamedContext | None, within_s: float) -> Authentication | None:
    """Return kadmin's credentials for ZooKeeper; None without a context.

    Programs that print secrets have `within_s` in all. Raises NotAuthorizedError for a secret that
    cannot be had, InvalidInputError where a package is missing.
    """
    from kadmin.contexts.credentials import SaslUser
    from kadmin.contexts.secrets import read_secret, read_tls
    from kadmin.worlds.zookeeper.wire.authentication import Authentication, Digest, Sasl

    if context is None or context.zookeeper is None:
        return None
    until = time.monotonic() + within_s

    def secret(reference: SecretReference) -> str:
        return read_secret(reference, until - time.monotonic())

    access = context.zookeeper
    sasl, digest, tls = access.sasl, access.digest, access.tls
    return Authentication(
        Sasl(sasl.username, secret(sasl.password))
        if isinstance(sasl, SaslUser)
        else _kerberos(sasl, context.name),
        None if digest is None else Digest(digest.username, secret(digest.password)),
        None if tls is None else read_tls(tls, until - time.monotonic()),
    )


def _kerberos(user: KerberosUser | None, context: str) -> Kerberos | None:
    from kadmin.cluster.kerberos import Kerberos

    if user is None:
        return None
    if find_spec("gssapi") is None:
        raise InvalidInputError(
            f"zookeeper.sasl of the context {context} has GSSAPI, which needs the package gssapi.",
            next_step="pip install 'kadmin-kafka[kerberos]'",
        )
    return Kerberos(user.service, user.principal, None if user.keytab is None else str(user.keytab))
