"""What is put in a library's place looks like what was there, and nothing of it stays."""

from __future__ import annotations

import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from pretending import performed

from sleuth.frameworks.patches import Patches

ROOT = Path(__file__).parents[2]


def _library() -> Any:
    def add(first: int, second: int = 2, *, third: int = 3) -> int:
        """Adds."""
        return first + second + third

    return SimpleNamespace(add=add, plus=add, sub=lambda one, other: one - other)


def test_all_patches_of_dry_and_run_look_like_what_they_stand_for() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "patches.py"), "--bare"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[0]) > 300


def test_a_function_takes_over_name_text_and_signature() -> None:
    library, patches = _library(), Patches()
    original = library.add
    patches.set(library, "add", lambda *args, **kwargs: 0)
    assert library.add(1) == 0
    assert library.add.__wrapped__ is original
    assert (library.add.__name__, library.add.__doc__) == ("add", "Adds.")
    assert inspect.signature(library.add) == inspect.signature(original)
    patches.undo()
    assert library.add is original


def test_one_function_in_two_places_looks_like_each_of_them() -> None:
    library, patches = _library(), Patches()

    def nothing(*args: Any) -> None:
        return None

    patches.set(library, "add", nothing)
    patches.set(library, "sub", nothing)
    assert str(inspect.signature(library.add)) != str(inspect.signature(library.sub))
    assert library.add(1) is library.sub(1, 2) is None


def test_one_function_under_two_names_of_the_same_stays_one() -> None:
    library, patches = _library(), Patches()

    def nothing(*args: Any) -> None:
        return None

    patches.set(library, "add", nothing)
    patches.set(library, "plus", nothing)
    assert library.add is library.plus


def test_what_somebody_else_has_replaced_since_is_left_to_him() -> None:
    library, patches = _library(), Patches()
    patches.set(library, "add", lambda: 0)
    library.add = "his"
    patches.undo()
    assert library.add == "his"


def test_lifted_patches_are_off_for_a_while() -> None:
    library, patches = _library(), Patches()
    original = library.add
    patches.set(library, "add", lambda: 0)
    patches.set(library, "new", 1)
    with patches.lifted():
        assert library.add is original
        assert not hasattr(library, "new")
    assert library.add() == 0
    assert library.new == 1


def test_static_and_class_methods_stay_what_they_are() -> None:
    class Owner:
        @classmethod
        def made(cls, number: int) -> str:
            return f"{cls.__name__} {number}"

        @staticmethod
        def plain(number: int) -> int:
            return number

    patches = Patches()
    patches.set(Owner, "made", classmethod(lambda cls, *args: f"a {cls.__name__}"))
    patches.set(Owner, "plain", staticmethod(lambda *args: 0))
    assert Owner.made(1) == "a Owner"
    assert Owner().plain(1) == 0
    assert list(inspect.signature(Owner.made).parameters) == ["number"]
    assert list(inspect.signature(Owner.plain).parameters) == ["number"]


def test_replaced_functions_can_be_pickled() -> None:
    def act() -> None:
        for function in (torch.cuda.is_available, torch.from_numpy, torch.cuda.synchronize):
            assert pickle.loads(pickle.dumps(function)) is function

    performed(act)


def test_nothing_in_torch_is_ours_after_a_rehearsal() -> None:
    before = {name: vars(torch.cuda)[name] for name in ("is_available", "Stream", "stream", "Event")}
    performed(lambda: None)
    performed(lambda: None, numbers="fake")
    assert {name: vars(torch.cuda)[name] for name in before} == before
    assert os.getcwd() == str(Path.cwd())
