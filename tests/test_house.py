"""How the code is laid out: one class to a name, no circle of imports, modules and functions of a
readable size.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "kadmin"
MOST_LINES_OF_A_MODULE = 400
MOST_LINES_OF_A_FUNCTION = 50
# Paths and versions of znodes and the client's name: words of the folders named `zookeeper` and of
# the sandbox alone.
ZOOKEEPERS_OWN = re.compile(
    r"/(?:admin|brokers|config|controller|consumers|isr_change_notification|kadmin|cluster)\b"
    r"|zkVersion|kazoo|[cm]zxid"
)


def modules() -> dict[str, Path]:
    """Every module by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@functools.cache
def trees() -> dict[str, ast.Module]:
    """Every module's syntax tree."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def imported(tree: ast.Module) -> set[str]:
    """The modules that a module imports anywhere: for types only and within functions, too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            # `from package import name` depends on the package's own module only where `name` is no
            # module.
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {each if each in MODULES else node.module for each in inner}
    return names & set(MODULES)


def test_a_class_name_belongs_to_one_class() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    circle: list[str] = []
    try:
        TopologicalSorter({module: imported(tree) for module, tree in trees().items()}).prepare()
    except CycleError as error:
        circle = error.args[1]
    assert [f"{importer} imports {module}" for module, importer in pairwise(circle)] == []


def test_modules_are_short() -> None:
    lines = {
        name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()
    }
    assert {
        name: number for name, number in lines.items() if number >= MOST_LINES_OF_A_MODULE
    } == {}


def test_functions_are_short() -> None:
    long = {
        f"{module}.{node.name}": node.end_lineno - node.lineno + 1
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
        if node.end_lineno - node.lineno + 1 > MOST_LINES_OF_A_FUNCTION
    }
    assert long == {}


def test_zookeepers_own_words_stay_in_its_folders() -> None:
    outside = {
        f"{path.relative_to(PACKAGE)}:{number}": line.strip()
        for path in sorted(PACKAGE.rglob("*.py"))
        if not {"zookeeper", "sandbox"} & set(path.relative_to(PACKAGE).with_suffix("").parts)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if ZOOKEEPERS_OWN.search(line)
    }
    assert outside == {}
