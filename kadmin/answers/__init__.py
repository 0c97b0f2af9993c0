"""Shapes of the answers of commands with -o json.

They are frozen dataclasses, from which `schemas/answers` is written.
"""
