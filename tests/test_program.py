"""Whose code a file is."""

from __future__ import annotations

import os
import sys

import pytest

from sleuth import program


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages"])
def test_what_a_library_folder_holds_is_not_the_users(folder: str) -> None:
    assert not program.is_users(os.path.join(os.sep, "usr", "lib", "python3", folder, "torch", "_tensor.py"))


def test_a_program_is_the_users_and_the_standard_library_is_not() -> None:
    assert program.is_users(os.path.join(os.sep, "home", "someone", "train.py"))
    assert not program.is_users(os.__file__)
    assert not program.is_users(sys.modules["sleuth.program"].__file__ or "")
