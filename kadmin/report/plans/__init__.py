"""What a plan would do, as text, Markdown and JSON: the answers of `diff`."""
