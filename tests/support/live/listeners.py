"""Sandboxes whose brokers have more listeners than the one in plain text, on which the sandbox
itself looks at them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kadmin.sandbox import Sandbox, kraft_mode, settings
from kadmin.sandbox.processes import free_ports

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kadmin.sandbox import SandboxSpec


def up_with_listeners(
    spec: SandboxSpec, protocols: Mapping[str, str]
) -> tuple[Sandbox, dict[str, list[str]]]:
    """Start a sandbox with listeners of these names and security protocols; returns their
    addresses, by name.
    """
    found: dict[str, list[str]] = {name: [] for name in protocols}
    place = settings.broker_place
    mapped = ",".join(f"{name}:{protocol}" for name, protocol in protocols.items())

    def with_listeners(rack: str, address: str, folder: Path) -> dict[str, str]:
        ports = free_ports(len(protocols))
        for name, free in zip(protocols, ports, strict=True):
            found[name].append(f"127.0.0.1:{free}")
        plain = place(rack, address, folder)
        listeners = ",".join(
            [plain["listeners"], *(f"{name}://{found[name][-1]}" for name in protocols)]
        )
        return {
            **plain,
            "listeners": listeners,
            "advertised.listeners": listeners,
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map": f"CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,{mapped}",
        }

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kraft_mode, "broker_place", with_listeners)
        patch.setattr(settings, "broker_place", with_listeners)
        return Sandbox.up(spec), found
