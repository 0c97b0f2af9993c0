"""Gives commands a group of options as one parameter."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def group_options(
    command: Callable[..., Any],
    name: str,
    options: Mapping[str, inspect.Parameter],
    build: Callable[[Mapping[str, Any], dict[str, Any]], object],
) -> Callable[..., Any]:
    """Return the command with `options` at the place of its parameter `name`.

    `build` makes the value of that parameter from the values of these options and of the command's
    others; it may fill in values that were not given.
    """
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)

    @functools.wraps(command)
    def with_options(**given: Any) -> Any:  # noqa: ANN401 - whatever the command takes
        taken = {option: given.pop(option) for option in options}
        built = build(taken, given)
        return command(**given, **{name: built})

    parameters: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        if each.name == name:
            parameters += options.values()
        else:
            parameters.append(
                each.replace(annotation=hints[each.name], kind=inspect.Parameter.KEYWORD_ONLY)
            )
    with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options


def option(name: str, annotation: object, default: object = None) -> inspect.Parameter:
    """Return an option that a group can have."""
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )
