"""The same on the other backend, which says nothing of an index out of range."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jax")

COLUMN = "dry_keras"
COMMAND = ("dry", "--no-corners")
FRAMEWORK = ("torch._dynamo", "jax", "keras", "sleuth.dry.rehearsal")
SETTINGS = {"KERAS_BACKEND": "jax"}


def test_the_bug_is_named_with_its_line(bug: Any, run: Any) -> None:
    ran = run(bug.source)
    assert ran.named == [bug.found], ran.stderr
    assert ran.status == 1


def test_the_twin_with_that_line_mended_is_silent(bug: Any, run: Any) -> None:
    # By shapes alone: compiling each would take most of the time.
    ran = run(bug.mended, options=("--numbers", "fake"))
    assert (ran.named, ran.status) == ([], 0), ran.stderr
    assert "rehearsed to its end" in ran.stderr


def test_a_healthy_program_is_silent(healthy: Any, run: Any) -> None:
    ran = run(healthy.source)
    assert (ran.named, ran.status) == ([], 0), ran.stderr
    assert "rehearsed to its end" in ran.stderr
