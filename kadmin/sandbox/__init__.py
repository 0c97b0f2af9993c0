"""Real Kafka clusters on this machine, in ZooKeeper or KRaft mode, without containers."""

from kadmin.sandbox.sandbox import Sandbox
from kadmin.sandbox.spec import SandboxSpec

__all__ = ["Sandbox", "SandboxSpec"]
