"""ZooKeeper connect strings: `host:port[,host:port...][/chroot]`, the chroot once, at the end."""

from __future__ import annotations

from dataclasses import dataclass

from kadmin.cluster.addresses import parse_server
from kadmin.cluster.znode_names import require_path
from kadmin.errors import InvalidInputError

_USUAL = "ZooKeeper's usual one is {}:2181"


@dataclass(frozen=True, slots=True)
class ConnectString:
    """Servers of one ensemble as (host, port), and the chroot.

    The chroot is empty, or `/path` without a trailing slash.
    """

    servers: tuple[tuple[str, int], ...]
    chroot: str = ""

    @property
    def hosts(self) -> str:
        """The servers alone, without the chroot."""
        return ",".join(server_name(server) for server in self.servers)

    def __str__(self) -> str:
        return self.hosts + self.chroot


def server_name(server: tuple[str, int]) -> str:
    """Return `host:port`, an IPv6 address in brackets."""
    host, port = server
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_connect_string(given: str) -> ConnectString:
    """Parse a connect string; raises InvalidInputError."""
    if not given:
        raise _invalid(given, "it is empty")
    if any(character.isspace() for character in given):
        raise _invalid(given, "it contains a blank or a line break")
    if "://" in given:
        raise _invalid(given, "it is a URL")
    listed, slash, chroot = given.partition("/")
    if "," in chroot:
        raise _invalid(given, "the chroot comes once, after the last server")
    servers = tuple(_server(given, each) for each in listed.split(","))
    return ConnectString(servers, _chroot(given, slash + chroot))


def _server(given: str, each: str) -> tuple[str, int]:
    if not each:
        raise _invalid(
            given, "a server is missing: between two commas, at an end, or before the chroot"
        )
    try:
        return parse_server(each, _USUAL)
    except ValueError as error:
        raise _invalid(given, str(error)) from error


def _chroot(given: str, path: str) -> str:
    if path in {"", "/"}:
        return ""
    if path.endswith("/"):
        raise _invalid(given, "the chroot ends with a slash")
    try:
        return require_path(path)
    except InvalidInputError as error:
        raise _invalid(given, f"of the chroot: {error.cause}") from error


def _invalid(given: str, cause: str) -> InvalidInputError:
    return InvalidInputError(
        f"Not a ZooKeeper address: {given!r}.",
        cause=cause,
        next_step="write host:port[,host:port...][/chroot]",
    )
