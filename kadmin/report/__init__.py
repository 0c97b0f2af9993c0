"""Renderers: one per format, values in and text out."""
