"""Rules for documents, alone or against a cluster: a module per kind, one entry point, `check`."""

from kadmin.plan.rules.check import check, check_side_by_side
from kadmin.plan.rules.disk_space import check_disk_space
from kadmin.plan.rules.hours import check_hours
from kadmin.plan.rules.names import other_cluster
from kadmin.plan.rules.reassignment import racks_lost
from kadmin.plan.rules.refusals import refusal, refusals_of, refuses, require
from kadmin.plan.rules.request import RequestScope, check_scope, missing_everywhere
from kadmin.plan.rules.request_patterns import unmatched_patterns
from kadmin.plan.rules.throttle import check_throttle
from kadmin.plan.rules.world import ClusterView

__all__ = [
    "ClusterView",
    "RequestScope",
    "check",
    "check_disk_space",
    "check_hours",
    "check_scope",
    "check_side_by_side",
    "check_throttle",
    "missing_everywhere",
    "other_cluster",
    "racks_lost",
    "refusal",
    "refusals_of",
    "refuses",
    "require",
    "unmatched_patterns",
]
