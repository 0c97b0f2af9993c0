"""Finds the contexts file, and the contexts in it that match a name or a pattern."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError, UsageError
from kadmin.globs import matches
from kadmin.next_step import command
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.contexts.model import Contexts, NamedContext

CONFIG_VARIABLE = "KADMIN_CONFIG"
_GLOB = frozenset("*?[")


def contexts_path() -> Path:
    """Return the path of the contexts file.

    The variable KADMIN_CONFIG, else in the user's folder for settings.
    """
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    from platformdirs import user_config_path

    return user_config_path("kadmin", appauthor=False) / "contexts.yaml"


def read_contexts() -> Contexts:
    """Read the contexts file.

    Raises InvalidInputError where there is none, or with every problem in it.
    """
    from kadmin.cli.inputs import read_document
    from kadmin.documents.parse import parse_contexts

    path = contexts_path()
    if not path.exists():
        raise InvalidInputError(
            f"There is no contexts file {path}.",
            next_step=(
                f"write it as docs/contexts.md shows, or set {CONFIG_VARIABLE} to another file"
            ),
        )
    return parse_contexts(read_document(path), str(path))


def current_context() -> NamedContext | None:
    """Return the file's current context.

    None where it has none, and where the default file does not exist.
    """
    if not os.environ.get(CONFIG_VARIABLE) and not contexts_path().exists():
        return None
    contexts = read_contexts()
    return None if contexts.current is None else contexts.contexts[contexts.current]


def is_pattern(name: str) -> bool:
    """Whether --context names several contexts: names have no `*`, `?` or `[`."""
    return not _GLOB.isdisjoint(name)


def find_context(name: str) -> NamedContext:
    """Return the context of a name; raises UsageError where there is none."""
    contexts = read_contexts().contexts
    if name not in contexts:
        raise _unknown(f"There is no context {name!a}.", name, contexts)
    return contexts[name]


def matching_contexts(pattern: str) -> tuple[NamedContext, ...]:
    """Return the contexts that a pattern matches, by name.

    Raises UsageError where it matches none.
    """
    contexts = read_contexts().contexts
    found = tuple(contexts[name] for name in sorted(contexts) if matches(name, pattern))
    if not found:
        raise _unknown(f"No context matches {pattern!a}.", pattern, contexts)
    return found


def complete_context(incomplete: str) -> list[tuple[str, str]]:
    """Return the names in the contexts file, each with a description, for shell completion."""
    return [
        (name, context.description or context.address)
        for name, context in sorted(read_contexts().contexts.items())
        if name.startswith(incomplete)
    ]


def _unknown(message: str, name: str, contexts: Iterable[str]) -> UsageError:
    names = sorted(contexts)
    close = difflib.get_close_matches(name, names, n=1)
    listed = (
        f"there are {name_some(names, most=20)}" if names else f"there is none in {contexts_path()}"
    )
    return UsageError(
        message,
        cause=f"did you mean {close[0]}?" if close else listed,
        next_step=command("context list"),
    )
