"""Limited links: a network namespace for each broker, and a token bucket in both directions.

A namespace with a bridge is the switch between the brokers and this machine, whose own link is not
limited. Nothing else of the machine's network is changed. Needs root on Linux, and the commands ip
and tc of iproute2. Sources: ip-netns(8), tc-tbf(8).
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from kadmin.errors import InvalidInputError, NotCompletedError, UsageError
from kadmin.sandbox.processes import COMMAND_S, lacking, require, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_BROKERS = 250
_NETWORKS = 512
"""Networks of 254 hosts in 198.18.0.0/15, the addresses for tests of networks (RFC 2544)."""
_HOST = 254
_DEVICE = "eth0"
_IN_USE = "File exists"
_RATE = re.compile(r"(?P<number>[1-9][0-9]{0,5})(?P<unit>[kMG]?)bit", re.ASCII)
_QUEUE = re.compile(r"(?P<ms>[1-9][0-9]{0,4})ms", re.ASCII)
_BITS = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3}
_SLOWEST_BITS = 1_000_000
_LARGEST_PACKET_BYTES = 66_000
"""A packet that the kernel hands over in one piece (64 KiB); a smaller bucket would cut it up."""
_TICKS = 100
"""A bucket holds the bytes of at least one clock tick of the kernel."""


@dataclass(frozen=True, slots=True)
class Link:
    """The rate of a link in each direction, and how long a byte may wait for it at most."""

    bits_per_s: int
    queue_ms: int

    @classmethod
    def parse(cls, rate: str, queue: str) -> Self:
        """Read `100Mbit` and `300ms`; raises UsageError."""
        found, waits = _RATE.fullmatch(rate), _QUEUE.fullmatch(queue)
        if found is None or (bits := int(found["number"]) * _BITS[found["unit"]]) < _SLOWEST_BITS:
            raise UsageError(f"--link {rate}: write for example 100Mbit, at least 1Mbit.")
        if waits is None:
            raise UsageError(f"--queue {queue}: write for example 300ms.")
        return cls(bits, int(waits["ms"]))

    @property
    def burst_bytes(self) -> int:
        """The bytes that may leave at once."""
        return max(_LARGEST_PACKET_BYTES, self.bits_per_s // 8 // _TICKS)


@dataclass(frozen=True, slots=True)
class Network:
    """The network of one sandbox: 198.18.0.0/24 for number 0, 198.19.255.0/24 for number 511."""

    number: int

    @classmethod
    def claim(cls) -> Self:
        """Make the switch of a network that nobody uses; raises NotCompletedError."""
        first = random.SystemRandom().randrange(_NETWORKS)
        for offset in range(_NETWORKS):
            found = cls((first + offset) % _NETWORKS)
            problem = run(["ip", "netns", "add", found._switch], COMMAND_S)
            if problem is None:
                return found
            if _IN_USE not in problem:
                break
        raise NotCompletedError("Cannot make a network for the sandbox.", cause=problem)

    @property
    def host(self) -> str:
        """The address of this machine, of controllers and of ZooKeeper servers."""
        return self._address(_HOST)

    def host_of(self, broker_id: int) -> str:
        """Return the address of a broker."""
        return self._address(broker_id)

    def inside(self, broker_id: int) -> Sequence[str]:
        """Return the words before a command that runs in the namespace of a broker."""
        return ["ip", "netns", "exec", self._namespace(broker_id)]

    def build(self) -> None:
        """Connect the switch with this machine."""
        switch = self._switch
        _ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        _ip("-n", switch, "link", "set", "bridge", "up")
        _ip("link", "add", switch, "type", "veth", "peer", "name", "host", "netns", switch)
        _ip("-n", switch, "link", "set", "host", "master", "bridge", "up")
        _ip("addr", "add", f"{self.host}/24", "dev", switch)
        _ip("link", "set", switch, "up")

    def add(self, broker_id: int) -> None:
        """Make the namespace of a broker, and connect it with the switch."""
        namespace, port = self._namespace(broker_id), _port(broker_id)
        _ip("netns", "add", namespace)
        _ip("-n", namespace, "link", "set", "lo", "up")
        ends = ("type", "veth", "peer", "name", _DEVICE, "netns", namespace)
        _ip("-n", self._switch, "link", "add", port, *ends)
        _ip("-n", self._switch, "link", "set", port, "master", "bridge", "up")
        _ip("-n", namespace, "addr", "add", f"{self.host_of(broker_id)}/24", "dev", _DEVICE)
        _ip("-n", namespace, "link", "set", _DEVICE, "up")
        # Which algorithm is the machine's differs; every kernel has this one, and it fills queues.
        _require([*self.inside(broker_id), "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno"])

    def limit(self, broker_id: int, link: Link) -> None:
        """Limit what a broker sends, at its own end, and what it receives, at the switch."""
        bucket = ("tbf", "rate", f"{link.bits_per_s}bit", "burst", str(link.burst_bytes))
        for namespace, device in self._ends(broker_id):
            where = ("-n", namespace, "qdisc", "replace", "dev", device, "root")
            _require(["tc", *where, *bucket, "latency", f"{link.queue_ms}ms"])

    def remove_broker(self, broker_id: int) -> None:
        """Remove the namespace of a broker, and with it both ends of its link."""
        run(["ip", "netns", "del", self._namespace(broker_id)], COMMAND_S)

    def remove(self, broker_ids: Iterable[int]) -> None:
        """Remove the namespaces, and with them every device; those that are gone do not matter."""
        for broker_id in broker_ids:
            self.remove_broker(broker_id)
        # The kernel takes the devices of a namespace apart later; this one is the machine's.
        run(["ip", "link", "del", self._switch], COMMAND_S)
        run(["ip", "netns", "del", self._switch], COMMAND_S)

    @property
    def _switch(self) -> str:
        return f"kadmin{self.number}"

    def _namespace(self, broker_id: int) -> str:
        return f"{self._switch}-{broker_id}"

    def _address(self, last: int) -> str:
        return f"198.{18 + self.number // 256}.{self.number % 256}.{last}"

    def _ends(self, broker_id: int) -> tuple[tuple[str, str], tuple[str, str]]:
        return (self._namespace(broker_id), _DEVICE), (self._switch, _port(broker_id))


def require_links(brokers: int) -> None:
    """Raise InvalidInputError where this machine cannot limit the links of so many brokers."""
    if (reason := why_not()) is not None:
        raise InvalidInputError(
            f"Links cannot be limited here: {reason}.", next_step="leave out --link"
        )
    if brokers > MOST_BROKERS:
        raise InvalidInputError(f"At most {MOST_BROKERS} brokers have limited links.")


def why_not() -> str | None:
    """Return the reason that this machine cannot limit links, None where it can."""
    return lacking("ip", "tc", package="iproute2")


def _port(broker_id: int) -> str:
    return f"broker{broker_id}"


def _ip(*words: str) -> None:
    _require(["ip", *words])


def _require(command: Sequence[str]) -> None:
    require(command, "Cannot make the network of the sandbox.")
