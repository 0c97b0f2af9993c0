"""A certificate authority for tests, made with openssl."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LOOPBACK = "IP:127.0.0.1,DNS:localhost"
DAYS = {
    "valid": ("20200101000000Z", "20991231000000Z"),
    "expired": ("20200101000000Z", "20200102000000Z"),
}


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority in a folder."""

    folder: Path

    @classmethod
    def found(cls, folder: Path) -> Authority:
        folder.mkdir()
        (folder / "index.txt").touch()
        (folder / "serial").write_text("01\n")
        made = [
            "-keyout",
            "ca.key",
            "-out",
            "ca.pem",
            "-days",
            "3650",
            "-nodes",
            "-subj",
            f"/CN=ca of {folder.name}",
        ]
        openssl(folder, "req", "-x509", "-newkey", "rsa:2048", *made)
        (folder / "ca.cnf").write_text(
            "[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nnew_certs_dir=.\nserial=serial\n"
            "policy=any\n"
            "default_md=sha256\nunique_subject=no\ncopy_extensions=copy\n[any]\n"
            "commonName=supplied\n"
        )
        return cls(folder)

    @property
    def ca(self) -> str:
        return str(self.folder / "ca.pem")

    def issue(self, name: str, names: str, lifetime: str = "valid") -> Path:
        """Issue a certificate for some names; the file holds key and certificate."""
        asked = ["-keyout", f"{name}.key", "-out", f"{name}.csr", "-nodes", "-subj", f"/CN={name}"]
        openssl(
            self.folder, "req", "-newkey", "rsa:2048", *asked, "-addext", f"subjectAltName={names}"
        )
        since, until = DAYS[lifetime]
        signed = [
            "-in",
            f"{name}.csr",
            "-out",
            f"{name}.crt",
            "-keyfile",
            "ca.key",
            "-cert",
            "ca.pem",
        ]
        openssl(
            self.folder,
            "ca",
            "-batch",
            "-config",
            "ca.cnf",
            "-startdate",
            since,
            "-enddate",
            until,
            *signed,
        )
        both = self.folder / f"{name}.pem"
        both.write_text(
            (self.folder / f"{name}.key").read_text() + certificate_of(self.folder / f"{name}.crt")
        )
        return both


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def certificate_of(file: Path) -> str:
    text = file.read_text()
    return text[text.index("-----BEGIN") :]
