"""Shapes of what commands answer with -o json: frozen dataclasses, from which `schemas/answers` is written."""
