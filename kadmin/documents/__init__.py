"""YAML and JSON documents in and out, strict; every problem with its line and column."""

from kadmin.documents.dump import dump_json, dump_yaml
from kadmin.documents.parse import parse_document

__all__ = ["dump_json", "dump_yaml", "parse_document"]
