"""YAML and JSON documents in and out, strict; every problem with its line and column."""

from kadmin.documents.check import KINDS, Checked, examine, read, unread
from kadmin.documents.current_context import with_current
from kadmin.documents.dump import dump_json, dump_yaml, plan_digest
from kadmin.documents.kinds import kind_name, to_value
from kadmin.documents.parse import parse_contexts, parse_document, parse_inventory_header, parse_prometheus_names
from kadmin.documents.text import MOST_BYTES, lines_of, printable
from kadmin.documents.together import check_together, in_order, switched

__all__ = [
    "KINDS",
    "MOST_BYTES",
    "Checked",
    "check_together",
    "dump_json",
    "dump_yaml",
    "examine",
    "in_order",
    "kind_name",
    "lines_of",
    "parse_contexts",
    "parse_document",
    "parse_inventory_header",
    "parse_prometheus_names",
    "plan_digest",
    "printable",
    "read",
    "switched",
    "to_value",
    "unread",
    "with_current",
]
