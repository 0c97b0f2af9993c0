"""Changes of a plan as text, Markdown and JSON: the answers of `diff`."""
