"""TLS of a Kafka client: trusted certificates and its own, from stores in PEM and PKCS12."""

from __future__ import annotations

import secrets
import ssl
from dataclasses import dataclass, field
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
    from cryptography.x509 import Certificate

_JKS = b"\xfe\xed\xfe\xed"
_PEM = b"-----BEGIN "
_PEM_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"


@dataclass(frozen=True, slots=True)
class KeyStore:
    """Certificates, with a private key where it is the client's own.

    Secrets are not part of any repr. `key` is the setting that names it, `path` its file, where it
    is one.
    """

    key: str
    content: bytes = field(repr=False)
    password: str | None = field(repr=False)
    key_password: str | None = field(default=None, repr=False)
    path: Path | None = None


class KeyStoreError(Exception):
    """A store cannot be used: its setting, the problem as a sentence's end, and the next step."""

    def __init__(self, store: KeyStore, problem: str, next_step: str) -> None:
        super().__init__(problem)
        self.key = store.key
        self.problem = problem
        self.next_step = next_step


def client_context(
    trusted: KeyStore | None, own: KeyStore | None, *, check_names: bool
) -> ssl.SSLContext:
    """Return the context of a client.

    Without `trusted` it trusts the certificate authorities of this machine. `check_names` is
    whether a server's certificate must name its host. Raises KeyStoreError.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = check_names
    if trusted is None:
        context.load_default_certs()
    else:
        try:
            context.load_verify_locations(cadata=_certificates(trusted))
        except ssl.SSLError as error:
            raise KeyStoreError(
                trusted, "holds no certificate that can be read", "name a store in PEM or PKCS12"
            ) from error
    if own is not None:
        _load_own(context, own)
    return context


def _certificates(store: KeyStore) -> str:
    if _in_pem(store):
        return store.content.decode("utf-8", "replace")
    from cryptography.hazmat.primitives.serialization import Encoding

    _, chain = _pkcs12(store)
    return "".join(each.public_bytes(Encoding.PEM).decode() for each in chain)


def _load_own(context: ssl.SSLContext, store: KeyStore) -> None:
    """Show a certificate.

    Python takes its key from a file alone, which holds it encrypted and is deleted at once.
    """
    from cryptography.hazmat.primitives import serialization as written

    key: PrivateKeyTypes | None
    if _in_pem(store):
        chain, key = store.content[store.content.find(_PEM_CERTIFICATE) :], _pem_key(store)
    else:
        key, found = _pkcs12(store)
        if key is None:
            raise KeyStoreError(store, "holds no private key", "name a store with the client's key")
        chain = b"".join(each.public_bytes(written.Encoding.PEM) for each in found)
    password = secrets.token_bytes(32)
    with NamedTemporaryFile() as file:
        encryption = written.BestAvailableEncryption(password)
        file.write(
            key.private_bytes(written.Encoding.PEM, written.PrivateFormat.PKCS8, encryption) + chain
        )
        file.flush()
        try:
            context.load_cert_chain(file.name, password=password)
        except ssl.SSLError as error:
            problem = "holds a key and a certificate that do not belong together"
            raise KeyStoreError(
                store, problem, "name a store with the key and its chain of certificates"
            ) from error


def _in_pem(store: KeyStore) -> bool:
    if store.content.startswith(_JKS):
        converted = store.path and store.path.with_suffix(".p12")
        command = (
            f"keytool -importkeystore -srckeystore {store.path} -destkeystore {converted} "
            "-deststoretype PKCS12"
        )
        raise KeyStoreError(store, f"is a JKS store, {store.path}", command)
    return _PEM in store.content


def _pem_key(store: KeyStore) -> PrivateKeyTypes:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    password = store.key_password or store.password
    begin = store.content.find(_PEM)
    blocks = [
        _PEM + each
        for each in store.content[begin:].split(_PEM)
        if b"PRIVATE KEY-----" in each[:40]
    ]
    if not blocks:
        raise KeyStoreError(
            store, "holds no private key", "add the key to the file, before the certificates"
        )
    try:
        return load_pem_private_key(blocks[0], None if password is None else password.encode())
    except (TypeError, ValueError) as error:
        raise KeyStoreError(
            store, "holds a key that its password does not open", "correct ssl.key.password"
        ) from error


def _pkcs12(store: KeyStore) -> tuple[PrivateKeyTypes | None, list[Certificate]]:
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    try:
        found = load_pkcs12(
            store.content, None if store.password is None else store.password.encode()
        )
    except ValueError as error:
        problem = "is no store in PEM or PKCS12, or its password is another one"
        raise KeyStoreError(
            store, problem, f"correct {store.key.replace('location', 'password')}"
        ) from error
    listed = ([found.cert] if found.cert else []) + found.additional_certs
    return found.key, [each.certificate for each in listed]
