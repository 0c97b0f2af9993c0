"""Renderers: values in, text, Markdown, JSON and HTML out.

`plans` shows the changes of a plan, `operations` those of an operation, `pages` both in HTML.
`kinds` alone has the words for reassignments, elections, deletions and recreations. `text` and
`markdown` are building blocks.
"""
