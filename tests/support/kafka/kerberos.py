"""A Kerberos realm: a key distribution centre of MIT on a free loopback port, with its principals
and their keys.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from support.live.waiting import wait_until

from kadmin.sandbox.kraft_mode import listens
from kadmin.sandbox.processes import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REALM = "KADMIN.TEST"
SKEW_S = 3
"""For how long the realm still takes tickets that have ended, by default five minutes."""
_SBIN = "/usr/sbin:/sbin"

_CLIENT = """\
[libdefaults]
  default_realm = {realm}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
  kdc_timeout = 3000
  max_retries = 1
{more}[realms]
  {realm} = {{
    kdc = 127.0.0.1:{port}
  }}
"""
_SERVER = """\
[kdcdefaults]
  kdc_listen = ""
  kdc_tcp_listen = 127.0.0.1:{port}
[realms]
  {realm} = {{
    database_name = {folder}/principals
    key_stash_file = {folder}/stash
    acl_file = {folder}/acl
    max_life = 1h
  }}
[logging]
  kdc = FILE:{folder}/kdc.log
"""


@dataclass(frozen=True, slots=True)
class Realm:
    """A realm whose files are in `folder`; `config` is its krb5.conf."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "krb5.conf"

    @property
    def environment(self) -> dict[str, str]:
        """What programs of Kerberos need to find this realm and no other."""
        path = f"{os.environ.get('PATH', '')}:{_SBIN}"
        profile = {
            "KRB5_CONFIG": str(self.config),
            "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf"),
        }
        return {**os.environ, "PATH": path, **profile}

    def administer(self, *queries: str) -> None:
        """Change the principals, as kadmin.local does."""
        for query in queries:
            self.run("kadmin.local", "-q", query)

    def key(self, principal: str) -> Path:
        """Make a principal, and return a key table with its key alone."""
        keytab = self.keytab(principal)
        self.administer(f"addprinc -randkey {principal}", f"ktadd -k {keytab} {principal}")
        return keytab

    def keytab(self, principal: str) -> Path:
        return self.folder / f"{principal.replace('/', '-')}.keytab"

    def tickets(self, principal: str, seconds: int) -> Path:
        """Return a cache with a ticket of a principal that ends after so many seconds."""
        cache = self.folder / f"{principal}.{seconds}.tickets"
        lifetime = ("-l", f"{seconds}s", "-c", f"FILE:{cache}")
        self.run("kinit", *lifetime, "-k", "-t", str(self.keytab(principal)), principal)
        return cache

    def takes(self, cache: Path, service: str) -> bool:
        """Whether the realm gives a ticket of a service for the ticket in a cache, which is not
        changed.
        """
        copy = shutil.copy(cache, f"{cache}.copy")
        asked = ["kvno", "-q", "-c", f"FILE:{copy}", service]
        return subprocess.run(asked, env=self.environment, check=False, timeout=60).returncode == 0

    def asked_for(self, principal: str) -> int:
        """How often the realm gave a principal a first ticket."""
        log = (self.folder / "kdc.log").read_text(encoding="utf-8")
        return sum(
            "AS_REQ" in line and "ISSUE: " in line and f" {principal}@" in line
            for line in log.splitlines()
        )

    def run(self, *command: str) -> None:
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, (command, done.stdout + done.stderr)
        assert "while" not in done.stderr, (command, done.stderr)


@contextmanager
def realm(folder: Path) -> Iterator[Realm]:
    """Run a realm until the end."""
    folder.mkdir()
    [port] = free_ports(1)
    found = Realm(folder)
    found.config.write_text(_CLIENT.format(realm=REALM, port=port, more=""))
    strict = folder / "strict.conf"
    strict.write_text(_CLIENT.format(realm=REALM, port=port, more=f"  clockskew = {SKEW_S}\n"))
    (folder / "kdc.conf").write_text(_SERVER.format(realm=REALM, port=port, folder=folder))
    found.run("kdb5_util", "create", "-s", "-W", "-P", "master")
    with (folder / "out").open("w") as out:
        process = subprocess.Popen(
            ["krb5kdc", "-n"],
            env={**found.environment, "KRB5_CONFIG": str(strict)},
            stdout=out,
            stderr=out,
        )
    try:
        wait_until(partial(listens, port))
        yield found
    finally:
        process.terminate()
        process.wait(30)
