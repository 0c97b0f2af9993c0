"""Renderers: values in, text, Markdown, JSON and HTML out.

`plans` shows what a plan would do, `operations` what an operation did, `pages` both in HTML. `kinds` is the only module
that knows how reassignments, elections, deletions and recreations differ. `text` and `markdown` are building blocks.
"""
