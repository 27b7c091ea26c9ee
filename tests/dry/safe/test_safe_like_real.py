# ruff: noqa: SIM115  (the shortest way to open a file is the one people use)
"""Whatever a program does to files, in whatever order: it sees in a rehearsal what it would see without."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NAMES = ("a", "b", "d", "d/a", "d/e", "d/e/a", "link", "link/a", "new", "new/a")
SEQUENCES, LENGTH = 60, 30


def furnish(folder: Path) -> None:
    """Files, folders and links to begin with."""
    (folder / "d" / "e").mkdir(parents=True)
    for name in ("a", "d/a", "d/e/a"):
        (folder / name).write_text(name)
    (folder / "link").symlink_to("d")


def act(random: random.Random) -> Any:
    """Do one thing, and tell what came of it."""
    one, two = random.choice(NAMES), random.choice(NAMES)
    acts: list[Callable[[], Any]] = [
        lambda: open(one).read(),
        lambda: open(one, "w").write("written"),
        lambda: open(one, "a").write("more"),
        lambda: open(one, "x").write("fresh"),
        lambda: open(one, "r+").write("R"),
        lambda: os.mkdir(one),
        lambda: os.makedirs(one, exist_ok=True),
        lambda: os.remove(one),
        lambda: os.rmdir(one),
        lambda: os.rename(one, two),
        lambda: os.replace(one, two),
        lambda: os.symlink(two, one),
        lambda: os.link(one, two),
        lambda: os.readlink(one),
        lambda: os.truncate(one, 2),
        lambda: sorted(os.listdir(one)),
        lambda: sorted((entry.name, entry.is_dir(), entry.is_symlink()) for entry in os.scandir(one)),
        lambda: (os.path.exists(one), os.path.isdir(one), os.path.islink(one), os.path.lexists(one)),
        lambda: os.path.relpath(os.path.realpath(one)),
        lambda: shutil.rmtree(one),
        lambda: shutil.copy(one, two),
        lambda: shutil.move(one, two),
        lambda: shutil.copytree(one, two),
    ]
    number = random.randrange(len(acts))
    try:
        return number, one, two, acts[number]()
    except (OSError, shutil.Error) as error:
        name = error.filename if isinstance(error.filename, str) else None
        return number, one, two, type(error).__name__, error.errno, name


def play(seed: int) -> list[Any]:
    """Many things in a row, in the current folder, and what there is in the end."""
    dice = random.Random(seed)
    told = [act(dice) for _ in range(LENGTH)]
    tree = sorted((root, sorted(folders), sorted(files)) for root, folders, files in os.walk("."))
    texts = [
        (path, open(path).read())
        for root, _, files in tree
        for name in files
        if os.path.isfile(path := f"{root}/{name}")
    ]
    return [*told, tree, texts]


def test_it_sees_what_it_would_see(
    rehearse: Callable[..., Any], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = []
    for seed in range(SEQUENCES):
        furnish(home / str(seed))
        furnish(tmp_path / "really" / str(seed))
        monkeypatch.chdir(tmp_path / "really" / str(seed))
        expected.append(play(seed))
    monkeypatch.undo()
    rehearse(
        f"""
        import importlib.util, os
        spec = importlib.util.spec_from_file_location("like_real", {__file__!r})
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        expected = {expected!r}
        start = os.getcwd()
        for seed, wanted in enumerate(expected):
            os.chdir(os.path.join(start, str(seed)))
            for seen, meant in zip(module.play(seed), wanted):
                assert seen == meant, (seed, seen, meant)
        """
    )
