"""Makes the credentials of a context; its secrets are read here, when a command connects."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kadmin.cluster.zookeeper.authentication import Authentication
    from kadmin.contexts.model import NamedContext, SecretReference


def authentication_of(context: NamedContext | None, within_s: float) -> Authentication | None:
    """Return who kadmin is for ZooKeeper; None without a context.

    Programs that print secrets have `within_s` in all. Raises NotAuthorizedError for a secret that cannot be had.
    """
    from kadmin.cluster.zookeeper.authentication import Authentication, Digest, Sasl, Tls
    from kadmin.contexts.secrets import read_secret

    if context is None or context.zookeeper is None:
        return None
    until = time.monotonic() + within_s

    def secret(reference: SecretReference) -> str:
        return read_secret(reference, until - time.monotonic())

    access = context.zookeeper
    sasl, digest, tls = access.sasl, access.digest, access.tls
    return Authentication(
        None if sasl is None else Sasl(sasl.username, secret(sasl.password), sasl.mechanism),
        None if digest is None else Digest(digest.username, secret(digest.password)),
        None
        if tls is None
        else Tls(
            str(tls.ca),
            None if tls.certificate is None else str(tls.certificate),
            None if tls.key is None else str(tls.key),
            None if tls.key_password is None else secret(tls.key_password),
        ),
    )
