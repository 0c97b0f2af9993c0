"""Shapes of the answers of commands with -o json: frozen dataclasses, from which `schemas/answers` is written."""
