"""Real ZooKeeper and real Kafka brokers on this machine, without containers."""

from kadmin.sandbox.sandbox import Sandbox
from kadmin.sandbox.spec import SandboxSpec

__all__ = ["Sandbox", "SandboxSpec"]
