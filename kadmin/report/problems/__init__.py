"""Diagnostics of documents, one renderer per format."""
