"""Reads the secrets of a context when a command connects; no error shows their value."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from kadmin.cluster.tls import Tls
from kadmin.contexts.credentials import SecretCommand, SecretFile
from kadmin.errors import NotAuthorizedError

if TYPE_CHECKING:
    from kadmin.contexts.credentials import SecretReference, TlsFiles

COMMAND_S = 15.0
"""Timeout of a program that prints a secret."""
_MOST_BYTES = 64 * 1024


def read_secret(reference: SecretReference, within_s: float = COMMAND_S) -> str:
    """Return a secret, without line ends at its end.

    Raises NotAuthorizedError where it cannot be had.
    """
    if isinstance(reference, SecretFile):
        found = _read_file(reference)
    elif isinstance(reference, SecretCommand):
        found = _run(reference, within_s)
    else:
        found = os.environ.get(reference.name, "")
        if not found:
            raise _missing(reference, "it is not set", f"export {reference.name}=...")
    return found


def read_tls(files: TlsFiles, within_s: float) -> Tls:
    """Return TLS files with the password of the key; raises as `read_secret`."""
    certificate, key, password = files.certificate, files.key, files.key_password
    return Tls(
        str(files.ca),
        None if certificate is None else str(certificate),
        None if key is None else str(key),
        None if password is None else read_secret(password, within_s),
    )


def _read_file(reference: SecretFile) -> str:
    try:
        with reference.path.open("rb") as file:
            return _text(reference, file.read(_MOST_BYTES))
    except OSError as error:
        raise _missing(
            reference, error.strerror or "it cannot be read", f"ls -l {reference.path}"
        ) from None


def _run(reference: SecretCommand, within_s: float) -> str:
    """Run a program; its standard error is not shown, for it may have the secret."""
    next_step = f"run it by hand: {reference.program}"
    limit_s = max(0.1, min(within_s, COMMAND_S))
    try:
        done = subprocess.run(  # noqa: S603 - the user's own file names the program
            [reference.program, *reference.arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=reference.folder,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _missing(reference, f"it did not end within {limit_s:g} s", next_step) from None
    except OSError as error:
        raise _missing(reference, error.strerror or "it cannot be run", next_step) from None
    if done.returncode:
        raise _missing(reference, f"it ended with {done.returncode}", next_step)
    return _text(reference, done.stdout)


def _text(reference: SecretReference, data: bytes) -> str:
    try:
        found = data.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise _missing(reference, "it is not UTF-8 text", "write it as UTF-8") from None
    if not found:
        raise _missing(reference, "it is empty", "write the secret there")
    return found


def _missing(reference: SecretReference, cause: str, next_step: str) -> NotAuthorizedError:
    return NotAuthorizedError(
        f"A secret cannot be read: {reference}.", cause=cause, next_step=next_step
    )
