"""The same on the other backend, which says nothing of an index out of range."""

from __future__ import annotations

import tempfile
from typing import Any

import pytest

pytest.importorskip("jax")

COLUMN = "dry_keras"
COMMAND = ("dry", "--no-corners")
FRAMEWORK = ("torch._dynamo", "jax", "keras", "sleuth.dry.rehearsal")
# A program and its twin compile to nearly the same: once is enough.
SETTINGS = {
    "KERAS_BACKEND": "jax",
    "JAX_COMPILATION_CACHE_DIR": tempfile.mkdtemp(prefix="sleuth-jax-"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}


def test_the_bug_is_named_with_its_line(bug: Any, run: Any) -> None:
    ran = run(bug.source)
    assert ran.named == [bug.found], ran.stderr
    assert ran.status == 1


def test_the_twin_with_that_line_mended_is_silent(bug: Any, run: Any) -> None:
    ran = run(bug.mended)
    assert (ran.named, ran.status) == ([], 0), ran.stderr
    assert "rehearsed to its end" in ran.stderr


def test_a_healthy_program_is_silent(healthy: Any, run: Any) -> None:
    ran = run(healthy.source)
    assert (ran.named, ran.status) == ([], 0), ran.stderr
    assert "rehearsed to its end" in ran.stderr
