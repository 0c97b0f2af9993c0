"""Globs match as the shell's do, on whole names and with case; a long list of them is compiled
once.
"""

from __future__ import annotations

import fnmatch

from hypothesis import given
from hypothesis import strategies as st

from kadmin import globs as globs_module
from kadmin.globs import matches


@given(st.text("aB.-_*?[!]"), st.text("aB.-_*?[!]"))
def test_a_glob_matches_what_the_standard_library_matches(name: str, pattern: str) -> None:
    assert matches(name, pattern) is fnmatch.fnmatchcase(name, pattern)


def test_a_long_list_of_globs_is_compiled_once() -> None:
    globs = [f"topic-{number}.*" for number in range(600)]
    before = globs_module._compiled.cache_info().misses
    assert [
        glob for name in ("topic-1.a", "topic-9.b") for glob in globs if matches(name, glob)
    ] == [globs[1], globs[9]]
    assert globs_module._compiled.cache_info().misses - before == len(globs)
